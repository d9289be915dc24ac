"""The requests of Terraform for a table, and the waiters and paginators of boto3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name

from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.wire.operations import OPERATIONS
from tests.engine.database import definitions, index_request, item, table_request
from tests.server.http import Client, sdk_client

AT_ONCE = {"Delay": 0, "MaxAttempts": 1}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    with Engine(s3=tmp_path) as engine, serving(engine) as url:
        client = sdk_client(url)
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
    stream = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
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


#: Of the bulk operations, which are not supported.
UNSUPPORTED = {"bulk_operation_completed", "list_bulk_operations"}


def test_every_waiter_of_boto3_ends(client: Any, tmp_path: Path) -> None:
    client.create_table(**table_request("shop"))
    arn = client.describe_table(TableName="shop")["Table"]["TableArn"]
    client.update_continuous_backups(
        TableName="shop", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    stream = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
    client.enable_kinesis_streaming_destination(TableName="shop", StreamArn=stream)
    client.update_contributor_insights(TableName="shop", ContributorInsightsAction="ENABLE")
    export = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake")
    (tmp_path / "lake/items").mkdir(parents=True)
    (tmp_path / "lake/items/one.json").write_text('{"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}}}')
    begun = client.import_table(
        S3BucketSource={"S3Bucket": "lake", "S3KeyPrefix": "items/"},
        InputFormat="DYNAMODB_JSON",
        TableCreationParameters=table_request("copy"),
    )
    waits: dict[str, dict[str, str]] = {
        "contributor_insights_enabled": {"TableName": "shop"},
        "export_completed": {"ExportArn": export["ExportDescription"]["ExportArn"]},
        "import_completed": {"ImportArn": begun["ImportTableDescription"]["ImportArn"]},
        "kinesis_streaming_destination_active": {"TableName": "shop"},
        "table_exists": {"TableName": "shop"},
        "table_not_exists": {"TableName": "missing"},
    }
    assert waits.keys() | UNSUPPORTED >= set(client.waiter_names)
    for name, request in waits.items():
        client.get_waiter(name).wait(**request, WaiterConfig=AT_ONCE)


def test_every_paginator_of_boto3_reads_all_pages(client: Any) -> None:
    for name in ("one", "two", "three"):
        client.create_table(**table_request(name))
        client.create_backup(TableName=name, BackupName=f"of-{name}")
        client.put_item(TableName="one", Item=item(pk="a", sk=name))
    arn = client.describe_table(TableName="one")["Table"]["TableArn"]
    tags = [{"Key": f"key-{number:02}", "Value": "x"} for number in range(15)]
    client.tag_resource(ResourceArn=arn, Tags=tags)
    condition = {
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "a"}},
    }
    cases: dict[str, tuple[str, dict[str, Any], list[int]]] = {
        "list_backups": ("BackupSummaries", {}, [2, 1]),
        "list_tables": ("TableNames", {}, [2, 1]),
        "list_tags_of_resource": ("Tags", {"ResourceArn": arn}, [15]),
        "query": ("Items", {"TableName": "one", **condition}, [2, 1]),
        "scan": ("Items", {"TableName": "one"}, [2, 1]),
    }
    paginated = [
        xform_name(operation)
        for operation in client.meta.service_model.operation_names
        if client.can_paginate(xform_name(operation))
    ]
    assert cases.keys() | UNSUPPORTED >= set(paginated)
    for name, (member, request, sizes) in cases.items():
        size = {} if name == "list_tags_of_resource" else {"PageSize": 2}  # which has no limit
        pages = client.get_paginator(name).paginate(**request, PaginationConfig=size)
        assert [len(page[member]) for page in pages] == sizes


def test_an_operation_that_is_not_supported_names_itself(client: Any) -> None:
    names = set(client.meta.service_model.operation_names) - OPERATIONS.keys()
    assert names
    with Client(client.meta.endpoint_url) as connection:
        for name in names:
            answer = connection.call(name)
            assert (answer.status, answer.type) == (400, "UnknownOperationException")
            assert answer.json["message"] == (
                f"unknown operation {name!r}. "
                "`tablewright help operations` lists the implemented operations"
            )
