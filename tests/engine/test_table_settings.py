"""Warm and on-demand throughput, encryption, class and protection: stored, described, checked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, definitions, index_request, table_request

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def describe(db: Database, table: str) -> Any:
    return db.call("DescribeTable", {"TableName": table})["Table"]


def warm(read: int | None = None, write: int | None = None) -> Json:
    units = {"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": write}
    return {name: number for name, number in units.items() if number is not None}


def test_warm_throughput_has_a_default(db: Database, table: str) -> None:
    assert describe(db, table)["WarmThroughput"] == warm(12_000, 4_000) | {"Status": "ACTIVE"}
    provisioned = db.table(ProvisionedThroughput=UNITS)
    assert describe(db, provisioned)["WarmThroughput"] == warm(5, 6) | {"Status": "ACTIVE"}


def test_warm_throughput_is_stored_for_a_table_and_its_indexes(db: Database) -> None:
    name = db.new_name()
    request = table_request(name, glob={"glob": ("g:S", "ALL")}, WarmThroughput=warm(20_000))
    request["GlobalSecondaryIndexes"][0]["WarmThroughput"] = warm(write=9_000)
    db.call("CreateTable", request)
    found = describe(db, name)
    assert found["WarmThroughput"] == warm(20_000, 4_000) | {"Status": "ACTIVE"}
    index = found["GlobalSecondaryIndexes"][0]
    assert index["WarmThroughput"] == warm(12_000, 9_000) | {"Status": "ACTIVE"}
    db.call("UpdateTable", {"TableName": name, "WarmThroughput": warm(write=5_000)})
    update = {"IndexName": "glob", "WarmThroughput": warm(13_000)}
    db.call("UpdateTable", {"TableName": name, "GlobalSecondaryIndexUpdates": [{"Update": update}]})
    found = describe(db, name)
    assert found["WarmThroughput"] == warm(20_000, 5_000) | {"Status": "ACTIVE"}
    index = found["GlobalSecondaryIndexes"][0]
    assert index["WarmThroughput"] == warm(13_000, 9_000) | {"Status": "ACTIVE"}


def test_a_new_index_has_warm_throughput(db: Database, table: str) -> None:
    create = index_request("glob", "g:S") | {"WarmThroughput": warm(15_000)}
    db.call(
        "UpdateTable",
        {
            "TableName": table,
            "AttributeDefinitions": definitions("g:S"),
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    index = describe(db, table)["GlobalSecondaryIndexes"][0]
    assert index["WarmThroughput"] == warm(15_000, 4_000) | {"Status": "ACTIVE"}


def test_warm_throughput_is_at_least_the_default_and_is_not_decreased(
    db: Database, table: str
) -> None:
    lower = INVALID + "Requested {}UnitsPerSecond for WarmThroughput for {} is lower than {}"
    db.refuses(
        "CreateTable",
        table_request(db.new_name(), WarmThroughput=warm(100)),
        lower.format("Read", "table", "initial throughput for OnDemand."),
    )
    db.refuses(
        "CreateTable",
        table_request(db.new_name(), ProvisionedThroughput=UNITS, WarmThroughput=warm(9, 5)),
        lower.format("Write", "table", "WriteCapacityUnits of ProvisionedThroughput"),
    )
    db.refuses(
        "UpdateTable",
        {"TableName": table, "WarmThroughput": warm(11_000)},
        lower.format(
            "Read", "table", "current WarmThroughput, decreasing WarmThroughput is not supported"
        ),
    )


def test_maximum_throughput_is_stored_and_removed(db: Database, table: str) -> None:
    limits = {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50}
    db.call("UpdateTable", {"TableName": table, "OnDemandThroughput": limits})
    assert describe(db, table)["OnDemandThroughput"] == limits
    none = {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1}
    db.call("UpdateTable", {"TableName": table, "OnDemandThroughput": none})
    assert describe(db, table)["OnDemandThroughput"] == none


@pytest.mark.parametrize(
    ("key", "arn"),
    [
        (None, "arn:aws:kms:us-east-1:123456789012:alias/aws/dynamodb"),
        ("1234-5", "arn:aws:kms:us-east-1:123456789012:key/1234-5"),
        ("alias/mine", "arn:aws:kms:us-east-1:123456789012:alias/mine"),
        ("arn:aws:kms:eu-west-1:1:key/2", "arn:aws:kms:eu-west-1:1:key/2"),
    ],
)
def test_the_key_of_an_encrypted_table_is_described(
    db: Database, key: str | None, arn: str
) -> None:
    encryption: Json = {"Enabled": True, "SSEType": "KMS"} | (
        {"KMSMasterKeyId": key} if key else {}
    )
    table = db.table(SSESpecification=encryption)
    assert describe(db, table)["SSEDescription"] == {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": arn,
    }
    db.call("UpdateTable", {"TableName": table, "SSESpecification": {"Enabled": False}})
    assert "SSEDescription" not in describe(db, table)


@pytest.mark.parametrize(
    ("encryption", "message"),
    [
        (
            {"Enabled": False, "SSEType": "KMS"},
            "SSEType can not be specified if Enabled is false",
        ),
        (
            {"Enabled": False, "KMSMasterKeyId": "x"},
            "KMSMasterKeyId can not be specified if Enabled is false",
        ),
        (
            {"Enabled": True, "KMSMasterKeyId": "x"},
            "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
        ({"Enabled": True, "SSEType": "AES256"}, "SSEType AES256 is not supported"),
    ],
)
def test_the_members_of_an_encryption_must_fit(
    db: Database, encryption: Json, message: str
) -> None:
    request = table_request(db.new_name(), SSESpecification=encryption)
    db.refuses("CreateTable", request, INVALID + message)


def test_an_encryption_must_change_something(db: Database, table: str) -> None:
    request = {"TableName": table, "SSESpecification": {"Enabled": False}}
    db.refuses("UpdateTable", request, INVALID + "Table is already encrypted by default")
    request["SSESpecification"] = {"Enabled": True}
    db.call("UpdateTable", request)
    db.refuses(
        "UpdateTable",
        request,
        INVALID + "Table is already encrypted with given KMSMasterKeyId. "
        "Use KMSMasterKeyId parameter if you want to change Master Key",
    )


def test_class_and_protection_are_described_and_protection_is_enforced(
    db: Database, table: str
) -> None:
    db.call("UpdateTable", {"TableName": table, "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    answer = db.call("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": True})
    assert answer["TableDescription"]["TableStatus"] == "ACTIVE"
    found = describe(db, table)
    assert found["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert found["DeletionProtectionEnabled"] is True
    db.refuses(
        "DeleteTable",
        {"TableName": table},
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first.",
    )
    db.call("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": False})
    db.call("DeleteTable", {"TableName": table})


@pytest.mark.parametrize(
    ("changes", "alone"),
    [
        (("SSE", "class"), "Server-Side Encryption modification"),
        (("class", "protection"), "TableClass modification"),
        (("protection", "warm"), "DeletionProtection modification"),
        (("warm", "stream"), "WarmThroughput"),
    ],
)
def test_some_changes_must_be_alone(
    db: Database, table: str, changes: tuple[str, ...], alone: str
) -> None:
    members: dict[str, Json] = {
        "SSE": {"SSESpecification": {"Enabled": True}},
        "class": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        "protection": {"DeletionProtectionEnabled": True},
        "warm": {"WarmThroughput": warm(20_000)},
        "stream": {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}},
    }
    request: Json = {"TableName": table}
    for change in changes:
        request |= members[change]
    db.refuses(
        "UpdateTable", request, f"{INVALID}{alone} must be the only operation in the request"
    )
    assert "SSEDescription" not in describe(db, table)
