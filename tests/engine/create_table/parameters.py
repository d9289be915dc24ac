"""Parameters of CreateTable."""

from __future__ import annotations

from typing import Any

from tests.engine.database import Json, index_request

INVALID = "One or more parameter values were invalid: "


UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def key(name: str, kind: str) -> Json:
    return {"AttributeName": name, "KeyType": kind}


def glob(name: str = "glob", keys: str = "g:S", **change: Any) -> Json:
    return index_request(name, keys) | change
