"""Descriptions of tables, as CreateTable, DescribeTable, UpdateTable and DeleteTable return them.

The members have DynamoDB's order, and are absent where DynamoDB omits them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar, overload

from tablewright.engine.tables.table import StoredTable
from tablewright.errors import AccessDeniedException
from tablewright.schema import IndexSchema, RestoreOrigin, TableSchema, Throughput, WarmUnits
from tablewright.storage import Tree
from tablewright.table_description import (
    write_keys,
    write_limits,
    write_stream,
    write_types,
    write_units,
)

T = TypeVar("T")
#: Returns the number of rows of a tree and the sum of their sizes.
Count: TypeAlias = Callable[[Tree], tuple[int, int]]

REGION = "us-east-1"
ACCOUNT = "123456789012"
#: The account in the ARNs of files that were created before accounts were stored.
OLD_ACCOUNT = "000000000000"
#: What DynamoDB prepares a new on-demand table or index for: reads and writes per second.
ON_DEMAND_BASELINE = (12_000, 4_000)
_MEMBERS_OF_DELETED = (
    "TableName",
    "TableStatus",
    "ProvisionedThroughput",
    "TableSizeBytes",
    "ItemCount",
    "TableArn",
    "TableId",
    "BillingModeSummary",
    "TableClassSummary",
    "DeletionProtectionEnabled",
)


def reject_other_account(arn: str, account: str = ACCOUNT) -> None:
    """Raise AccessDeniedException if an ARN is that of another account.

    On AWS, a resource policy of the other account could allow the request.
    """
    if arn.split(":", 5)[4:5] != [account]:
        raise AccessDeniedException(
            f"Account {account} is not authorized to access the resource {arn} of another "
            "account, because no resource-based policy allows it"
        )


def table_arn(name: str) -> str:
    return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"


def stream_arn(table: str, label: str) -> str:
    return f"{table_arn(table)}/stream/{label}"


def describe(
    table: StoredTable,
    count: Count,
    *,
    status: str = "ACTIVE",
    index_changes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return a TableDescription; `index_changes` are the statuses of indexes that are changing.

    The response to UpdateTable shows a new index as DynamoDB does while it allocates resources: the
    table is UPDATING, the index CREATING, `Backfilling` false. While items are added to the index,
    the table is ACTIVE, the index CREATING, `Backfilling` true.
    """
    index_changes = index_changes or {}
    schema = table.schema
    items, size = count(table.tree)
    description: dict[str, Any] = {
        "AttributeDefinitions": write_types(dict(sorted(schema.key_types.items()))),
        "TableName": schema.name,
        "KeySchema": write_keys(schema.keys),
        "TableStatus": status,
        "CreationDateTime": round_timestamp(schema.created),
        "ProvisionedThroughput": _describe_throughput(schema.throughput),
        "TableSizeBytes": size,
        "ItemCount": items,
        "TableArn": table_arn(schema.name),
        "TableId": schema.id,
    }
    if schema.billing == "PAY_PER_REQUEST" or schema.billing_changed:
        description["BillingModeSummary"] = {
            "BillingMode": schema.billing,
            "LastUpdateToPayPerRequestDateTime": round_timestamp(schema.billing_changed),
        }
    if schema.on_demand:
        description["OnDemandThroughput"] = write_limits(schema.on_demand)
    for member, indexes in (
        ("LocalSecondaryIndexes", schema.local_indexes),
        ("GlobalSecondaryIndexes", schema.global_indexes),
    ):
        if indexes:
            description[member] = [
                _describe_index(schema, index, count, status, index_changes.get(index.name))
                for index in indexes
            ]
    if schema.stream:
        if schema.stream.enabled:
            description["StreamSpecification"] = write_stream(schema.stream.view)
        description["LatestStreamLabel"] = schema.stream.label
        description["LatestStreamArn"] = stream_arn(schema.name, schema.stream.label)
    if schema.restored:
        description["RestoreSummary"] = _describe_restore(schema.restored, status)
    if schema.encrypted:
        description["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": _key_arn(schema.encryption_key or "alias/aws/dynamodb"),
        }
    if schema.table_class:
        description["TableClassSummary"] = present(
            TableClass=schema.table_class,
            LastUpdateDateTime=round_timestamp(schema.table_class_changed or None),
        )
    description["DeletionProtectionEnabled"] = schema.deletion_protected
    description["WarmThroughput"] = _describe_warm_throughput(
        schema.billing, schema.throughput, schema.warm, status
    )
    return description


def describe_deleted(table: StoredTable, count: Count) -> dict[str, Any]:
    """Return the TableDescription of DeleteTable.

    DynamoDB omits keys, indexes, the time of creation and the stream. The exact set of members is
    not known for certain.
    """
    whole = describe(table, count, status="DELETING")
    return {name: whole[name] for name in _MEMBERS_OF_DELETED if name in whole}


def _key_arn(key: str) -> str:
    """Return the ARN of a KMS key, which may be given as an ARN, an alias or an id."""
    if key.startswith("arn:"):
        return key
    resource = key if key.startswith("alias/") else f"key/{key}"
    return f"arn:aws:kms:{REGION}:{ACCOUNT}:{resource}"


def _describe_restore(origin: RestoreOrigin, status: str) -> dict[str, Any]:
    return present(
        SourceBackupArn=origin.backup_arn,
        SourceTableArn=origin.table_arn,
        RestoreDateTime=round_timestamp(origin.time),
        RestoreInProgress=status == "CREATING",
    )


def stream_label(now: float) -> str:
    """Return a time as the label of a stream, rounded as the time in descriptions is.

    >>> stream_label(1553170405.7629)
    '2019-03-21T12:13:25.763'
    """
    seconds, milliseconds = divmod(round(now * 1000), 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds:03}"


def _describe_index(
    schema: TableSchema, index: IndexSchema, count: Count, status: str, change: str | None
) -> dict[str, Any]:
    is_new = change == "CREATING"
    items, size = (0, 0) if is_new else count(Tree(index.tree))
    if index.building or is_new:
        status = "CREATING"
    projection: dict[str, Any] = {"ProjectionType": index.projection.type}
    if index.projection.include:
        projection["NonKeyAttributes"] = list(index.projection.include)
    description: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": write_keys(index.keys),
        "Projection": projection,
    }
    if index.kind == "global":
        description["IndexStatus"] = change or ("CREATING" if status == "CREATING" else "ACTIVE")
        if index.building or is_new:
            description["Backfilling"] = not is_new
        description["ProvisionedThroughput"] = _describe_throughput(index.throughput)
    description["IndexSizeBytes"] = size
    description["ItemCount"] = items
    description["IndexArn"] = f"{table_arn(schema.name)}/index/{index.name}"
    if index.kind == "global":
        if index.on_demand:
            description["OnDemandThroughput"] = write_limits(index.on_demand)
        description["WarmThroughput"] = _describe_warm_throughput(
            schema.billing, index.throughput, index.warm, status
        )
    return description


def _describe_throughput(throughput: Throughput) -> dict[str, Any]:
    return present(
        LastIncreaseDateTime=round_timestamp(throughput.raised or None),
        LastDecreaseDateTime=round_timestamp(throughput.lowered or None),
        NumberOfDecreasesToday=throughput.decreases_on(time.time()),
        **write_units(throughput),
    )


def effective_warm_throughput(
    billing: str, throughput: Throughput, warm: WarmUnits
) -> tuple[int, int]:
    """Return the reads and writes per second that DynamoDB describes as warm throughput."""
    read, write = throughput.read, throughput.write
    if billing == "PAY_PER_REQUEST":
        read, write = ON_DEMAND_BASELINE
    return max(read, warm.read), max(write, warm.write)


def _describe_warm_throughput(
    billing: str, throughput: Throughput, warm: WarmUnits, status: str
) -> dict[str, Any]:
    read, write = effective_warm_throughput(billing, throughput, warm)
    return {
        "ReadUnitsPerSecond": read,
        "WriteUnitsPerSecond": write,
        "Status": "UPDATING" if status in ("CREATING", "UPDATING") else "ACTIVE",
    }


@overload
def round_timestamp(moment: float) -> float: ...
@overload
def round_timestamp(moment: float | None) -> float | None: ...
def round_timestamp(moment: float | None) -> float | None:
    """Round a timestamp to milliseconds, as DynamoDB does."""
    return None if moment is None else round(moment, 3)


def present(**members: Any) -> dict[str, Any]:
    """Return the members that have a value; DynamoDB leaves out the others."""
    return {name: value for name, value in members.items() if value is not None}


def take_page(
    found: Sequence[T], limit: int, **token: Callable[[T], Any]
) -> tuple[Sequence[T], dict[str, Any]]:
    """Return the first entries, and a member with the token of the last one if there are more."""
    if len(found) <= limit:
        return found, {}
    return found[:limit], {name: read(found[limit - 1]) for name, read in token.items()}
