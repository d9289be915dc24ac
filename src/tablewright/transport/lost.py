"""Lost answers: what is known of a write that was sent, and that nobody answered for.

It may have been done. So the same request, sent again, may meet what it has done itself:

TransactWriteItems  has a token, the same in every attempt, by which it is done once; what it is
                    answered at last is what became of it
PutItem             under a condition: the condition fails, and the item that is stored tells. If it
                    is exactly what was to be put, the put is done
UpdateItem, DeleteItem
                    under a condition that they make false themselves, such as a version: done once;
                    whether by this request or by somebody else cannot be told, so the fault has a
                    note that says so
other writes        PutItem, DeleteItem and BatchWriteItem may be done twice, to the same effect; an
                    UpdateItem that adds or appends has its effect twice
"""

from __future__ import annotations

import uuid
from typing import Any

from tablewright.encoding.items import normalise_item
from tablewright.errors import ConditionalCheckFailedException, DynamoDBError

MAY_BE_DONE = "an earlier attempt of this request got no answer, and may have done it"

_READS = ("BatchGet", "Describe", "Get", "List", "Query", "Scan", "TransactGet")


def with_token(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """A transaction has a token, so that it is done once however often it is sent."""
    if operation == "TransactWriteItems" and "ClientRequestToken" not in request:
        return {**request, "ClientRequestToken": str(uuid.uuid4())}
    return request


def writes(operation: str) -> bool:
    """Whether an operation changes anything."""
    return not operation.startswith(_READS)


def is_settled(operation: str) -> bool:
    """Whether a later answer tells what became of an attempt that got none."""
    return operation == "TransactWriteItems" or not writes(operation)


def is_done(operation: str, request: dict[str, Any], fault: DynamoDBError) -> bool:
    """Whether a fault, after an answer was lost, shows that the request has been done."""
    return (
        operation == "PutItem"
        and isinstance(fault, ConditionalCheckFailedException)
        and fault.item is not None
        and request.get("ReturnValues", "NONE") == "NONE"  # what was there before is not known
        and normalise_item(fault.item) == normalise_item(request["Item"])
    )
