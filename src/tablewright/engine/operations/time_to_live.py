"""UpdateTimeToLive and DescribeTimeToLive: the attribute with the expiry time of items."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.engine.step import ReadContext, ReadStep, WriteContext, WriteStep
from tablewright.errors import ValidationException
from tablewright.wire.requests import DescribeTimeToLiveInput, UpdateTimeToLiveInput


def update_time_to_live(request: UpdateTimeToLiveInput) -> WriteStep:
    name, enabled = request.specification.attribute_name, request.specification.enabled

    def run(context: WriteContext) -> dict[str, Any]:
        schema = context.find_table_for_control_plane(request.table_name).schema
        current = schema.ttl_attribute
        if enabled and current == name:
            raise ValidationException("TimeToLive is already enabled")
        if (enabled and current is not None) or (not enabled and current not in (None, name)):
            raise ValidationException(
                "TimeToLive is active on a different AttributeName: "
                f"current AttributeName is {current}"
            )
        if not enabled and current is None:
            raise ValidationException("TimeToLive is already disabled")
        changed = msgspec.structs.replace(schema, ttl_attribute=name if enabled else None)
        context.catalog.save_schema(context.tx, changed)
        return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name}}

    return WriteStep(run)


def describe_time_to_live(request: DescribeTimeToLiveInput) -> ReadStep:
    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        name = context.find_table_for_control_plane(request.table_name).schema.ttl_attribute
        description = {"TimeToLiveStatus": "DISABLED"}
        if name is not None:
            description = {"TimeToLiveStatus": "ENABLED", "AttributeName": name}
        return {"TimeToLiveDescription": description}

    return ReadStep(run)
