"""Items as large as DynamoDB allows: long values and keys, many attributes, deep documents."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tablewright.designs.catalog import load
from tablewright.engine import Engine
from tablewright.studio.workspace import Workspace
from tablewright.verify import seed
from tests.studio.tables import put

TABLE = "commerce_single_table"
#: A text of 300 KB, of which markup is several times longer.
LONG_TEXT = "\"<&'" * 75_000
#: The sort keys of items of the partition CUST#C1, each with its attributes.
ITEMS: dict[str, dict[str, Any]] = {
    "long key " + "k" * 1_000: {},
    "number": {"n": {"N": "-1E-120"}},
    "many": {f"a{number}": {"S": "v"} for number in range(30_000)},
    "name": {"q" * 60_000: {"S": "v"}},
    "text": {"text": {"S": LONG_TEXT}},
    "nested": {"n": {"L": [{"L": [{"M": {"k": {"N": "1"}}}] * 100}] * 150}},
}
ORDER = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}


def workspace() -> Workspace:
    """Return the commerce design with these items, and with an order that has a long text."""
    engine, design = Engine(":memory:"), load("commerce")
    seed(design, engine)
    order = engine.call("GetItem", {"TableName": TABLE, "Key": ORDER})["Item"]
    put(engine, TABLE, {**order, "note": {"S": LONG_TEXT}})
    for key, attributes in ITEMS.items():
        put(engine, TABLE, {"PK": {"S": "CUST#C1"}, "SK": {"S": key}, **attributes})
    put(engine, TABLE, {"PK": {"S": "p" * 2_000}, "SK": {"S": "s" * 1_000}})
    return Workspace(design, engine)


def paths() -> list[str]:
    """Return the pages of these items, and those of their partition."""
    keys = [("CUST#C1", key) for key in (*ITEMS, ORDER["SK"]["S"])]
    keys.append(("p" * 2_000, "s" * 1_000))
    queries = [urlencode({"pk": partition, "sk": sort}) for partition, sort in keys]
    pages = [
        f"/item/{TABLE}{part}?{query}" for query in queries for part in ("", "/edit", "/delete")
    ]
    value = urlencode({"pk": "CUST#C1", "sk": "ORDER#O101", "name": "note"})
    return [*pages, f"/item/{TABLE}/value?{value}", f"/items/{TABLE}?pk=CUST%23C1"]
