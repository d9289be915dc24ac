"""The items of the libraries' tables: written before the run, compared after it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.libraries import sample
from benchmarks.peers.libraries.tablewright_orders import entities
from tablewright import connect
from tablewright.designs.commerce import Commerce, create_order_with_items
from tablewright.transport.targets import open_target

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

Items = dict[tuple[str, str], dict[str, Any]]


def seed(target: str, table: str, count: int) -> None:
    """Create a table with the first orders of the sample."""
    with connect(target, Commerce, table_name=table, create=True, durability="normal") as database:
        for n in range(count):
            database.run(create_order_with_items(*entities(sample.new_order(n))))


def stored_items(target: str, table: str) -> Items:
    """Return all items of a table by their keys, with one mark in place of the time of each event.

    That is the only value that differs between two runs; its format is checked here.
    """
    found: Items = {}
    request: dict[str, Any] = {"TableName": table}
    transport = open_target(target, durability="normal")
    try:
        while True:
            page = json.loads(transport.send("Scan", request).body)
            for item in page["Items"]:
                if "changedAt" in item and MOMENT.fullmatch(item["changedAt"]["S"]):
                    item["changedAt"] = "a time"
                found[item["PK"]["S"], item["SK"]["S"]] = item
            if "LastEvaluatedKey" not in page:
                return found
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    finally:
        transport.close()


def differences(found: Items, expected: Items) -> Sequence[str]:
    """Describe the items that differ, if any."""
    return [
        f"{key}: {found.get(key)}, not {expected.get(key)}"
        for key in sorted(found.keys() | expected.keys())
        if found.get(key) != expected.get(key)
    ]
