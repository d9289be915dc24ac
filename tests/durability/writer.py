"""A program that writes until it is killed.

    python -m tests.durability.writer FILE DURABILITY SEED

Each of its threads works on a partition of its own. Before a write it prints what it is about to
do, after it that it is done; so whoever reads along knows what must be in the file, and what may
be: `{"thread": 0, "will": {"p0/3": {…item…}, "p0/4": null}}`, then `{"thread": 0, "done": true}`.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from typing import Any

from tablewright.engine import Engine
from tests.durability.orders import NAME, Item, contents, key, name_of

THREADS = 3
SORT_KEYS = 12

Change = dict[str, Item | None]


def say(line: dict[str, Any]) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")  # one call, so lines of threads never mix


def main(file: str, durability: Any, seed: int) -> None:
    engine = Engine(file, durability=durability)
    state = contents(engine)
    for number in range(THREADS):
        threading.Thread(target=work, args=(engine, number, state, seed), daemon=True).start()
    threading.Event().wait()


def work(engine: Engine, number: int, state: dict[str, Item], seed: int) -> None:
    chance = random.Random(f"{seed}/{number}")
    mine = {name: item for name, item in state.items() if name.startswith(f"p{number}/")}
    while True:
        operation, request, change = something(chance, number, mine)
        say({"thread": number, "will": change})
        engine.call(operation, request)
        say({"thread": number, "done": True})
        for name, item in change.items():
            if item is None:
                mine.pop(name, None)
            else:
                mine[name] = item


def something(
    chance: random.Random, number: int, mine: dict[str, Item]
) -> tuple[str, dict[str, Any], Change]:
    """An operation, its request, and what it makes of which items."""
    kind = chance.choice(["put", "put", "update", "update", "delete", "transaction", "batch"])
    item = any_item(chance, number, chance.randrange(SORT_KEYS))
    name = name_of(item)
    if kind == "put":
        return "PutItem", {"TableName": NAME, "Item": item}, {name: item}
    if kind == "delete":
        return "DeleteItem", {"TableName": NAME, "Key": key(item)}, {name: None}
    if kind == "update":
        request, updated = any_update(chance, item, mine.get(name))
        return "UpdateItem", request, {name: updated}
    # Three items at once, far apart in every index: whole or not at all.
    first = chance.randrange(SORT_KEYS)
    several = [any_item(chance, number, (first + step) % SORT_KEYS) for step in range(3)]
    put, updated_from, gone = several
    if kind == "batch":  # each write on its own, but one request is one commit here
        writes: list[dict[str, Any]] = [{"PutRequest": {"Item": put}}]
        writes.append({"DeleteRequest": {"Key": key(gone)}})
        change: Change = {name_of(put): put, name_of(gone): None}
        return "BatchWriteItem", {"RequestItems": {NAME: writes}}, change
    update, updated = any_update(chance, updated_from, mine.get(name_of(updated_from)))
    actions = [
        {"Put": {"TableName": NAME, "Item": put}},
        {"Update": update},
        {"Delete": {"TableName": NAME, "Key": key(gone)}},
    ]
    change = {name_of(put): put, name_of(updated_from): updated, name_of(gone): None}
    return "TransactWriteItems", {"TransactItems": actions}, change


def any_item(chance: random.Random, number: int, sort: int) -> Item:
    item: Item = {
        "pk": {"S": f"p{number}"},
        "sk": {"S": str(sort)},
        "version": {"N": str(chance.randrange(1000))},
        "text": {"S": chance.choice("abc") * chance.randrange(2000)},
    }
    if chance.random() < 0.8:
        item["status"] = {"S": chance.choice(["open", "paid"])}
    if chance.random() < 0.8:
        item["total"] = {"N": str(chance.randrange(-5, 5))}
    if chance.random() < 0.3:
        item["coupon"] = {"B": chance.choice(["AA==", "/w=="])}
    return item


def any_update(chance: random.Random, item: Item, old: Item | None) -> tuple[dict[str, Any], Item]:
    """Move the item in two indexes and take it out of the third."""
    status = {"S": chance.choice(["open", "paid", "sent"])}
    new = {**(old or key(item)), "status": status, "total": item["version"]}
    new.pop("coupon", None)
    request = {
        "TableName": NAME,
        "Key": key(item),
        "UpdateExpression": "SET #s = :s, #t = :t REMOVE coupon",
        "ExpressionAttributeNames": {"#s": "status", "#t": "total"},
        "ExpressionAttributeValues": {":s": status, ":t": item["version"]},
    }
    return request, new


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
