"""Policy statements and the principals that carry them."""

from __future__ import annotations

from typing import Any

from tablewright.policy import Principal
from tests.engine.database import item

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/shop"


KEY = item(pk="a", sk="1")


Json = dict[str, Any]


def statement(action: str | list[str] = "dynamodb:*", **elements: Any) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", **elements}


def principal(*statements: Json, name: str = "ann", **tags: str) -> Principal:
    return Principal(name, {"Version": "2012-10-17", "Statement": list(statements)}, tags=tags)


def scoped(value: str, *actions: str, operator: str = "StringEquals", **tags: str) -> Principal:
    condition = {
        f"ForAllValues:{operator}": {"dynamodb:LeadingKeys": value},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    allowed = [f"dynamodb:{action}" for action in actions] or "dynamodb:*"
    return principal(statement(allowed, Condition=condition), **tags)
