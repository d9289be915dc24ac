"""UpdateTimeToLive and DescribeTimeToLive: which attribute says when an item expires."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.engine.step import Read, Reading, Write, Writing
from tablewright.errors import ValidationException
from tablewright.wire.requests import DescribeTimeToLiveInput, UpdateTimeToLiveInput


def update_time_to_live(request: UpdateTimeToLiveInput) -> Write:
    name, enabled = request.specification.attribute_name, request.specification.enabled

    def run(writing: Writing) -> dict[str, Any]:
        schema = writing.known_table(request.table_name).schema
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
        writing.catalog.save(writing.tx, changed)
        return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name}}

    return Write(run)


def describe_time_to_live(request: DescribeTimeToLiveInput) -> Read:
    def run(reading: Reading) -> dict[str, Any]:
        reading.catalog.refresh(reading.snapshot)
        name = reading.known_table(request.table_name).schema.ttl_attribute
        description = {"TimeToLiveStatus": "DISABLED"}
        if name is not None:
            description = {"TimeToLiveStatus": "ENABLED", "AttributeName": name}
        return {"TimeToLiveDescription": description}

    return Read(run)
