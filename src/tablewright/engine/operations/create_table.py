"""CreateTable: create a table with its indexes. It can be used when the call returns.

The response has the status CREATING, as in DynamoDB; the next DescribeTable returns ACTIVE.

Checks, in DynamoDB's order: billing and throughput; the keys of the table; each local
index; each global index; unused definitions; whether the table exists already.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from tablewright.engine.change_log.streams import apply_stream_setting
from tablewright.engine.operations.resource_policies import new_revision
from tablewright.engine.step import WriteContext, WriteStep, table_name
from tablewright.engine.tables import definition
from tablewright.engine.tables.describe import describe
from tablewright.errors import ResourceInUseException, ValidationException, invalid
from tablewright.schema import AttachedPolicy, IndexSchema, KeySchema, StreamSetting, TableSchema
from tablewright.wire import requests
from tablewright.wire.requests import CreateTableInput

NO_VIEW_TYPE = (
    "Invalid StreamViewType: Stream ViewType must not be null or empty when enabling streams."
)


def create_table(request: CreateTableInput) -> WriteStep:
    definition.refuse_unsupported(request)
    schema = build_schema(request)

    def run(context: WriteContext) -> dict[str, Any]:
        tx, catalog = context.tx, context.catalog
        context.check_account(request.table_name)
        if schema.name in catalog.tables:
            raise ResourceInUseException(f"Table already exists: {schema.name}")
        table = catalog.add_table(tx, schema)
        if schema.stream:
            apply_stream_setting(catalog, tx, table.schema, schema.created, context.streams.shards)
            table = catalog.tables[schema.name]
        # A new table has no rows. To count them took 0.4 ms of 1.4, with two indexes.
        return {"TableDescription": describe(table, lambda _: (0, 0), status="CREATING")}

    return WriteStep(run)


def build_schema(request: CreateTableInput) -> TableSchema:
    """Check the definition of a new table and return its schema."""
    definition.check_tag_characters(request.tags or ())
    billing = request.billing_mode or "PROVISIONED"
    definition.check_billing(billing, request.provisioned_throughput)
    throughput = definition.build_throughput(request.provisioned_throughput)
    types = definition.collect_attribute_types(request.attribute_definitions)
    keys = definition.build_table_keys(request.key_schema, types)
    if not request.local_indexes and not request.global_indexes and len(types) != len(tuple(keys)):
        raise invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    indexes = [
        *_build_local_indexes(request.local_indexes, keys, types),
        *_build_global_indexes(request.global_indexes, types, provisioned=billing == "PROVISIONED"),
    ]
    definition.check_indexes(indexes)
    used = [*keys.names, *(name for index in indexes for name in index.keys.names)]
    definition.check_definitions_used(types, used)
    encryption = request.sse_specification
    definition.check_encryption(encryption)
    now = time.time()
    return TableSchema(
        name=table_name(request.table_name),
        id=str(uuid.uuid4()),
        created=now,
        keys=keys,
        tree=0,
        indexes=tuple(indexes),
        billing=billing,
        billing_changed=now if billing == "PAY_PER_REQUEST" else 0,
        throughput=throughput,
        on_demand=definition.build_table_on_demand(request.on_demand_throughput, billing),
        warm=definition.build_warm_throughput(request.warm_throughput, billing, throughput),
        stream=_build_stream(request.stream_specification),
        table_class=request.table_class,
        encrypted=bool(encryption and encryption.enabled),
        encryption_key=encryption.key_id if encryption else None,
        deletion_protected=bool(request.deletion_protection_enabled),
        tags=definition.check_tags({tag.key: tag.value for tag in request.tags or ()}),
        policies=_build_policies(request.resource_policy),
    )


def _build_policies(text: str | None) -> tuple[AttachedPolicy, ...]:
    if text is None:
        return ()
    return (AttachedPolicy(definition.check_policy_text(text), new_revision()),)


def _build_local_indexes(
    shapes: list[requests.LocalSecondaryIndex] | None, keys: KeySchema, types: dict[str, str]
) -> list[IndexSchema]:
    if shapes is None:
        return []
    if not shapes:
        raise invalid("List of LocalSecondaryIndexes is empty")
    if not keys.sort:
        raise invalid(
            "Table KeySchema does not have a range key, "
            "which is required when specifying a LocalSecondaryIndex"
        )
    return [definition.build_local_index(shape, keys, types) for shape in shapes]


def _build_global_indexes(
    shapes: list[requests.GlobalSecondaryIndex] | None, types: dict[str, str], *, provisioned: bool
) -> list[IndexSchema]:
    if shapes is None:
        return []
    if not shapes:
        raise invalid("List of GlobalSecondaryIndexes is empty")
    return [
        definition.build_global_index(shape, types, provisioned=provisioned) for shape in shapes
    ]


def _build_stream(shape: requests.StreamSpecification | None) -> StreamSetting | None:
    if shape is None:
        return None
    if not shape.stream_enabled:
        if shape.stream_view_type is not None:
            raise invalid(
                "Table is being created with a stream disabled, "
                "UpdateViewType should not be specified"
            )
        return None
    if shape.stream_view_type is None:
        raise ValidationException(NO_VIEW_TYPE)
    return StreamSetting(shape.stream_view_type, label="")
