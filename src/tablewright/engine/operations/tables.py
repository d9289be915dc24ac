"""Tables that exist: describe, list and delete them, their tags and their time to live.

    DescribeTable, ListTables, DeleteTable
    TagResource, UntagResource, ListTagsOfResource
    UpdateTimeToLive, DescribeTimeToLive          the attribute with the expiry time of items

A table no longer exists when DeleteTable returns. The rows of a large table are deleted in the
background; a table with the same name can be created meanwhile. Its stream is closed and can be
read until its records are trimmed.
"""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec

from tablewright.engine.change_log.streams import close_streams
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.operations.resource_policies import reject_other_arn
from tablewright.engine.step import (
    ReadContext,
    ReadStep,
    WriteContext,
    WriteStep,
    reads,
    table_name,
    writes,
)
from tablewright.engine.tables.definition import check_tag_characters, check_tags
from tablewright.engine.tables.describe import (
    describe,
    describe_deleted,
    reject_other_account,
    take_page,
)
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    ResourceInUseException,
    ValidationException,
    not_found,
)
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import (
    DeleteTableInput,
    DescribeTableInput,
    DescribeTimeToLiveInput,
    ListTablesInput,
    ListTagsOfResourceInput,
    TagResourceInput,
    UntagResourceInput,
    UpdateTimeToLiveInput,
)


@reads
def list_tables(request: ListTablesInput, context: ReadContext) -> dict[str, Any]:
    names = [name for name in sorted(context.catalog.tables) if name > (request.start_name or "")]
    page, following = take_page(
        names, request.limit or MAX_LISTED_TABLES, LastEvaluatedTableName=str
    )
    return {"TableNames": page, **following}


@reads
def describe_table(request: DescribeTableInput, context: ReadContext) -> dict[str, Any]:
    table = context.find_table_for_control_plane(request.table_name)
    return {"Table": describe(table, context.count)}


@writes
def delete_table(request: DeleteTableInput, context: WriteContext) -> dict[str, Any]:
    table = context.find_table_for_control_plane(request.table_name)
    if table.schema.deletion_protected:
        raise ValidationException(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    if table.schema.is_building_index:
        raise ResourceInUseException(
            "Attempt to change a resource which is still in use: "
            "Cannot delete table while indexes are being created, updated, or deleted."
        )
    description = describe_deleted(table, context.count)
    catalog, tx, schema, now = context.catalog, context.tx, table.schema, time.time()
    close_streams(catalog, tx, schema, now)
    if schema.recovery is not None:
        from tablewright.engine.archives.backups import keep_deleted_table  # few tables need it

        keep_deleted_table(catalog, tx, schema, context.count(table.tree), now)
    else:
        for tree in schema.trees:
            delete_tree(catalog, tx, tree)
    catalog.remove_table(tx, table.name)
    return {"TableDescription": description}


_TABLE_ARN = re.compile(r"arn:[^:]+:dynamodb:[^:]*:[^:]*:table/[a-zA-Z0-9_.-]{3,255}")


def tag_resource(request: TagResourceInput) -> WriteStep:
    _check_arn(request.resource_arn)
    if not request.tags:
        raise ValidationException("Atleast one Tag needs to be provided as Input.")
    check_tag_characters(request.tags)

    def run(context: WriteContext) -> None:
        table = _find_table(context, request.resource_arn)
        tags = dict(table.schema.tags) | {tag.key: tag.value for tag in request.tags}
        _save_tags(context, table, tags)

    return WriteStep(run)


def untag_resource(request: UntagResourceInput) -> WriteStep:
    _check_arn(request.resource_arn)
    if not request.tag_keys:
        raise ValidationException("Atleast one Tag Key needs to be provided as Input.")

    def run(context: WriteContext) -> None:
        table = _find_table(context, request.resource_arn)
        gone = set(request.tag_keys)
        _save_tags(context, table, {k: v for k, v in table.schema.tags if k not in gone})

    return WriteStep(run)


def list_tags_of_resource(request: ListTagsOfResourceInput) -> ReadStep:
    _check_arn(request.resource_arn)

    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        tags = _find_table(context, request.resource_arn).schema.tags
        return {"Tags": [{"Key": key, "Value": value} for key, value in tags]}

    return ReadStep(run)


def _check_arn(arn: str) -> None:
    reject_other_arn(arn)
    if not _TABLE_ARN.fullmatch(arn):
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    reject_other_account(arn)


def _find_table(context: ReadContext, arn: str) -> StoredTable:
    table = context.catalog.tables.get(table_name(arn))
    if table is None:
        raise not_found(f"ResourcArn: {arn}")
    return table


def _save_tags(context: WriteContext, table: StoredTable, tags: dict[str, str]) -> None:
    context.catalog.save_schema(
        context.tx, msgspec.structs.replace(table.schema, tags=check_tags(tags))
    )


@writes
def update_time_to_live(request: UpdateTimeToLiveInput, context: WriteContext) -> dict[str, Any]:
    name, enabled = request.specification.attribute_name, request.specification.enabled
    schema = context.find_table_for_control_plane(request.table_name).schema
    current = schema.ttl_attribute
    if enabled and current == name:
        raise ValidationException("TimeToLive is already enabled")
    if (enabled and current is not None) or (not enabled and current not in (None, name)):
        raise ValidationException(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        )
    if not enabled and current is None:
        raise ValidationException("TimeToLive is already disabled")
    changed = msgspec.structs.replace(schema, ttl_attribute=name if enabled else None)
    context.catalog.save_schema(context.tx, changed)
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name}}


@reads
def describe_time_to_live(request: DescribeTimeToLiveInput, context: ReadContext) -> dict[str, Any]:
    name = context.find_table_for_control_plane(request.table_name).schema.ttl_attribute
    description = {"TimeToLiveStatus": "DISABLED"}
    if name is not None:
        description = {"TimeToLiveStatus": "ENABLED", "AttributeName": name}
    return {"TimeToLiveDescription": description}
