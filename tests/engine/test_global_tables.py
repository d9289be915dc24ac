from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine.tables.definition import NO_REPLICAS, NO_VECTOR_INDEXES
from tests.engine.database import Database, table_request


@pytest.mark.parametrize(
    "change",
    [
        {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
        {"MultiRegionConsistency": "STRONG"},
        {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
    ],
)
def test_replicas_are_refused(db: Database, table: str, change: Any) -> None:
    db.refuses("UpdateTable", {"TableName": table, **change}, NO_REPLICAS)


def test_a_table_is_not_created_as_a_replica(db: Database) -> None:
    source = "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"
    request = table_request(db.new_name(), GlobalTableSourceArn=source)
    db.refuses("CreateTable", request, NO_REPLICAS)


def test_vector_indexes_are_refused(db: Database, table: str) -> None:
    db.refuses("UpdateTable", {"TableName": table, "VectorIndexUpdates": [{}]}, NO_VECTOR_INDEXES)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("CreateGlobalTable", {"GlobalTableName": "shop", "ReplicationGroup": []}),
        ("UpdateGlobalTable", {"GlobalTableName": "shop", "ReplicaUpdates": []}),
        ("DescribeTableReplicaAutoScaling", {"TableName": "shop"}),
        ("UpdateTableReplicaAutoScaling", {"TableName": "shop"}),
    ],
)
def test_operations_on_replicas_say_that_there_are_none(
    db: Database, operation: str, request_: Any
) -> None:
    db.refuses(operation, request_, NO_REPLICAS)


@pytest.mark.parametrize(
    "operation",
    ["DescribeGlobalTable", "DescribeGlobalTableSettings", "UpdateGlobalTableSettings"],
)
def test_no_global_table_is_found(db: Database, operation: str) -> None:
    db.fails(
        operation,
        {"GlobalTableName": "shop"},
        "GlobalTableNotFoundException",
        "Global table not found: Global table with name: 'shop' does not exist.",
    )


def test_the_list_of_global_tables_is_empty(db: Database) -> None:
    assert db.call("ListGlobalTables") == {"GlobalTables": []}
