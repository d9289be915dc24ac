"""The requests by which Terraform creates, reads and deletes a table, and the waiters of boto3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.engine.database import definitions, index_request, table_request

AT_ONCE = {"Delay": 0, "MaxAttempts": 1}


@pytest.fixture
def client() -> Iterator[Any]:
    with Engine() as engine, serving(engine) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        yield client
        client.close()


def test_terraform_creates_reads_changes_and_deletes_a_table(client: Any) -> None:
    """The order, and the members that the provider waits for, are those of its source."""
    client.create_table(
        **table_request(
            "shop",
            glob={"glob": ("g:S", "ALL")},
            SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
            TableClass="STANDARD_INFREQUENT_ACCESS",
            Tags=[{"Key": "team", "Value": "blue"}],
        )
    )
    found = client.describe_table(TableName="shop")["Table"]
    assert found["TableStatus"] == "ACTIVE"
    assert found["WarmThroughput"]["Status"] == "ACTIVE"
    (index,) = found["GlobalSecondaryIndexes"]
    assert (index["IndexStatus"], index["WarmThroughput"]["Status"]) == ("ACTIVE", "ACTIVE")
    assert found["SSEDescription"]["KMSMasterKeyArn"].endswith(":alias/mine")
    assert found["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    ttl = {"AttributeName": "expires", "Enabled": True}
    client.update_time_to_live(TableName="shop", TimeToLiveSpecification=ttl)
    described = client.describe_time_to_live(TableName="shop")["TimeToLiveDescription"]
    assert described["TimeToLiveStatus"] == "ENABLED"
    recovery = {"PointInTimeRecoveryEnabled": True}
    client.update_continuous_backups(TableName="shop", PointInTimeRecoverySpecification=recovery)
    backups = client.describe_continuous_backups(TableName="shop")["ContinuousBackupsDescription"]
    status = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
    assert status == "ENABLED"
    (page,) = client.get_paginator("list_tags_of_resource").paginate(ResourceArn=found["TableArn"])
    assert page["Tags"] == [{"Key": "team", "Value": "blue"}]
    client.update_table(
        TableName="shop",
        AttributeDefinitions=definitions("h:S"),
        GlobalSecondaryIndexUpdates=[{"Create": index_request("other", "h:S")}],
    )
    client.update_table(TableName="shop", SSESpecification={"Enabled": False})
    client.update_table(TableName="shop", DeletionProtectionEnabled=True)
    with pytest.raises(client.exceptions.ClientError, match="protected against deletion"):
        client.delete_table(TableName="shop")
    client.update_table(TableName="shop", DeletionProtectionEnabled=False)
    client.delete_table(TableName="shop")
    client.get_waiter("table_not_exists").wait(TableName="shop", WaiterConfig=AT_ONCE)


def test_settings_with_operations_of_their_own(client: Any) -> None:
    client.create_table(**table_request("shop"))
    client.get_waiter("table_exists").wait(TableName="shop", WaiterConfig=AT_ONCE)
    stream = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
    client.enable_kinesis_streaming_destination(TableName="shop", StreamArn=stream)
    waiter = client.get_waiter("kinesis_streaming_destination_active")
    waiter.wait(TableName="shop", WaiterConfig=AT_ONCE)
    client.update_contributor_insights(TableName="shop", ContributorInsightsAction="ENABLE")
    waiter = client.get_waiter("contributor_insights_enabled")
    waiter.wait(TableName="shop", WaiterConfig=AT_ONCE)
    arn = client.describe_table(TableName="shop")["Table"]["TableArn"]
    with pytest.raises(client.exceptions.PolicyNotFoundException):
        client.get_resource_policy(ResourceArn=arn)
    with pytest.raises(client.exceptions.GlobalTableNotFoundException):
        client.describe_global_table(GlobalTableName="shop")
