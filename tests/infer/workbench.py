"""Sample models of NoSQL Workbench, loaded into a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tablewright.engine import Engine
from tablewright.values import Item

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))
_TAGS = {"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}


def load(engine: Engine, name: str) -> str:
    """Create the table of a sample, put its rows into it, and return the table's name."""
    (table,) = json.loads((SAMPLES / f"{name}.json").read_text())["DataModel"]
    engine.call("CreateTable", _definition(table))
    for item in rows(table):
        engine.call("PutItem", {"TableName": table["TableName"], "Item": item})
    return str(table["TableName"])


def rows(table: dict[str, Any]) -> list[Item]:
    """Return the rows of a table, which are in its facets if it has any."""
    facets = [row for facet in table.get("TableFacets", ()) for row in facet.get("TableData", ())]
    found = [*table.get("TableData", ()), *facets]
    return [{name: _value(value) for name, value in row.items()} for row in found]


def _value(value: Any) -> Any:
    """Return a value; a map of game-player-profiles has its tag twice: {"M": {"M": {…}}}."""
    ((tag, content),) = value.items()
    if tag == "M":
        inner = content.get("M", {})
        if list(content) == ["M"] and not _TAGS.issuperset(inner):
            content = inner
        return {"M": {name: _value(each) for name, each in content.items()}}
    return {"L": [_value(each) for each in content]} if tag == "L" else value


def _definition(table: dict[str, Any]) -> dict[str, Any]:
    keys = [table["KeyAttributes"], *(i["KeyAttributes"] for i in _indexes(table))]
    types = {each["AttributeName"]: each["AttributeType"] for key in keys for each in key.values()}
    indexes = [
        {
            "IndexName": index["IndexName"],
            "KeySchema": _schema(index["KeyAttributes"]),
            "Projection": index["Projection"],
        }
        for index in _indexes(table)
    ]
    return {
        "TableName": table["TableName"],
        "KeySchema": _schema(table["KeyAttributes"]),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        "BillingMode": "PAY_PER_REQUEST",
    } | ({"GlobalSecondaryIndexes": indexes} if indexes else {})


def _indexes(table: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.get("GlobalSecondaryIndexes", [])
    return found


def _schema(keys: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    roles = {"PartitionKey": "HASH", "SortKey": "RANGE"}
    return [
        {"AttributeName": keys[role]["AttributeName"], "KeyType": kind}
        for role, kind in roles.items()
        if role in keys
    ]
