"""TagResource, UntagResource and ListTagsOfResource: change and list the tags of a table."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tablewright.engine.step import ReadContext, ReadStep, WriteContext, WriteStep, table_name
from tablewright.engine.tables.definition import check_tag_characters, check_tags
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import ResourceNotFoundException, ValidationException
from tablewright.wire.requests import ListTagsOfResourceInput, TagResourceInput, UntagResourceInput

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
    if not _TABLE_ARN.fullmatch(arn):
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")


def _find_table(context: ReadContext, arn: str) -> StoredTable:
    table = context.catalog.tables.get(table_name(arn))
    if table is None:
        raise ResourceNotFoundException(
            f"Requested resource not found: ResourcArn: {arn} not found"
        )
    return table


def _save_tags(context: WriteContext, table: StoredTable, tags: dict[str, str]) -> None:
    context.catalog.save_schema(
        context.tx, msgspec.structs.replace(table.schema, tags=check_tags(tags))
    )
