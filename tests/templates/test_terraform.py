from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import TemplateRefused
from tablewright.templates import read_tables

VALUES: dict[str, Any] = {
    "name": "shop",
    "hash_key": "pk",
    "range_key": "sk",
    "billing_mode": "PAY_PER_REQUEST",
    "attribute": [{"name": "pk", "type": "S"}, {"name": "sk", "type": "N"}],
    "global_secondary_index": [
        {
            "name": "old",
            "hash_key": "sk",
            "range_key": "pk",
            "projection_type": "INCLUDE",
            "non_key_attributes": ["b", "a"],
            "key_schema": [],
            "read_capacity": 0,
            "write_capacity": 0,
        },
        {
            "name": "new",
            "key_schema": [
                {"attribute_name": "sk", "key_type": "HASH"},
                {"attribute_name": "pk", "key_type": "RANGE"},
            ],
            "projection_type": "ALL",
            "non_key_attributes": None,
            "warm_throughput": [{"read_units_per_second": 13000, "write_units_per_second": 5000}],
        },
    ],
    "local_secondary_index": [{"name": "local", "range_key": "sk", "projection_type": "KEYS_ONLY"}],
    "stream_enabled": True,
    "stream_view_type": "NEW_IMAGE",
    "ttl": [{"attribute_name": "expires", "enabled": True}],
    "point_in_time_recovery": [{"enabled": True, "recovery_period_in_days": 7}],
    "server_side_encryption": [{"enabled": True, "kms_key_arn": "arn:aws:kms:::key/1"}],
    "table_class": "STANDARD",
    "deletion_protection_enabled": False,
    "tags": {"team": "blue"},
    "tags_all": {"team": "blue", "stage": "test"},
    "on_demand_throughput": [{"max_read_request_units": 100}],
    "replica": [{"region_name": "eu-west-1"}],
}


def write(tmp_path: Path, member: str, values: dict[str, Any], *, nested: bool = False) -> Path:
    resource = {
        "address": "module.db.aws_dynamodb_table.shop" if nested else "aws_dynamodb_table.shop",
        "mode": "managed",
        "type": "aws_dynamodb_table",
        "values": values,
    }
    other = {"address": "aws_s3_bucket.b", "mode": "managed", "type": "aws_s3_bucket"}
    module: dict[str, Any] = {"resources": [other, resource]}
    root = {"child_modules": [module]} if nested else module
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"format_version": "1.2", member: {"root_module": root}}))
    return file


@pytest.mark.parametrize(
    ("member", "nested"), [("planned_values", False), ("values", False), ("values", True)]
)
def test_a_table_becomes_a_request(tmp_path: Path, member: str, nested: bool) -> None:
    (found,) = read_tables(write(tmp_path, member, VALUES, nested=nested))
    assert found.request == {
        "TableName": "shop",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "OnDemandThroughput": {"MaxReadRequestUnits": 100},
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "old",
                "KeySchema": [
                    {"AttributeName": "sk", "KeyType": "HASH"},
                    {"AttributeName": "pk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]},
            },
            {
                "IndexName": "new",
                "KeySchema": [
                    {"AttributeName": "sk", "KeyType": "HASH"},
                    {"AttributeName": "pk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
                "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
            },
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "SSESpecification": {
            "Enabled": True,
            "SSEType": "KMS",
            "KMSMasterKeyId": "arn:aws:kms:::key/1",
        },
        "TableClass": "STANDARD",
        "Tags": [{"Key": "team", "Value": "blue"}, {"Key": "stage", "Value": "test"}],
    }
    assert found.ttl == "expires"
    assert found.recovery == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    assert found.notes == ("replicas in eu-west-1 are ignored",)
    assert found.resource.endswith("aws_dynamodb_table.shop")


def test_provisioned_capacity(tmp_path: Path) -> None:
    values = {
        **{name: VALUES[name] for name in ("name", "hash_key", "attribute")},
        "read_capacity": 5,
        "write_capacity": 6,
        "ttl": [],
    }
    (found,) = read_tables(write(tmp_path, "values", values))
    assert found.request["BillingMode"] == "PROVISIONED"
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
    assert found.request["ProvisionedThroughput"] == units
    assert found.ttl is None
    assert found.recovery is None


def test_a_name_that_is_known_only_after_apply(tmp_path: Path) -> None:
    values = {name: value for name, value in VALUES.items() if name != "name"}
    with pytest.raises(TemplateRefused) as refused:
        read_tables(write(tmp_path, "planned_values", values))
    assert str(refused.value) == (
        f"{tmp_path}/plan.json: aws_dynamodb_table.shop.name: missing; it may be known only after "
        "apply: use `terraform show -json` of the state"
    )
