"""The parameters of boto3's and aioboto3's calls, with Python values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.peers.libraries.plain_orders import (
    TIMELINE,
    Order,
    event_item,
    items_of,
    order_key,
    status_keys,
)
from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange


def create_request(table: str, new: NewOrder) -> list[dict[str, Any]]:
    return [_create(table, item) for item in items_of(new)]


def load_request(customer_id: str, order_id: str) -> dict[str, Any]:
    key = order_key(customer_id, order_id)
    return {
        "KeyConditionExpression": "PK = :customer AND SK BETWEEN :first AND :last",
        "ExpressionAttributeValues": {
            ":customer": key["PK"],
            ":first": key["SK"],
            ":last": f"{key['SK']}$",  # the character after the separator
        },
    }


def timeline_request(customer_id: str) -> dict[str, Any]:
    return {
        "IndexName": TIMELINE,
        "KeyConditionExpression": "GSI1PK = :customer",
        "ExpressionAttributeValues": {":customer": f"CUST#{customer_id}"},
        "ScanIndexForward": False,
        "Limit": PAGE,
    }


def status_request(
    table: str, before: Order, change: StatusChange
) -> tuple[Order, list[dict[str, Any]]]:
    """Return the changed order, and the items of the transaction."""
    after = replace(before, status=change.status, version=before.version + 1)
    keys = status_keys(after)
    update = {
        "TableName": table,
        "Key": order_key(before.customer_id, before.order_id),
        "UpdateExpression": "SET #status = :status, #version = :version, "
        + ", ".join(f"{name} = :{name}" for name in keys),
        "ConditionExpression": "#version = :expected",
        "ExpressionAttributeNames": {"#status": "status", "#version": "version"},
        "ExpressionAttributeValues": {
            ":status": after.status,
            ":version": after.version,
            ":expected": change.expected_version,
            **{f":{name}": value for name, value in keys.items()},
        },
    }
    event = event_item(before, change, datetime.now(UTC))
    return after, [{"Update": update}, _create(table, event)]


def _create(table: str, item: dict[str, Any]) -> dict[str, Any]:
    return {
        "Put": {
            "TableName": table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(PK)",
        }
    }
