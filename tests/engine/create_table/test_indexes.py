"""Local and global indexes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.create_table.parameters import INVALID, UNITS, glob, key
from tests.engine.database import Database, Json, Refused, definitions, index_request, table_request


def local(name: str = "local", keys: str = "pk:S / l:S", projection: Any = "ALL") -> Json:
    return index_request(name, keys, projection)


@pytest.mark.parametrize(
    ("table_keys", "defined", "indexes", "message"),
    [
        pytest.param(
            "pk:S",
            "pk:S l:S",
            [local()],
            INVALID + "Table KeySchema does not have a range key, which is required when "
            "specifying a LocalSecondaryIndex",
            id="a table without sort key",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S l:S",
            [local(keys="pk:S")],
            INVALID + "Index KeySchema does not have a range key for index: local",
            id="no sort key",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S l:S",
            [local(keys="sk:S / l:S")],
            INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema "
            "for index: local. index hash key: sk, table hash key: pk",
            id="another partition key",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S",
            [local()],
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [pk, l], AttributeDefinitions: [pk, sk]",
            id="a key that is not defined",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S l:S",
            [local(), local()],
            INVALID + "Duplicate index name: local",
            id="the same name twice",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S l:S",
            [local(name=f"local{number}") for number in range(6)],
            INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
            id="six",
        ),
        pytest.param(
            "pk:S / sk:S",
            "pk:S sk:S l:S x:S",
            [local()],
            INVALID + "Some AttributeDefinitions are not used. "
            "AttributeDefinitions: [pk, sk, l, x], keys used: [l, pk, sk]",
            id="a definition that is not used",
        ),
    ],
)
def test_wrong_local_indexes(
    db: Database, table_keys: str, defined: str, indexes: list[Json], message: str
) -> None:
    request = table_request(db.new_name(), table_keys, LocalSecondaryIndexes=indexes)
    db.refuses("CreateTable", request | {"AttributeDefinitions": definitions(defined)}, message)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        pytest.param(
            glob(keys="nope:S"),
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [nope], AttributeDefinitions: [pk, sk, g]",
            id="a key that is not defined",
        ),
        pytest.param(
            glob(KeySchema=[key("g", "HASH"), key("g", "RANGE")]),
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
            id="the same name twice",
        ),
        pytest.param(
            glob(KeySchema=[key("g", "RANGE")]),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
            id="no HASH",
        ),
        pytest.param(
            glob(Projection={}), INVALID + "Unknown ProjectionType: null", id="no projection"
        ),
        pytest.param(
            glob(Projection={"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}),
            INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
            id="ALL with attributes",
        ),
        pytest.param(
            glob(Projection={"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["x"]}),
            INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
            id="KEYS_ONLY with attributes",
        ),
        pytest.param(
            glob(Projection={"ProjectionType": "INCLUDE"}),
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
            id="INCLUDE without attributes",
        ),
        pytest.param(
            glob(Projection={"ProjectionType": "SOME"}),
            "1 validation error detected: Value 'SOME' at "
            "'globalSecondaryIndexes.1.member.projection.projectionType' failed to satisfy "
            "constraint: Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]",
            id="an unknown projection",
        ),
        pytest.param(
            glob(ProvisionedThroughput=UNITS),
            INVALID + "ProvisionedThroughput should not be specified for index: glob when "
            "BillingMode is PAY_PER_REQUEST",
            id="throughput on demand",
        ),
        pytest.param(
            glob(name="g/x"),
            "1 validation error detected: Value 'g/x' at "
            "'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
            id="a wrong name",
        ),
        pytest.param(
            glob(name="gg"),
            "1 validation error detected: Value 'gg' at "
            "'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3",
            id="a short name",
        ),
    ],
)
def test_wrong_global_indexes(db: Database, index: Json, message: str) -> None:
    request = table_request(db.new_name(), GlobalSecondaryIndexes=[index])
    request["AttributeDefinitions"] = definitions("pk:S sk:S g:S")
    db.refuses("CreateTable", request, message)


def test_an_index_of_a_provisioned_table_needs_throughput(db: Database) -> None:
    request = table_request(
        db.new_name(), glob={"glob": ("g:S", "ALL")}, ProvisionedThroughput=UNITS
    )
    message = INVALID + "ProvisionedThroughput is not specified for index: glob"
    db.refuses("CreateTable", request, message)


def test_twenty_global_indexes_are_allowed(db: Database) -> None:
    request = table_request(
        db.new_name(), glob={f"glob{number}": ("g:S", "ALL") for number in range(20)}
    )
    described = db.call("CreateTable", request)["TableDescription"]
    assert len(described["GlobalSecondaryIndexes"]) == 20


def test_more_global_indexes_are_refused(db: Database) -> None:
    request = table_request(
        db.new_name(), glob={f"glob{number}": ("g:S", "ALL") for number in range(21)}
    )
    message = INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
    db.refuses("CreateTable", request, message)


def test_indexes_include_a_hundred_attributes_together(db: Database) -> None:
    names = [f"a{number}" for number in range(20)]
    indexes: dict[str, Any] = {f"glob{number}": ("g:S", names) for number in range(6)}
    with pytest.raises(Refused, match="ValidationException"):
        db.call("CreateTable", table_request(db.new_name(), glob=indexes))
    del indexes["glob0"]
    db.call("CreateTable", table_request(db.new_name(), glob=indexes))


def test_local_and_global_indexes_have_different_names(db: Database) -> None:
    request = table_request(
        db.new_name(), local={"same": ("pk:S / l:S", "ALL")}, glob={"same": ("g:S", "ALL")}
    )
    db.refuses("CreateTable", request, INVALID + "Duplicate index name: same")
