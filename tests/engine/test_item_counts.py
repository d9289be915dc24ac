"""ItemCount and sizes: exact for small tables, the last count in the background for large ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from tablewright.engine import Engine
from tablewright.engine.item_counts import (
    MAX_EXACT_ROWS,
    MAX_STEP_ROWS,
    MIN_AGE_SECONDS,
    ItemCounts,
)
from tablewright.storage import MissingTree, Store, Tree, WriteTransaction
from tests.engine.database import item, table_request

TREE = Tree(1)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Counted:
    """Counts of a store with one tree."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = Clock()
        self.requests = 0
        self.counts = ItemCounts(self.request, self.clock)

    def request(self) -> None:
        self.requests += 1

    def add(self, first: int, end: int) -> None:
        def write(tx: WriteTransaction) -> None:
            for number in range(first, end):
                key = crc32(b"%d" % number).to_bytes(4, "big") + b"%d" % number
                tx.put(TREE, key, 10, b"x")

        self.store.write(write)

    def count(self) -> tuple[int, int]:
        return self.store.read(lambda snapshot: self.counts.count(snapshot, TREE))

    def finish(self) -> int:
        steps = 0
        while self.counts.step(self.store):
            steps += 1
        return steps


@pytest.fixture
def counted() -> Iterator[Counted]:
    store = Store(":memory:")
    store.write(lambda tx: tx.create_tree(TREE))
    yield Counted(store)
    store.close()


def test_small_trees_are_counted_exactly(counted: Counted) -> None:
    assert counted.count() == (0, 0)
    counted.add(0, MAX_EXACT_ROWS)
    assert counted.count() == (MAX_EXACT_ROWS, 10 * MAX_EXACT_ROWS)
    assert (counted.requests, counted.counts.is_pending) == (0, False)


def test_a_large_tree_is_estimated_until_it_is_counted(counted: Counted) -> None:
    rows = MAX_STEP_ROWS + 1
    counted.add(0, rows)
    estimate, _ = counted.count()
    assert 0.9 * rows < estimate < 1.1 * rows
    assert (counted.requests, counted.counts.is_pending) == (1, True)
    assert counted.finish() == 2
    assert counted.count() == (rows, 10 * rows)
    assert (counted.requests, counted.counts.is_pending) == (1, False)


def test_a_large_tree_is_counted_again_after_a_while(counted: Counted) -> None:
    rows = MAX_EXACT_ROWS + 1
    counted.add(0, rows)
    counted.count()
    counted.finish()
    counted.add(rows, rows + 5)
    assert (counted.count(), counted.finish()) == ((rows, 10 * rows), 0)
    counted.clock.now += MIN_AGE_SECONDS + 1
    assert (counted.count(), counted.finish()) == ((rows, 10 * rows), 1)
    assert counted.count() == (rows + 5, 10 * (rows + 5))


def test_a_tree_that_became_small_is_exact_at_once(counted: Counted) -> None:
    counted.add(0, MAX_EXACT_ROWS + 1)
    counted.count()
    counted.finish()
    key = crc32(b"0").to_bytes(4, "big") + b"0"
    counted.store.write(lambda tx: tx.delete(TREE, key))
    assert counted.count() == (MAX_EXACT_ROWS, 10 * MAX_EXACT_ROWS)


def test_a_tree_that_is_dropped_is_not_counted(counted: Counted) -> None:
    counted.add(0, MAX_EXACT_ROWS + 1)
    counted.count()
    counted.store.write(lambda tx: tx.drop_tree(TREE))
    assert counted.finish() == 0
    assert not counted.counts.is_pending
    with pytest.raises(MissingTree):
        counted.count()


def fill(engine: Engine, rows: int) -> None:
    for first in range(0, rows, 25):
        puts = [
            {"PutRequest": {"Item": item(pk=str(number), sk="1")}}
            for number in range(first, min(first + 25, rows))
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"things": puts}})


def items(engine: Engine) -> int:
    found: int = engine.call("DescribeTable", {"TableName": "things"})["Table"]["ItemCount"]
    return found


def test_a_large_table_is_counted_by_maintenance(tmp_path: Path) -> None:
    """Several engines on one file count for themselves; nothing is stored."""
    path, rows = tmp_path / "things.db", MAX_EXACT_ROWS + 1
    with (
        Engine(path, durability="normal", background=False) as engine,
        Engine(path, background=False) as other,
    ):
        engine.call("CreateTable", table_request("things"))
        fill(engine, rows)
        assert 0.8 * rows < items(engine) < 1.2 * rows
        engine.finish_maintenance()
        other.finish_maintenance()
        assert items(engine) == rows
        assert other.maintain() is False
        items(other)
        assert other.maintain() is True
        assert items(other) == rows
        deleted = engine.call("DeleteTable", {"TableName": "things"})["TableDescription"]
        assert deleted["ItemCount"] == rows


def test_a_large_table_is_counted_in_the_background() -> None:
    with Engine(":memory:") as engine:
        engine.call("CreateTable", table_request("things"))
        fill(engine, MAX_EXACT_ROWS + 1)
        items(engine)
        engine.finish_maintenance()  # waits for the thread's step
        assert items(engine) == MAX_EXACT_ROWS + 1


def test_a_sandbox_leaves_no_counts() -> None:
    with Engine(":memory:", background=False) as engine:
        with engine.sandbox():
            engine.call("CreateTable", table_request("things"))
            fill(engine, MAX_EXACT_ROWS + 1)
            items(engine)
        assert engine.maintain() is False
