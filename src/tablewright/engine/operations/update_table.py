"""UpdateTable: change throughput, billing, indexes, stream, protection or class of a table.

A new global index is built from the items of the table: before the call returns if they fit in one
step of `maintenance`, otherwise in the background. Items with invalid key attributes for the index
are not in it, as in DynamoDB.

Checks, in DynamoDB's order: that the request has a change; each index update; the table; each
change. While an index is being built, no other index can be created or deleted; the index itself
can be deleted and all other changes are allowed, as in DynamoDB when `Backfilling` is true.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tablewright.engine.change_log.streams import apply_stream_setting
from tablewright.engine.maintenance import build_index, delete_tree
from tablewright.engine.operations.create_table import NO_VIEW_TYPE
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.engine.tables import definition
from tablewright.engine.tables.describe import describe
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    LimitExceededException,
    ValidationException,
    invalid,
    not_found,
)
from tablewright.schema import IndexSchema, KeySchema, StreamSetting, TableSchema, Throughput
from tablewright.wire import requests
from tablewright.wire.requests import GlobalSecondaryIndexUpdate, UpdateTableInput


def update_table(request: UpdateTableInput) -> WriteStep:
    updates = request.global_index_updates or []
    definition.refuse_unsupported(request)
    if request.billing_mode == "PAY_PER_REQUEST":
        definition.check_billing("PAY_PER_REQUEST", request.provisioned_throughput)
    definition.build_throughput(request.provisioned_throughput)
    if not _has_changes(request):
        raise ValidationException(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
        )
    _check_combination(request, updates)
    definition.check_encryption(request.sse_specification)
    if request.stream_specification is not None:
        _check_stream(request.stream_specification)
    _check_updates(updates)

    def run(context: WriteContext) -> dict[str, Any]:
        table = context.find_table_for_control_plane(request.table_name)
        now = time.time()
        schema = _apply_settings(table.schema, request, now)
        for update in updates:
            schema = _apply_index_update(context, schema, update, request, now)
        _require_index_throughput(table.schema, schema)
        catalog, tx = context.catalog, context.tx
        catalog.save_schema(tx, schema)
        if schema.stream != table.schema.stream:
            schema = apply_stream_setting(catalog, tx, schema, now, context.streams.shards)
        description = _describe_change(context, table.schema, schema, request)
        for index in _added(schema, table.schema):
            build_index(catalog, tx, schema.name, index.tree)
        for index in _added(table.schema, schema):
            delete_tree(catalog, tx, index.tree)
        return {"TableDescription": description}

    return WriteStep(run)


def _added(schema: TableSchema, other: TableSchema) -> list[IndexSchema]:
    """Return the indexes of a schema that another one does not have."""
    trees = {index.tree for index in other.indexes}
    return [index for index in schema.indexes if index.tree not in trees]


def _describe_change(
    context: WriteContext, old: TableSchema, new: TableSchema, request: UpdateTableInput
) -> dict[str, Any]:
    """Return the description for the response, which also has the index that is deleted."""
    before = {index.tree: index.throughput for index in old.indexes}
    deleted = _added(old, new)
    changes = {index.name: "CREATING" for index in _added(new, old)}
    changes |= {index.name: "DELETING" for index in deleted}
    for index in new.indexes:
        if index.throughput != before.get(index.tree, index.throughput):
            changes[index.name] = "UPDATING"
    return describe(
        StoredTable(replace(new, indexes=(*new.indexes, *deleted))),
        context.count,
        status="UPDATING" if takes_time(request) else "ACTIVE",
        index_changes=changes,
    )


def takes_time(request: UpdateTableInput) -> bool:
    """Return whether the table is UPDATING for a while on DynamoDB.

    Protection, on-demand limits and warm throughput change at once.
    """
    changes = (
        request.provisioned_throughput,
        request.billing_mode,
        request.stream_specification,
        request.sse_specification,
        request.table_class,
        request.global_index_updates or None,
    )
    return any(change is not None for change in changes)


def _has_changes(request: UpdateTableInput) -> bool:
    at_once = (
        request.deletion_protection_enabled,
        request.on_demand_throughput,
        request.warm_throughput,
    )
    return takes_time(request) or any(change is not None for change in at_once)


def _check_combination(
    request: UpdateTableInput, updates: Sequence[GlobalSecondaryIndexUpdate]
) -> None:
    """Check that a change that DynamoDB accepts only alone is alone."""
    changes = {
        "Server-Side Encryption modification": request.sse_specification,
        "TableClass modification": request.table_class,
        "DeletionProtection modification": request.deletion_protection_enabled,
        "WarmThroughput": request.warm_throughput,
    }
    others = (
        request.provisioned_throughput,
        request.billing_mode,
        request.stream_specification,
        request.on_demand_throughput,
        updates or None,
    )
    alone = [change for change, value in changes.items() if value is not None]
    if alone and (len(alone) > 1 or any(other is not None for other in others)):
        raise invalid(f"{alone[0]} must be the only operation in the request")


def _check_updates(updates: Sequence[GlobalSecondaryIndexUpdate]) -> None:
    names = []
    for update in updates:
        actions = [a for a in (update.update, update.create, update.delete) if a is not None]
        if not actions:
            raise invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        if len(actions) > 1:  # the text is not known for certain
            raise invalid(
                "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete can be specified in one entry"
            )
        name = actions[0].index_name
        if name in names:
            raise invalid(
                "Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {name}"
            )
        names.append(name)
    if sum(update.create is not None or update.delete is not None for update in updates) > 1:
        raise concurrent_index_change()


def concurrent_index_change() -> LimitExceededException:
    return LimitExceededException(
        "Subscriber limit exceeded: "
        "Only 1 online index can be created or deleted simultaneously per table"
    )


def _apply_settings(schema: TableSchema, request: UpdateTableInput, now: float) -> TableSchema:
    """Return the schema with all requested changes except those of indexes."""
    billing = request.billing_mode or schema.billing
    if request.provisioned_throughput or billing != schema.billing:
        if billing == "PROVISIONED" and request.provisioned_throughput is None:
            raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
        definition.check_billing(billing, request.provisioned_throughput)
        schema = replace(
            schema,
            billing=billing,
            billing_changed=now if billing == "PAY_PER_REQUEST" else schema.billing_changed,
            throughput=_build_throughput(schema.throughput, request.provisioned_throughput, now),
        )
        if billing == "PAY_PER_REQUEST":
            indexes = (replace(index, throughput=Throughput()) for index in schema.indexes)
            schema = replace(schema, indexes=tuple(indexes))
    if request.on_demand_throughput:
        schema = replace(
            schema,
            on_demand=definition.build_table_on_demand(
                request.on_demand_throughput, billing, update=True
            ),
        )
    if request.stream_specification:
        schema = replace(schema, stream=_build_stream(schema, request.stream_specification))
    if request.warm_throughput:
        warm = definition.change_warm_throughput(
            request.warm_throughput, schema.billing, schema.throughput, schema.warm
        )
        schema = replace(schema, warm=warm)
    encryption = request.sse_specification
    if encryption:
        definition.check_encryption_changes(
            encryption, encrypted=schema.encrypted, key=schema.encryption_key
        )
        schema = replace(
            schema, encrypted=bool(encryption.enabled), encryption_key=encryption.key_id
        )
    if request.table_class:
        schema = replace(schema, table_class=request.table_class, table_class_changed=now)
    if request.deletion_protection_enabled is not None:
        schema = replace(schema, deletion_protected=request.deletion_protection_enabled)
    return schema


def _require_index_throughput(old: TableSchema, new: TableSchema) -> None:
    """Check that a table that becomes provisioned has the throughput of all its global indexes."""
    if new.billing == "PROVISIONED" and old.billing != "PROVISIONED":
        names = [index.name for index in new.global_indexes if not index.throughput.read]
        if names:
            raise invalid(f"ProvisionedThroughput must be specified for index: {','.join(names)}")


def _build_throughput(
    old: Throughput, shape: requests.ProvisionedThroughput | None, now: float, index: str = ""
) -> Throughput:
    if shape is None:
        return Throughput()
    where = f"index: {index}" if index else "table"
    if (shape.read, shape.write) == (old.read, old.write):
        raise ValidationException(
            f"The provisioned throughput for the {where} will not change. The requested value "
            "equals the current value. "
            f"Current ReadCapacityUnits provisioned for the {where}: {old.read}. "
            f"Requested ReadCapacityUnits: {shape.read}. "
            f"Current WriteCapacityUnits provisioned for the {where}: {old.write}. "
            f"Requested WriteCapacityUnits: {shape.write}. "
            "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "
            "higher limits."
        )
    raised = shape.read > old.read or shape.write > old.write
    lowered = shape.read < old.read or shape.write < old.write
    return Throughput(
        shape.read,
        shape.write,
        now if raised else old.raised,
        now if lowered else old.lowered,
        old.decreases_on(now) + lowered,
    )


def _check_stream(shape: requests.StreamSpecification) -> None:
    if shape.stream_enabled and shape.stream_view_type is None:
        raise ValidationException(NO_VIEW_TYPE)
    if not shape.stream_enabled and shape.stream_view_type is not None:
        # The text of DynamoDB Local; that of the service is not known for certain.
        raise ValidationException(
            "Invalid StreamViewType: Stream StreamEnabled was false but a StreamViewType was "
            "present."
        )


def _build_stream(schema: TableSchema, shape: requests.StreamSpecification) -> StreamSetting:
    if not shape.stream_enabled:
        if schema.stream is None or not schema.stream.enabled:
            raise ValidationException("Table has no stream to disable")
        return replace(schema.stream, enabled=False)
    if schema.stream is not None and schema.stream.enabled:
        raise ValidationException(f"Table already has an enabled stream: TableName: {schema.name}")
    assert shape.stream_view_type is not None
    return StreamSetting(shape.stream_view_type, label="")


def _apply_index_update(
    context: WriteContext,
    schema: TableSchema,
    update: GlobalSecondaryIndexUpdate,
    request: UpdateTableInput,
    now: float,
) -> TableSchema:
    names = {index.name: index for index in schema.indexes}
    if update.create:
        if update.create.index_name in names:
            raise ValidationException("Attempting to create an index which already exists")
        if schema.is_building_index:
            raise concurrent_index_change()
        types = definition.collect_attribute_types(request.attribute_definitions or [])
        index = definition.build_global_index(
            update.create, types, provisioned=schema.billing == "PROVISIONED"
        )
        _reject_redefined_types(schema, index)
        (tree,) = context.catalog.allocate_trees(1)
        indexes = (*schema.indexes, replace(index, tree=tree, building=True))
        definition.check_indexes(indexes)
        return replace(schema, indexes=indexes)
    if update.delete:
        gone = names.get(update.delete.index_name)
        if gone is None or gone.kind != "global":
            raise not_found()
        if schema.is_building_index and not gone.building:
            raise concurrent_index_change()
        return replace(
            schema,
            indexes=tuple(i for i in schema.indexes if i is not gone),
            insights=tuple(one for one in schema.insights if one.index != gone.name),
        )
    assert update.update
    return _apply_index_throughput(schema, names.get(update.update.index_name), update.update, now)


def _reject_redefined_types(schema: TableSchema, index: IndexSchema) -> None:
    """Reject an index whose key attributes have other types than in the table's other keys.

    DynamoDB ignores other definitions of the request: attributes of existing keys keep their type.
    """
    for keys in (schema.keys, *(other.keys for other in schema.indexes)):
        types = {attribute.name: attribute.type for attribute in keys}
        if any(
            types.get(attribute.name, attribute.type) != attribute.type for attribute in index.keys
        ):
            raise invalid(
                "Attributes cannot be redefined. Please check that your attribute has the same "
                f"type as previously defined. Existing schema: {_show_keys(keys)} "
                f"New schema: {_show_keys(index.keys)}"
            )


def _show_keys(keys: KeySchema) -> str:
    parts = [(attribute, "HASH") for attribute in keys.partition]
    parts += [(attribute, "RANGE") for attribute in keys.sort]
    shown = (
        f"SchemaElement: key{{{attribute.name}:{attribute.type}:{role}}}"
        for attribute, role in parts
    )
    return f"Schema:[{', '.join(shown)}]"


def _apply_index_throughput(
    schema: TableSchema,
    index: IndexSchema | None,
    change: requests.UpdateGlobalSecondaryIndexAction,
    now: float,
) -> TableSchema:
    if index is None or index.kind != "global":
        raise ValidationException(
            "This operation cannot be performed with given input values. Please contact DynamoDB "
            "service team for more info: Action Blocked: IndexUpdate"
        )
    settings = (change.on_demand_throughput, change.warm_throughput)
    if schema.billing == "PAY_PER_REQUEST" and settings == (None, None):
        raise invalid(
            f"The only Updates for index: {index.name} when TableThroughputMode is "
            "PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
        )
    if change.provisioned_throughput is None and settings == (None, None):
        raise definition.no_throughput(index.name)
    changed = index
    if change.provisioned_throughput:
        definition.build_throughput(change.provisioned_throughput, f" for index {index.name}")
        changed = replace(
            changed,
            throughput=_build_throughput(
                index.throughput, change.provisioned_throughput, now, index.name
            ),
        )
    if change.on_demand_throughput:
        changed = replace(
            changed, on_demand=definition.build_on_demand(change.on_demand_throughput)
        )
    warm = definition.change_warm_throughput(
        change.warm_throughput, schema.billing, changed.throughput, changed.warm, index.name
    )
    changed = replace(changed, warm=warm)
    return replace(schema, indexes=tuple(changed if i is index else i for i in schema.indexes))
