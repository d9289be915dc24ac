from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tablewright.engine import Engine
from tablewright.errors import TemplateRefused
from tablewright.templates import create_tables, read_tables
from tests import commands
from tests.server.test_stopping import served

SHOP: dict[str, Any] = {
    "TableName": "shop",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
    "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
    "ContributorInsightsSpecification": {"Enabled": True},
    "KinesisStreamSpecification": {"StreamArn": "arn:aws:kinesis:us-east-1:1:stream/changes"},
    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    "Tags": [{"Key": "team", "Value": "blue"}],
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


def write(tmp_path: Path, *tables: dict[str, Any]) -> Path:
    resources = {
        f"Table{number}": {"Type": "AWS::DynamoDB::Table", "Properties": properties}
        for number, properties in enumerate(tables)
    }
    file = tmp_path / "template.json"
    file.write_text(json.dumps({"Resources": resources}))
    return file


def test_missing_tables_are_created_with_their_settings(engine: Engine, tmp_path: Path) -> None:
    (outcome,) = create_tables(engine, read_tables(write(tmp_path, SHOP)))
    assert outcome.is_new
    ttl = engine.call("DescribeTimeToLive", {"TableName": "shop"})["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    insights = engine.call("DescribeContributorInsights", {"TableName": "shop"})
    assert insights["ContributorInsightsStatus"] == "ENABLED"
    kinesis = engine.call("DescribeKinesisStreamingDestination", {"TableName": "shop"})
    assert len(kinesis["KinesisDataStreamDestinations"]) == 1
    backups = engine.call("DescribeContinuousBackups", {"TableName": "shop"})
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
    arn = engine.call("DescribeTable", {"TableName": "shop"})["Table"]["TableArn"]
    tags = engine.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]
    assert tags == [{"Key": "team", "Value": "blue"}]


def test_an_equal_table_has_no_differences(engine: Engine, tmp_path: Path) -> None:
    index = {
        "IndexName": "glob",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]},
    }
    tables = read_tables(write(tmp_path, SHOP | {"GlobalSecondaryIndexes": [index]}))
    create_tables(engine, tables)
    (outcome,) = create_tables(engine, tables)
    assert not outcome.is_new
    assert outcome.differences == ()


def test_an_existing_table_is_kept_and_compared(engine: Engine, tmp_path: Path) -> None:
    create_tables(engine, read_tables(write(tmp_path, SHOP)))
    index = {
        "IndexName": "glob",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
    }
    changed = SHOP | {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        "GlobalSecondaryIndexes": [index],
        "StreamSpecification": {"StreamViewType": "KEYS_ONLY"},
        "DeletionProtectionEnabled": True,
    }
    del changed["TimeToLiveSpecification"]
    before = engine.call("DescribeTable", {"TableName": "shop"})
    (outcome,) = create_tables(engine, read_tables(write(tmp_path, changed)))
    assert outcome.differences == (
        "BillingMode: declared PROVISIONED, found PAY_PER_REQUEST",
        "DeletionProtectionEnabled: declared true, found false",
        "StreamSpecification: declared KEYS_ONLY, found none",
        "TTL: declared disabled, found expires",
        "global index glob: declared pk:S HASH, projection ALL, found none",
        "throughput: declared 5 reads, 6 writes, found none",
        "throughput of glob: declared 1 reads, 2 writes, found none",
    )
    assert engine.call("DescribeTable", {"TableName": "shop"}) == before


def test_a_template_with_a_mistake_creates_nothing(engine: Engine, tmp_path: Path) -> None:
    wrong = SHOP | {"TableName": "other", "BillingMode": "FREE"}
    file = write(tmp_path, SHOP, wrong)
    with pytest.raises(TemplateRefused) as refused:
        create_tables(engine, read_tables(file))
    assert str(refused.value) == (
        f"{file}: Resources.Table1: 1 validation error detected: Value 'FREE' at 'billingMode' "
        "failed to satisfy constraint: Member must satisfy enum value set: "
        "[PROVISIONED, PAY_PER_REQUEST]"
    )
    assert engine.call("ListTables") == {"TableNames": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "missing.json"], "--from missing.json: No such file or directory"),
        (["--from", "x", "--parameter", "x"], "--parameter x: expected NAME=VALUE"),
        (["--parameter", "x=1"], "--parameter needs --from"),
    ],
)
def test_serve_refuses_what_it_cannot_read(arguments: list[str], message: str) -> None:
    done = commands.run("serve", "--port", "0", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_serve_creates_the_tables_of_a_template(tmp_path: Path) -> None:
    file = write(tmp_path, SHOP)
    with served("--from", str(file)) as (_, url):
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        waiter = client.get_waiter("table_exists")
        waiter.wait(TableName="shop", WaiterConfig={"Delay": 0, "MaxAttempts": 1})
        client.close()
