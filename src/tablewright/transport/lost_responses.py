"""Lost responses: what is known about a write that was sent and got no response.

It may have been applied. When the request is sent again, it may find its own effect:

TransactWriteItems  has a token, the same in every attempt, so that it is applied once; the last
                    response is the result of the transaction. So do other operations whose
                    requests have a token
PutItem             with a condition: the condition fails and the fault contains the stored item. If
                    that is exactly the item of the request, the put was applied
UpdateItem, DeleteItem
                    with a condition that the write itself makes false, such as a version: applied
                    once. It is unknown whether by this request or by another client, so the
                    fault's `maybe_applied` is set
other writes        PutItem, DeleteItem and BatchWriteItem may be applied twice with the same
                    effect; an UpdateItem that adds or appends takes effect twice
"""

from __future__ import annotations

import uuid
from typing import Any

from tablewright.encoding.items import normalise_item
from tablewright.errors import ConditionalCheckFailedException, DynamoDBError
from tablewright.wire.operations import OPERATIONS, may_change


def add_token(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the request; a transaction gets a token, so that it is applied only once."""
    token = _token(operation)
    return {**request, token: str(uuid.uuid4())} if token and token not in request else request


def is_settled_by_retry(operation: str) -> bool:
    """Whether a later response also shows the outcome of an attempt without a response."""
    return bool(_token(operation)) or not may_change(operation)


def is_applied(operation: str, request: dict[str, Any], fault: DynamoDBError) -> bool:
    """Whether a fault, after a response was lost, proves that the request was applied."""
    return (
        operation == "PutItem"
        and isinstance(fault, ConditionalCheckFailedException)
        and fault.item is not None
        and request.get("ReturnValues", "NONE") == "NONE"  # else the old item is needed, and lost
        and normalise_item(fault.item) == normalise_item(request["Item"])
    )


def _token(operation: str) -> str:
    row = OPERATIONS.get(operation)
    return "" if row is None else row.token
