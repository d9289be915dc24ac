"""Restored tables: the schema of a new table that is restored from another one.

RestoreTableFromBackup and RestoreTableToPointInTime share it. As on AWS, keys, indexes, billing,
throughput, table class and encryption are restored, unless the request overrides them; the stream,
TTL, tags, deletion protection and point-in-time recovery are not.

An override of indexes may leave out indexes and change their throughput, but not add or change one.
AWS's message for an index that differs is not known for certain.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from tablewright.engine import definition
from tablewright.engine.table_settings import check_encryption
from tablewright.errors import TableInUseException, invalid
from tablewright.schema import IndexSchema, OnDemand, RestoreOrigin, TableSchema, Throughput
from tablewright.wire.backups import RestoreInput
from tablewright.wire.requests import GlobalSecondaryIndex, LocalSecondaryIndex


def require_no_building_index(source: TableSchema) -> None:
    """Raise TableInUseException while an index of the source is incomplete."""
    if source.is_building_index:  # AWS's message is not known for certain
        raise TableInUseException(
            f"Table is being updated: an index of {source.name} is still being created"
        )


def check_overrides(request: RestoreInput) -> None:
    """Check the parts of a request that need no table."""
    check_encryption(request.sse_specification)
    for member, shapes in (
        ("LocalSecondaryIndexOverride", request.local_indexes),
        ("GlobalSecondaryIndexOverride", request.global_indexes),
    ):
        names = [shape.index_name for shape in shapes or ()]
        if len(set(names)) < len(names):
            raise invalid(f"Duplicate index name in {member}")


def build_restored_schema(
    request: RestoreInput, source: TableSchema, origin: RestoreOrigin
) -> TableSchema:
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
        raise invalid(f"ProvisionedThroughput is not specified for index: {index.name}")
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
