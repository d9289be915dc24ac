"""The stored items, read with plain boto3."""

from __future__ import annotations

from typing import Any


def scan(client: Any, table: str, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of a table or an index, in the order of the table's keys."""
    pages = client.get_paginator("scan").paginate(**_source(table, index))
    items = [item for page in pages for item in page["Items"]]
    return sorted(items, key=_primary_key)


def query(
    client: Any, table: str, attribute: str, value: str, index: str | None = None
) -> list[dict[str, Any]]:
    """Return the items of one partition of a table or an index, in its order."""
    answer = client.query(
        **_source(table, index),
        KeyConditionExpression=f"{attribute} = :value",
        ExpressionAttributeValues={":value": {"S": value}},
    )
    found: list[dict[str, Any]] = answer["Items"]
    return found


def _source(table: str, index: str | None) -> dict[str, str]:
    return {"TableName": table} if index is None else {"TableName": table, "IndexName": index}


def _primary_key(item: dict[str, Any]) -> list[str]:
    return [item[name]["S"] for name in ("PK", "SK", "pk", "sk") if name in item]
