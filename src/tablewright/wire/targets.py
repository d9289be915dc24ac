"""Targets: the X-Amz-Target header that names the operation of a request."""

from __future__ import annotations

from tablewright.wire.operations import STREAM_OPERATIONS


def target_of(operation: str) -> str:
    """Return the header of an operation.

    >>> target_of("GetItem"), target_of("GetRecords")
    ('DynamoDB_20120810.GetItem', 'DynamoDBStreams_20120810.GetRecords')
    """
    service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
    return f"{service}_20120810.{operation}"
