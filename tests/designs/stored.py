"""The stored items, read with plain boto3."""

from __future__ import annotations

import re
from typing import Any


def scan(client: Any, table: str, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of a table or an index, in the order of the table's keys."""
    pages = client.get_paginator("scan").paginate(**_source(table, index))
    items = [item for page in pages for item in page["Items"]]
    return sorted(items, key=_primary_key)


def query(
    client: Any, table: str, condition: str, index: str | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Return the items of a key condition with its values in quotes, such as `PK="USER"`."""
    values: dict[str, dict[str, str]] = {}

    def placeholder(value: re.Match[str]) -> str:
        name = f":value{len(values)}"
        values[name] = {"S": value[1]}
        return name

    expression = re.sub('"([^"]*)"', placeholder, condition)
    answer = client.query(
        **_source(table, index),
        KeyConditionExpression=expression,
        ExpressionAttributeValues=values,
        **options,
    )
    found: list[dict[str, Any]] = answer["Items"]
    return found


def _source(table: str, index: str | None) -> dict[str, str]:
    return {"TableName": table} if index is None else {"TableName": table, "IndexName": index}


def _primary_key(item: dict[str, Any]) -> list[str]:
    return [item[name]["S"] for name in ("PK", "SK", "pk", "sk") if name in item]
