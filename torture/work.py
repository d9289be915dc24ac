"""Random work on a file, and the content of the file after each step.

The same seed and the same first state give the same steps, so that one process can do the work and
another can say what it must have left behind. The steps are the operations of the tests of
durability on a table with four indexes, plus index builds, tables that come and go, expiry,
checkpoints and reopening.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from tablewright.engine import Engine
from tablewright.storage import Durability
from tests.durability.opener import table, tables
from tests.durability.orders import NAME, TABLE, Item, everything
from tests.durability.test_kill import apply
from tests.durability.writer import something

#: A second table, which is created, filled, expired and deleted again.
OTHER = "other"
#: The time of expiry of some items of the second table, and a time after it.
UNTIL, AFTER = 1_700_000_000, 1_700_000_001
BUILD_SECONDS = 30.0

#: Tables by name: the names of their indexes and their items by key.
State = dict[str, tuple[frozenset[str], dict[str, Item]]]


@dataclass(frozen=True)
class Step:
    """An operation of the engine, or one of `expire`, `checkpoint` and `reopen`."""

    operation: str
    request: dict[str, Any]
    after: State


class Work:
    """A sequence of random steps. `bulk` is the number of items in the second table."""

    def __init__(self, chance: random.Random, state: State, *, bulk: int = 10) -> None:
        self._chance = chance
        self._bulk = bulk
        self.state = state

    def next(self) -> Step:
        """Choose the next step; `state` becomes the content of the file after it."""
        chance = self._chance
        kind = chance.choices(
            ("items", "index", "other", "checkpoint", "reopen"), (12, 1, 3, 1, 1)
        )[0]
        if NAME not in self.state:
            return self._step("CreateTable", TABLE, {NAME: (_indexes(TABLE), {})})
        if kind == "items":
            indexes, items = self.state[NAME]
            operation, request, change = something(chance, 0, items)
            after = dict(items)
            apply(after, change)
            return self._step(operation, request, {NAME: (indexes, after)})
        if kind == "index":
            return self._change_index()
        if kind == "other":
            return self._change_other()
        return self._step(kind, {}, {})

    def _step(self, operation: str, request: dict[str, Any], changed: State) -> Step:
        self.state = {**self.state, **changed}
        return Step(operation, request, self.state)

    def _change_index(self) -> Step:
        """Build an index on one of the tables, or delete it."""
        name = self._chance.choice(sorted(self.state))
        indexes, items = self.state[name]
        if "extra" in indexes:
            change: dict[str, Any] = {"Delete": {"IndexName": "extra"}}
            request = {"TableName": name, "GlobalSecondaryIndexUpdates": [change]}
            return self._step("UpdateTable", request, {name: (indexes - {"extra"}, items)})
        change = {
            "Create": {
                "IndexName": "extra",
                "KeySchema": [{"AttributeName": "version", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        }
        request = {
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": "version", "AttributeType": "N"}],
            "GlobalSecondaryIndexUpdates": [change],
        }
        return self._step("UpdateTable", request, {name: (indexes | {"extra"}, items)})

    def _change_other(self) -> Step:
        if OTHER not in self.state:
            return self._step("CreateTable", table(OTHER), {OTHER: (frozenset(), {})})
        indexes, items = self.state[OTHER]
        expired = {name for name, item in items.items() if "until" in item}
        if len(items) < self._bulk and not (items and self._chance.random() < 0.1):
            first = max((int(name) for name in items), default=-1) + 1
            return self._put_other(indexes, items, range(first, first + min(self._bulk, 25)))
        if expired:
            left = {name: item for name, item in items.items() if name not in expired}
            return self._step("expire", {}, {OTHER: (indexes, left)})
        self.state = {name: held for name, held in self.state.items() if name != OTHER}
        return Step("DeleteTable", {"TableName": OTHER}, self.state)

    def _put_other(self, indexes: frozenset[str], items: dict[str, Item], numbers: range) -> Step:
        new = {str(number): self._other_item(number) for number in numbers}
        writes = [{"PutRequest": {"Item": item}} for item in new.values()]
        request = {"RequestItems": {OTHER: writes}}
        return self._step("BatchWriteItem", request, {OTHER: (indexes, items | new)})

    def _other_item(self, number: int) -> Item:
        item: Item = {
            "pk": {"S": str(number)},
            "version": {"N": str(number % 5)},
            "text": {"S": "x" * self._chance.randrange(1000)},
        }
        if self._chance.random() < 0.8:
            item["until"] = {"N": str(UNTIL)}
        return item


def _indexes(request: dict[str, Any]) -> frozenset[str]:
    kinds = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
    return frozenset(index["IndexName"] for kind in kinds for index in request.get(kind, ()))


class Worker:
    """Runs steps on a file with its own engine."""

    def __init__(self, path: Path, durability: Durability = "full") -> None:
        self.path = path
        self.durability: Durability = durability
        self.engine = Engine(path, durability=durability)

    def do(self, step: Step) -> None:
        if step.operation == "expire":
            self._expire()
        elif step.operation == "checkpoint":
            checkpoint(self.path)
        elif step.operation == "reopen":
            self.engine.close()
            self.engine = Engine(self.path, durability=self.durability)
        else:
            self.engine.call(step.operation, step.request)
            if step.operation == "UpdateTable":
                wait_for_indexes(self.engine, step.request["TableName"])

    def _expire(self) -> None:
        """Enable time to live on the second table if it is not enabled, and sweep."""
        found = self.engine.call("DescribeTimeToLive", {"TableName": OTHER})
        if found["TimeToLiveDescription"]["TimeToLiveStatus"] != "ENABLED":
            specification = {"Enabled": True, "AttributeName": "until"}
            request = {"TableName": OTHER, "TimeToLiveSpecification": specification}
            self.engine.call("UpdateTimeToLive", request)
        self.engine.expire(now=AFTER)


def checkpoint(path: Path) -> None:
    """Checkpoint the log into the file, as another process may do at any time."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(1000)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def wait_for_indexes(engine: Engine, name: str, seconds: float = BUILD_SECONDS) -> None:
    """Wait until every index of a table is built."""
    deadline = time.monotonic() + seconds
    while any(status != "ACTIVE" for status in index_states(engine, name).values()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"an index of {name} is not active after {seconds:.0f} s")
        time.sleep(0.001)


def index_states(engine: Engine, name: str) -> dict[str, str]:
    described = describe(engine, name)
    return {
        index["IndexName"]: index.get("IndexStatus", "ACTIVE")
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in described.get(kind, ())
    }


def describe(engine: Engine, name: str) -> dict[str, Any]:
    described: dict[str, Any] = engine.call("DescribeTable", {"TableName": name})["Table"]
    return described


def observe(engine: Engine) -> State:
    """Return the content of the file."""
    return {
        name: (
            frozenset(index_states(engine, name)),
            {_name(item): item for item in everything(engine, name)},
        )
        for name in tables(engine)
        if describe(engine, name)["TableStatus"] != "DELETING"
    }


def _name(item: Item) -> str:
    return "/".join(item[part]["S"] for part in ("pk", "sk") if part in item)


def problems(engine: Engine) -> list[str]:
    """Return the problems of the file, including items missing in an active index."""
    return [str(problem) for problem in engine.check().problems[:3]]


def is_result(found: State, before: State, step: Step | None) -> bool:
    """Return whether a file may have this content after `step` began without a response.

    Every step is applied completely or not at all, except expiry, which may be applied in part.
    """
    if found == before or (step is not None and found == step.after):
        return True
    if step is None or step.operation != "expire" or found.keys() != before.keys():
        return False
    left, items, old = step.after[OTHER][1], found[OTHER][1], before[OTHER][1]
    return left.items() <= items.items() <= old.items()


def difference(found: State, expected: State) -> str:
    """Describe how a state differs from the expected one."""
    if found.keys() != expected.keys():
        return f"has the tables {sorted(found)}, not {sorted(expected)}"
    for name, (indexes, items) in found.items():
        wanted_indexes, wanted = expected[name]
        if indexes != wanted_indexes:
            return f"{name} has the indexes {sorted(indexes)}, not {sorted(wanted_indexes)}"
        for kind, names in (
            ("lacks", wanted.keys() - items.keys()),
            ("has unwritten", items.keys() - wanted.keys()),
            ("has another version of", {n for n in items if items[n] != wanted.get(n)}),
        ):
            if names:
                return f"{name} {kind} {sorted(names)[:5]}"
    return "is equal"
