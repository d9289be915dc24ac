"""RestoreTableFromBackup and RestoreTableToPointInTime: create a table from an earlier state.

The table can be used when the call returns. The response has the status CREATING, as in DynamoDB;
the next DescribeTable returns ACTIVE.

As on AWS, keys, indexes, billing, throughput, table class and encryption are restored, unless the
request overrides them; the stream, TTL, tags, deletion protection and point-in-time recovery are
not. An override of indexes may leave out indexes and change their throughput, but not add or change
one. AWS's message for an index that differs is not known for certain.

Order of checks, as far as it is known: the request; the source; the target; the time; the
overrides.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from tablewright.engine.archives.backups import BACKUPS, require_no_building_index, restore_backup
from tablewright.engine.change_log.recovery import restorable_times, restore_to_time
from tablewright.engine.step import WriteContext, WriteStep, name_in_arn
from tablewright.engine.tables import definition
from tablewright.engine.tables.definition import check_encryption
from tablewright.engine.tables.describe import describe, table_arn
from tablewright.errors import InvalidRestoreTimeException, TableAlreadyExistsException, invalid
from tablewright.schema import IndexSchema, OnDemand, RestoreOrigin, TableSchema, Throughput
from tablewright.wire.archives import (
    RestoreInput,
    RestoreTableFromBackupInput,
    RestoreTableToPointInTimeInput,
)
from tablewright.wire.requests import GlobalSecondaryIndex, LocalSecondaryIndex


def restore_table_from_backup(request: RestoreTableFromBackupInput) -> WriteStep:
    _check_overrides(request)

    def run(context: WriteContext) -> dict[str, Any]:
        backup = BACKUPS.require(context.tx, request.backup_arn)
        _require_new_table(context, request.target_name)
        origin = RestoreOrigin(table_arn(backup.table.name), time.time(), backup.arn)
        schema = _build_schema(request, backup.table, origin)
        restore_backup(context.catalog, context.tx, backup, schema)
        return _describe_restored(context, schema.name)

    return WriteStep(run)


def restore_table_to_point_in_time(request: RestoreTableToPointInTimeInput) -> WriteStep:
    source_name = request.source_name or (request.source_arn and name_in_arn(request.source_arn))
    # AWS's messages are not known for certain.
    if source_name is None or (request.source_name and request.source_arn):
        raise invalid("Exactly one of SourceTableName and SourceTableArn must be specified")
    if bool(request.use_latest_time) == (request.restore_time is not None):
        raise invalid(
            "Exactly one of UseLatestRestorableTime and RestoreDateTime must be specified"
        )
    _check_overrides(request)

    def run(context: WriteContext) -> dict[str, Any]:
        source = context.find_table_for_backup(source_name)
        _require_new_table(context, request.target_name)
        earliest, latest = restorable_times(source.schema, context.streams.now())
        moment = latest if request.restore_time is None else request.restore_time
        if not earliest <= moment <= latest:
            raise InvalidRestoreTimeException(
                "An invalid restore time was specified. RestoreDateTime must be between "
                "EarliestRestorableDateTime and LatestRestorableDateTime."
            )
        require_no_building_index(source.schema)
        origin = RestoreOrigin(table_arn(source.name), moment)
        schema = _build_schema(request, source.schema, origin)
        restore_to_time(context.catalog, context.tx, source, schema, moment)
        return _describe_restored(context, schema.name)

    return WriteStep(run)


def _require_new_table(context: WriteContext, name: str) -> None:
    if name in context.catalog.tables:
        raise TableAlreadyExistsException(f"Table already exists: {name}")


def _describe_restored(context: WriteContext, name: str) -> dict[str, Any]:
    table = context.catalog.tables[name]
    return {"TableDescription": describe(table, context.count, status="CREATING")}


# -- the schema of the new table


def _check_overrides(request: RestoreInput) -> None:
    """Check the parts of a request that need no table."""
    definition.refuse_vector_indexes(request.vector_indexes)
    check_encryption(request.sse_specification)
    for member, shapes in (
        ("LocalSecondaryIndexOverride", request.local_indexes),
        ("GlobalSecondaryIndexOverride", request.global_indexes),
    ):
        names = [shape.index_name for shape in shapes or ()]
        if len(set(names)) < len(names):
            raise invalid(f"Duplicate index name in {member}")


def _build_schema(request: RestoreInput, source: TableSchema, origin: RestoreOrigin) -> TableSchema:
    """Return the schema of the restored table; raise ValidationException for wrong overrides."""
    billing = request.billing_mode or source.billing
    throughput, on_demand = source.throughput, source.on_demand
    if billing != source.billing or request.provisioned_throughput is not None:
        definition.check_billing(billing, request.provisioned_throughput)
        throughput = definition.build_throughput(request.provisioned_throughput)
    if billing == "PROVISIONED" or request.on_demand_throughput is not None:
        on_demand = definition.build_table_on_demand(request.on_demand_throughput, billing)
    now = time.time()
    encrypted, key = source.encrypted, source.encryption_key
    if request.sse_specification is not None:
        encrypted = bool(request.sse_specification.enabled)
        key = request.sse_specification.key_id
    return TableSchema(
        name=request.target_name,
        id=str(uuid.uuid4()),
        created=now,
        keys=source.keys,
        indexes=(
            *_select_local(request.local_indexes, source.local_indexes),
            *_select_global(request.global_indexes, source.global_indexes, billing),
        ),
        billing=billing,
        billing_changed=now if billing == "PAY_PER_REQUEST" else 0,
        throughput=replace(throughput, raised=0, lowered=0, decreases=0),
        on_demand=on_demand,
        table_class=source.table_class,
        encrypted=encrypted,
        encryption_key=key,
        restored=origin,
    )


def _select_local(
    shapes: Sequence[LocalSecondaryIndex] | None, indexes: Iterable[IndexSchema]
) -> list[IndexSchema]:
    if shapes is None:
        return list(indexes)
    return [_find_same_index(shape, indexes) for shape in shapes]


def _select_global(
    shapes: Sequence[GlobalSecondaryIndex] | None, indexes: Iterable[IndexSchema], billing: str
) -> list[IndexSchema]:
    selected = []
    if shapes is None:
        for index in indexes:
            throughput = index.throughput if billing == "PROVISIONED" else Throughput()
            selected.append(_with_capacity(index, throughput, index.on_demand, billing))
    else:
        for shape in shapes:
            index = _find_same_index(shape, indexes)
            throughput = index.throughput
            if shape.provisioned_throughput is not None:
                throughput = definition.build_throughput(shape.provisioned_throughput)
            limits = definition.build_on_demand(shape.on_demand_throughput) or index.on_demand
            selected.append(_with_capacity(index, throughput, limits, billing))
    return selected


def _with_capacity(
    index: IndexSchema, throughput: Throughput, on_demand: OnDemand | None, billing: str
) -> IndexSchema:
    if billing == "PAY_PER_REQUEST":
        return replace(index, throughput=Throughput(), on_demand=on_demand)
    if not throughput.read:  # the source was on demand
        raise definition.no_throughput(index.name)
    return replace(index, throughput=Throughput(throughput.read, throughput.write), on_demand=None)


def _find_same_index(shape: LocalSecondaryIndex, indexes: Iterable[IndexSchema]) -> IndexSchema:
    """Return the index of the source that a request names and describes."""
    projection = definition.build_projection(shape.projection)
    for index in indexes:
        elements = [(element.attribute_name, element.key_type) for element in shape.key_schema]
        keys = [(attribute.name, "HASH") for attribute in index.keys.partition]
        keys += [(attribute.name, "RANGE") for attribute in index.keys.sort]
        if (
            index.name == shape.index_name
            and elements == keys
            and projection.type == index.projection.type
            and set(projection.include) == set(index.projection.include)
        ):
            return index
    raise invalid(
        f"The index override {shape.index_name} does not match an index of the source; an override "
        "can leave out indexes, but not add or change one"
    )
