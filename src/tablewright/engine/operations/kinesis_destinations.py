"""Kinesis destinations: Enable-, Disable-, Update- and DescribeKinesisStreamingDestination.

The destinations of a table are stored and described; no changes are sent to them. At most one is
ACTIVE. A disabled destination stays in the list; DynamoDB removes it after some time.

The responses have DynamoDB's transitional statuses (ENABLING, DISABLING, UPDATING); the next
description has the final one.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tablewright.engine.step import ReadContext, WriteContext, WriteStep, reads, writes
from tablewright.engine.tables.describe import present
from tablewright.errors import ValidationException
from tablewright.schema import KinesisDestination, TableSchema
from tablewright.wire.table_settings import (
    DescribeKinesisStreamingDestinationInput,
    KinesisStreamingDestinationInput,
    UpdateKinesisStreamingDestinationInput,
)

_DEFAULT_PRECISION = "MILLISECOND"
_NOT_VALID = "Table is not in a valid state to enable Kinesis Streaming Destination: "


@writes
def enable_kinesis_streaming_destination(
    request: KinesisStreamingDestinationInput, context: WriteContext
) -> dict[str, Any]:
    precision = request.configuration.precision if request.configuration else None
    schema = context.find_table_for_control_plane(request.table_name).schema
    if any(one.is_active for one in schema.destinations):
        raise ValidationException(
            f"{_NOT_VALID}EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED "
            "to perform ENABLE operation."
        )
    _save(context, schema, KinesisDestination(request.stream_arn, True, precision))
    return _answer(schema, request.stream_arn, "ENABLING", "Enable", precision)


def disable_kinesis_streaming_destination(request: KinesisStreamingDestinationInput) -> WriteStep:
    if request.configuration is not None:
        raise ValidationException(
            "Streaming destination cannot be updated with given parameters: "
            "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
        )

    def run(context: WriteContext) -> dict[str, Any]:
        schema = context.find_table_for_control_plane(request.table_name).schema
        found = _find_active(schema, request.stream_arn)
        if found is None:
            raise ValidationException(
                f"{_NOT_VALID}KinesisStreamingDestination must be ACTIVE to perform "
                "DISABLE operation."
            )
        _save(context, schema, replace(found, is_active=False))
        return _answer(schema, request.stream_arn, "DISABLING", "Enable", None)

    return WriteStep(run)


def update_kinesis_streaming_destination(
    request: UpdateKinesisStreamingDestinationInput,
) -> WriteStep:
    precision = request.configuration.precision if request.configuration else None
    if precision is None:
        raise ValidationException(
            "Streaming destination cannot be updated with given parameters: "
            "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
        )

    def run(context: WriteContext) -> dict[str, Any]:
        schema = context.find_table_for_control_plane(request.table_name).schema
        found = _find_active(schema, request.stream_arn)
        if found is None:
            raise ValidationException(
                f"{_NOT_VALID}Kinesis streaming is not in ACTIVE state. Updates are only allowed "
                f"in ACTIVE state. TableName: {schema.name}, kdsArn: {request.stream_arn}"
            )
        if (found.precision or _DEFAULT_PRECISION) == precision:
            raise ValidationException(
                f"Invalid Request: Precision is already set to the desired value of {precision} "
                f"for tableId: {schema.id}, kdsArn: {request.stream_arn}"
            )
        _save(context, schema, replace(found, precision=precision))
        return _answer(schema, request.stream_arn, "UPDATING", "Update", precision)

    return WriteStep(run)


@reads
def describe_kinesis_streaming_destination(
    request: DescribeKinesisStreamingDestinationInput, context: ReadContext
) -> dict[str, Any]:
    schema = context.find_table_for_control_plane(request.table_name).schema
    return {
        "TableName": schema.name,
        "KinesisDataStreamDestinations": [_describe(one) for one in schema.destinations],
    }


def _find_active(schema: TableSchema, arn: str) -> KinesisDestination | None:
    return next((one for one in schema.destinations if one.arn == arn and one.is_active), None)


def _save(context: WriteContext, schema: TableSchema, new: KinesisDestination) -> None:
    others = tuple(one for one in schema.destinations if one.arn != new.arn)
    context.catalog.save_schema(context.tx, replace(schema, destinations=(new, *others)))


def _answer(
    schema: TableSchema, arn: str, status: str, verb: str, precision: str | None
) -> dict[str, Any]:
    configuration = present(ApproximateCreationDateTimePrecision=precision)
    return {
        "TableName": schema.name,
        "StreamArn": arn,
        "DestinationStatus": status,
        f"{verb}KinesisStreamingConfiguration": configuration,
    }


def _describe(destination: KinesisDestination) -> dict[str, str]:
    return present(
        StreamArn=destination.arn,
        DestinationStatus="ACTIVE" if destination.is_active else "DISABLED",
        ApproximateCreationDateTimePrecision=destination.precision,
    )
