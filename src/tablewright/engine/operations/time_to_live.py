"""UpdateTimeToLive and DescribeTimeToLive: the attribute with the expiry time of items."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.engine.step import ReadContext, WriteContext, reads, writes
from tablewright.errors import ValidationException
from tablewright.wire.requests import DescribeTimeToLiveInput, UpdateTimeToLiveInput


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
