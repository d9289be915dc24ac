"""Key schemas and attribute definitions."""

from __future__ import annotations

import pytest

from tests.engine.create_table.parameters import INVALID, glob, key
from tests.engine.database import Database, Json, Refused, definitions, key_schema, table_request


@pytest.mark.parametrize("type_", ["S", "N", "B"])
def test_keys_of_every_type(db: Database, type_: str) -> None:
    name = db.new_name()
    db.call("CreateTable", table_request(name, f"pk:{type_} / sk:{type_}"))
    described = db.call("DescribeTable", {"TableName": name})["Table"]
    assert described["AttributeDefinitions"] == definitions(f"pk:{type_} sk:{type_}")


@pytest.mark.parametrize(
    ("keys", "defined", "message"),
    [
        pytest.param(
            [key("pk", "HASH")],
            "pk:S x:S",
            INVALID + "Number of attributes in KeySchema does not exactly match number of "
            "attributes defined in AttributeDefinitions",
            id="a definition that is not used",
        ),
        pytest.param(
            [key("pk", "HASH"), key("sk", "RANGE")],
            "pk:S",
            "Invalid KeySchema: Some index key attribute have no definition",
            id="a sort key that is not defined",
        ),
        pytest.param(
            [key("pk", "HASH")],
            "x:S",
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [pk], AttributeDefinitions: [x]",
            id="a partition key that is not defined",
        ),
        pytest.param(
            [key("pk", "HASH"), key("pk", "RANGE")],
            "pk:S sk:S",
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
            id="the same name twice",
        ),
        pytest.param(
            [key("pk", "RANGE")],
            "pk:S",
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
            id="no HASH",
        ),
        pytest.param(
            [key("sk", "RANGE"), key("pk", "HASH")],
            "pk:S sk:S",
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
            id="the wrong way round",
        ),
        pytest.param(
            [key("pk", "HASH"), key("sk", "HASH")],
            "pk:S sk:S",
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
            id="two HASH",
        ),
        pytest.param(
            [key("pk", "HASH")],
            "pk:S pk:N",
            "Attribute Name is duplicated: pk",
            id="two types",
        ),
        pytest.param(
            [key("pk", "HASH"), key("pk", "RANGE")],
            "pk:S",
            "Invalid KeySchema: Some index key attribute have no definition",
            id="one attribute as both keys",
        ),
        pytest.param(
            [key("pk", "HASH"), key("sk", "RANGE"), key("x", "RANGE")],
            "pk:S sk:S x:S",
            "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, "
            "keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), "
            "KeySchemaElement(attributeName=x, keyType=RANGE)]' at 'keySchema' failed to satisfy "
            "constraint: Member must have length less than or equal to 2",
            id="three",
        ),
        pytest.param(
            [],
            "pk:S",
            "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
            id="none",
        ),
        pytest.param(
            [key("pk", "SORT")],
            "pk:S",
            "1 validation error detected: Value 'SORT' at 'keySchema.1.member.keyType' failed to "
            "satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
            id="an unknown kind",
        ),
        pytest.param(
            [key("pk", "HASH")],
            "pk:SS",
            "1 validation error detected: Value 'SS' at "
            "'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [B, N, S]",
            id="a type that is no key's",
        ),
    ],
)
def test_wrong_keys(db: Database, keys: list[Json], defined: str, message: str) -> None:
    name = db.new_name()
    request = table_request(name) | {
        "KeySchema": keys,
        "AttributeDefinitions": definitions(defined),
    }
    db.refuses("CreateTable", request, message)
    assert name not in db.call("ListTables")["TableNames"]


# -- keys of several attributes --------------------------------------------------------------------


@pytest.mark.parametrize(
    "keys", ["a:S b:N / c:B", "a:S / b:S c:S", "a:S b:S c:S d:S / e:S f:S g:S h:S"]
)
def test_a_global_index_may_have_keys_of_several_attributes(db: Database, keys: str) -> None:
    request = table_request(db.new_name(), glob={"glob": (keys, "ALL")})
    (index,) = db.call("CreateTable", request)["TableDescription"]["GlobalSecondaryIndexes"]
    assert index["KeySchema"] == key_schema(keys)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        pytest.param(
            [key("a", "HASH"), key("b", "RANGE"), key("c", "HASH")],
            "Invalid KeySchema: All HASH key attributes must precede RANGE key attributes in the "
            "KeySchema",
            id="HASH after RANGE",
        ),
        pytest.param(
            [key(name, "HASH") for name in "abcde"],
            "Invalid KeySchema: The KeySchema exceeds the maximum allowed number of HASH key "
            "attributes",
            id="five HASH",
        ),
        pytest.param(
            [key("a", "HASH"), *(key(name, "RANGE") for name in "bcdef")],
            "Invalid KeySchema: The KeySchema exceeds the maximum allowed number of RANGE key "
            "attributes",
            id="five RANGE",
        ),
    ],
)
def test_wrong_keys_of_several_attributes(db: Database, keys: list[Json], message: str) -> None:
    used = " ".join(f"{one['AttributeName']}:S" for one in keys)
    request = table_request(db.new_name(), GlobalSecondaryIndexes=[glob(KeySchema=keys)])
    request["AttributeDefinitions"] = definitions("pk:S sk:S", used)
    db.refuses("CreateTable", request, message)


def test_a_local_index_has_one_of_each(db: Database) -> None:
    request = table_request(db.new_name(), local={"local": ("pk:S / a:S b:S", "ALL")})
    with pytest.raises(Refused, match=r"ValidationException.*[kK]eySchema"):
        db.call("CreateTable", request)
