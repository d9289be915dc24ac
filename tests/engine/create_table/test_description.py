"""The response of CreateTable describes the new table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.engine.create_table.parameters import UNITS
from tests.engine.database import (
    Database,
    Json,
    definitions,
    index_request,
    item,
    key_schema,
    table_request,
)


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
        "TableArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}",
        "DeletionProtectionEnabled": False,
    }


def test_a_table_is_ready_at_once(db: Database) -> None:
    name = db.new_name()
    db.call("CreateTable", table_request(name))
    assert db.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE"
    db.call("PutItem", {"TableName": name, "Item": item(pk="a", sk="1")})
    assert db.items(name) == [item(pk="a", sk="1")]


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
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}/index"
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
