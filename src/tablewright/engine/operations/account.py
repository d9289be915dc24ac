"""Operations on the account: its limits and endpoints, and global tables, of which there are none.

DynamoDB itself refuses to create the old version of global tables (CreateGlobalTable); replicas of
the current version are a part of UpdateTable, which refuses them, too.
"""

from __future__ import annotations

from typing import Any

from tablewright.engine.step import ReadContext, ReadStep, reads
from tablewright.engine.tables.definition import NO_REPLICAS
from tablewright.errors import GlobalTableNotFoundException, ValidationException
from tablewright.wire.requests import DescribeEndpointsRequest, DescribeLimitsInput
from tablewright.wire.table_settings import (
    CreateGlobalTableInput,
    DescribeGlobalTableInput,
    DescribeGlobalTableSettingsInput,
    DescribeTableReplicaAutoScalingInput,
    ListGlobalTablesInput,
    UpdateGlobalTableInput,
    UpdateGlobalTableSettingsInput,
    UpdateTableReplicaAutoScalingInput,
)

_LIMITS = {
    "AccountMaxReadCapacityUnits": 80_000,
    "AccountMaxWriteCapacityUnits": 80_000,
    "TableMaxReadCapacityUnits": 40_000,
    "TableMaxWriteCapacityUnits": 40_000,
}
#: A server replaces the address by its own.
_ENDPOINT = {"Address": "localhost", "CachePeriodInMinutes": 1440}


def describe_limits(request: DescribeLimitsInput) -> ReadStep:
    return ReadStep(lambda context: _LIMITS)


def describe_endpoints(request: DescribeEndpointsRequest) -> ReadStep:
    return ReadStep(lambda context: {"Endpoints": [_ENDPOINT]})


@reads
def refuse_replicas(
    request: CreateGlobalTableInput
    | UpdateGlobalTableInput
    | DescribeTableReplicaAutoScalingInput
    | UpdateTableReplicaAutoScalingInput,
    context: ReadContext,
) -> Any:
    raise ValidationException(NO_REPLICAS)


@reads
def find_no_global_table(
    request: DescribeGlobalTableInput
    | DescribeGlobalTableSettingsInput
    | UpdateGlobalTableSettingsInput,
    context: ReadContext,
) -> Any:
    raise GlobalTableNotFoundException(
        f"Global table not found: Global table with name: '{request.global_table_name}' "
        "does not exist."
    )


def list_global_tables(request: ListGlobalTablesInput) -> ReadStep:
    return ReadStep(lambda context: {"GlobalTables": []})
