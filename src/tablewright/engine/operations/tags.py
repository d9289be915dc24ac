"""TagResource, UntagResource and ListTagsOfResource: up to 50 tags of a table."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tablewright.engine.definition import checked_tags
from tablewright.engine.step import Read, Reading, Write, Writing, table_name
from tablewright.engine.table import Table
from tablewright.errors import ResourceNotFoundException, ValidationException
from tablewright.wire.requests import ListTagsOfResourceInput, TagResourceInput, UntagResourceInput

_TABLE_ARN = re.compile(r"arn:[^:]+:dynamodb:[^:]*:[^:]*:table/[a-zA-Z0-9_.-]{3,255}")


def tag_resource(request: TagResourceInput) -> Write:
    _check_arn(request.resource_arn)
    if not request.tags:
        raise ValidationException("Atleast one Tag needs to be provided as Input.")

    def run(writing: Writing) -> None:
        table = _tagged(writing, request.resource_arn)
        tags = dict(table.schema.tags) | {tag.key: tag.value for tag in request.tags}
        _save(writing, table, tags)

    return Write(run)


def untag_resource(request: UntagResourceInput) -> Write:
    _check_arn(request.resource_arn)
    if not request.tag_keys:
        raise ValidationException("Atleast one Tag Key needs to be provided as Input.")

    def run(writing: Writing) -> None:
        table = _tagged(writing, request.resource_arn)
        gone = set(request.tag_keys)
        _save(writing, table, {k: v for k, v in table.schema.tags if k not in gone})

    return Write(run)


def list_tags_of_resource(request: ListTagsOfResourceInput) -> Read:
    _check_arn(request.resource_arn)

    def run(reading: Reading) -> dict[str, Any]:
        reading.catalog.refresh(reading.snapshot)
        tags = _tagged(reading, request.resource_arn).schema.tags
        return {"Tags": [{"Key": key, "Value": value} for key, value in tags]}

    return Read(run)


def _check_arn(arn: str) -> None:
    if not _TABLE_ARN.fullmatch(arn):
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")


def _tagged(reading: Reading, arn: str) -> Table:
    table = reading.catalog.tables.get(table_name(arn))
    if table is None:
        raise ResourceNotFoundException(
            f"Requested resource not found: ResourcArn: {arn} not found"
        )
    return table


def _save(writing: Writing, table: Table, tags: dict[str, str]) -> None:
    writing.catalog.save(writing.tx, msgspec.structs.replace(table.schema, tags=checked_tags(tags)))
