from __future__ import annotations

import re
from typing import Any

import pytest

from tests.engine.database import (
    Database,
    Json,
    Refused,
    definitions,
    index_request,
    item,
    key_schema,
    table_request,
)

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def test_the_answer_describes_a_table_that_is_being_made(db: Database) -> None:
    name = db.new_name()
    described = db.call("CreateTable", table_request(name))["TableDescription"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", described.pop("TableId"))
    assert described.pop("CreationDateTime") > 1_700_000_000
    described.pop("WarmThroughput")
    assert described.pop("BillingModeSummary")["BillingMode"] == "PAY_PER_REQUEST"
    assert described == {
        "AttributeDefinitions": definitions("pk:S / sk:S"),
        "TableName": name,
        "KeySchema": key_schema("pk:S / sk:S"),
        "TableStatus": "CREATING",
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 0,
            "WriteCapacityUnits": 0,
        },
        "TableSizeBytes": 0,
        "ItemCount": 0,
        "TableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}",
        "DeletionProtectionEnabled": False,
    }


def test_a_table_is_ready_at_once(db: Database) -> None:
    name = db.new_name()
    db.call("CreateTable", table_request(name))
    assert db.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE"
    db.call("PutItem", {"TableName": name, "Item": item(pk="a", sk="1")})
    assert db.items(name) == [item(pk="a", sk="1")]


@pytest.mark.parametrize("type_", ["S", "N", "B"])
def test_keys_of_every_type(db: Database, type_: str) -> None:
    name = db.new_name()
    db.call("CreateTable", table_request(name, f"pk:{type_} / sk:{type_}"))
    described = db.call("DescribeTable", {"TableName": name})["Table"]
    assert described["AttributeDefinitions"] == definitions(f"pk:{type_} sk:{type_}")


def test_provisioned_throughput_is_the_default(db: Database) -> None:
    request = table_request(db.new_name(), ProvisionedThroughput=UNITS)
    described = db.call("CreateTable", request)["TableDescription"]
    assert described["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    assert "BillingModeSummary" not in described


def test_indexes_are_described(db: Database) -> None:
    name = db.new_name()
    request = table_request(
        name,
        local={"local": ("pk:S / l:N", "KEYS_ONLY")},
        glob={"glob": ("g:S / h:B", ["x", "y"])},
    )
    described = db.call("CreateTable", request)["TableDescription"]
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}/index"
    assert described["LocalSecondaryIndexes"] == [
        {
            **index_request("local", "pk:S / l:N", "KEYS_ONLY"),
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexArn": f"{arn}/local",
        }
    ]
    (index,) = described["GlobalSecondaryIndexes"]
    index.pop("WarmThroughput")
    index.pop("ProvisionedThroughput")
    assert index == {
        **index_request("glob", "g:S / h:B", ["x", "y"]),
        "IndexStatus": "CREATING",
        "IndexSizeBytes": 0,
        "ItemCount": 0,
        "IndexArn": f"{arn}/glob",
    }


def test_an_index_has_its_own_throughput(db: Database) -> None:
    request = table_request(
        db.new_name(), glob={"glob": ("g:S", "ALL")}, ProvisionedThroughput=UNITS
    )
    request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] = UNITS
    (index,) = db.call("CreateTable", request)["TableDescription"]["GlobalSecondaryIndexes"]
    assert index["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}


@pytest.mark.parametrize(
    ("member", "given", "described"),
    [
        ("DeletionProtectionEnabled", True, {"DeletionProtectionEnabled": True}),
        (
            "StreamSpecification",
            {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}},
        ),
        (
            "TableClass",
            "STANDARD_INFREQUENT_ACCESS",
            {"TableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"}},
        ),
        (
            "OnDemandThroughput",
            {"MaxReadRequestUnits": 7},
            {"OnDemandThroughput": {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": -1}},
        ),
    ],
)
def test_settings_are_described(db: Database, member: str, given: Any, described: Json) -> None:
    request = table_request(db.new_name(), **{member: given})
    found = db.call("CreateTable", request)["TableDescription"]
    assert {name: found[name] for name in described} == described


def test_a_stream_has_a_label_and_an_arn(db: Database) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    request = table_request(db.new_name(), StreamSpecification=stream)
    described = db.call("CreateTable", request)["TableDescription"]
    label = described["LatestStreamLabel"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", label)
    assert described["LatestStreamArn"] == f"{described['TableArn']}/stream/{label}"


def test_a_stream_that_is_off_is_none(db: Database) -> None:
    request = table_request(db.new_name(), StreamSpecification={"StreamEnabled": False})
    assert "StreamSpecification" not in db.call("CreateTable", request)["TableDescription"]


def test_encryption_is_described(db: Database) -> None:
    request = table_request(db.new_name(), SSESpecification={"Enabled": True, "SSEType": "KMS"})
    described = db.call("CreateTable", request)["TableDescription"]
    assert described["SSEDescription"]["Status"] == "ENABLED"


def test_tags_are_kept(db: Database) -> None:
    tags = [{"Key": "team", "Value": "shop"}]
    request = table_request(db.new_name(), Tags=tags)
    arn = db.call("CreateTable", request)["TableDescription"]["TableArn"]
    assert db.call("ListTagsOfResource", {"ResourceArn": arn}) == {"Tags": tags}


def test_a_table_is_made_once(db: Database, table: str) -> None:
    db.put(table, item(pk="a", sk="1"))
    message = f"Table already exists: {table}"
    db.fails("CreateTable", table_request(table), "ResourceInUseException", message)
    assert db.items(table) == [item(pk="a", sk="1")]


def test_a_wrong_request_for_a_table_that_exists_is_a_wrong_request(
    db: Database, table: str
) -> None:
    request = table_request(table) | {"AttributeDefinitions": definitions("pk:S")}
    message = "Invalid KeySchema: Some index key attribute have no definition"
    db.refuses("CreateTable", request, message)


def key(name: str, kind: str) -> Json:
    return {"AttributeName": name, "KeyType": kind}


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
            "Cannot have two attributes with the same name",
            id="two types",
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="on demand with throughput",
        ),
        pytest.param(
            {"BillingMode": "PROVISIONED"},
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
            id="provisioned without throughput",
        ),
        pytest.param(
            {"BillingMode": None},
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
            id="by default without throughput",
        ),
        pytest.param(
            {"BillingMode": "FREE"},
            "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy "
            "constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
            id="unknown billing",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"ReadCapacityUnits": 10**13},
            },
            "Given value 10000000000000 for ReadCapacityUnits is out of bounds",
            id="too much to read",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"WriteCapacityUnits": 10**13},
            },
            "Given value 10000000000000 for WriteCapacityUnits is out of bounds",
            id="too much to write",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"ReadCapacityUnits": 0},
            },
            "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' "
            "failed to satisfy constraint: Member must have value greater than or equal to 1",
            id="nothing to read",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS,
                "OnDemandThroughput": {"MaxReadRequestUnits": 1},
            },
            INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
            id="on-demand limits on a provisioned table",
        ),
        pytest.param(
            {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
            INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside "
            "of valid range",
            id="on-demand limit of nothing",
        ),
        pytest.param(
            {"LocalSecondaryIndexes": []},
            INVALID + "List of LocalSecondaryIndexes is empty",
            id="no local indexes",
        ),
        pytest.param(
            {"GlobalSecondaryIndexes": []},
            INVALID + "List of GlobalSecondaryIndexes is empty",
            id="no global indexes",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}},
            INVALID + "Table is being created with a stream disabled, UpdateViewType should not be "
            "specified",
            id="a view of no stream",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": True}},
            "Invalid StreamViewType: Stream ViewType must not be null or empty when enabling "
            "streams.",
            id="a stream without a view",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "ALL"}},
            "1 validation error detected: Value 'ALL' at 'streamSpecification.streamViewType' "
            "failed to satisfy constraint: Member must satisfy enum value set: "
            "[NEW_AND_OLD_IMAGES, OLD_IMAGE, KEYS_ONLY, NEW_IMAGE]",
            id="an unknown view",
        ),
        pytest.param(
            {"TableClass": "BEST"},
            "1 validation error detected: Value 'BEST' at 'tableClass' failed to satisfy "
            "constraint: Member must satisfy enum value set: "
            "[STANDARD, STANDARD_INFREQUENT_ACCESS]",
            id="an unknown class",
        ),
    ],
)
def test_wrong_settings(db: Database, change: Json, message: str) -> None:
    request = table_request(db.new_name()) | change
    if request["BillingMode"] is None:
        del request["BillingMode"]
    db.refuses("CreateTable", request, message)


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


def glob(name: str = "glob", keys: str = "g:S", **change: Any) -> Json:
    return index_request(name, keys) | change


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


# -- keys of several attributes


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


# -- names


@pytest.mark.parametrize("name", ["abc", "a.b-c_D9", "x" * 255])
def test_good_names(db: Database, name: str) -> None:
    created = db.call("CreateTable", table_request(name))["TableDescription"]
    assert created["TableName"] == name
    db.call("DeleteTable", {"TableName": name})


def test_a_name_of_wrong_characters_is_refused(db: Database) -> None:
    db.refuses(
        "CreateTable",
        table_request("a b c"),
        "1 validation error detected: Value 'a b c' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    )


@pytest.mark.parametrize("name", ["", "ab", "x" * 256], ids=["empty", "short", "long"])
def test_a_name_of_wrong_length_is_refused(db: Database, name: str) -> None:
    db.refuses(
        "CreateTable",
        table_request(name),
        "TableName must be at least 3 characters long and at most 255 characters long",
    )


def test_a_table_needs_a_name(db: Database) -> None:
    request = table_request("")
    del request["TableName"]
    message = "The parameter 'TableName' is required but was not present in the request"
    db.refuses("CreateTable", request, message, raw=True)


# -- the order of checks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"BillingMode": "FREE", "ProvisionedThroughput": UNITS, "KeySchema": []},
            "2 validation errors detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1; Value 'FREE' at 'billingMode' "
            "failed to satisfy constraint: Member must satisfy enum value set: "
            "[PROVISIONED, PAY_PER_REQUEST]",
            id="what the model demands, all of it",
        ),
        pytest.param(
            {"ProvisionedThroughput": UNITS, "AttributeDefinitions": definitions("x:S")},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="billing before keys",
        ),
        pytest.param(
            {"AttributeDefinitions": definitions("pk:S"), "LocalSecondaryIndexes": []},
            "Invalid KeySchema: Some index key attribute have no definition",
            id="keys before indexes",
        ),
        pytest.param(
            {"LocalSecondaryIndexes": [], "GlobalSecondaryIndexes": []},
            INVALID + "List of LocalSecondaryIndexes is empty",
            id="local before global indexes",
        ),
    ],
)
def test_of_two_mistakes_the_first_is_told(db: Database, change: Json, message: str) -> None:
    db.refuses("CreateTable", table_request(db.new_name()) | change, message)


@pytest.mark.parametrize("count", [50, 51])
def test_a_table_has_at_most_fifty_tags(db: Database, count: int) -> None:
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(count)]
    request = table_request(db.new_name(), Tags=tags)
    if count == 50:
        db.call("CreateTable", request)
    else:
        message = "Too many Tags: 51, a resource has at most 50"
        db.refuses("CreateTable", request, INVALID + message)
    assert (request["TableName"] in db.call("ListTables")["TableNames"]) == (count == 50)
