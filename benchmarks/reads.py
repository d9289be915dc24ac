"""GetItem and Query in process, compared with apsw alone and the same decoder."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks import items
from benchmarks.bare import Bare
from benchmarks.files import build, rows_of, table_of, trees_of
from benchmarks.measure import Context, Figure, judged, take_turns
from tablewright.encoding.keys import end_of_prefix
from tablewright.engine import Engine
from tablewright.engine.tables.table import StoredTable
from tablewright.values import Item

ROUNDS = 30


def get_item(context: Context) -> list[Figure]:
    """Measure GetItem."""
    with side_by_side(context) as (engine, bare, table, count):
        ns = draw(context.size(12_000, 600), count)
        requests = [items.get_request(n) for n in ns]
        keys = [rows_of(table, n, count)[0][0] for n in ns]
        assert engine.call("GetItem", requests[0])["Item"] == bare.get(keys[0])
        ours, theirs = take_turns(
            context,
            "GetItem",
            (partial(engine.call, "GetItem"), requests),
            (bare.get, keys),
            rounds=ROUNDS,
        )
    return [judged("GetItem", "µs", ours, limit=theirs, limit_is="apsw get + decode", at_most=2)]


def query(context: Context) -> list[Figure]:
    """Measure a Query of 20 items, in the table and in an index."""
    with side_by_side(context) as (engine, bare, table, count):
        ns = draw(context.size(1800, 90), count)
        requests = [items.query_request(n) for n in ns]
        on_index = [items.index_query_request(n, count) for n in ns]
        tree = 1 + table.indexes.index(table.indexes_by_name[items.INDEX])
        return [
            _query(
                context,
                name,
                (partial(engine.call, "Query"), sent),
                (partial(bare.query, at), [partition_of(table, n, count, tree=at) for n in ns]),
            )
            for name, sent, at in (
                ("Query, 20 items", requests, 0),
                ("Query, 20 items of a GSI", on_index, tree),
            )
        ]


def _query(
    context: Context,
    name: str,
    figure: tuple[Callable[[dict[str, Any]], dict[str, Any]], Sequence[dict[str, Any]]],
    limit: tuple[Callable[[tuple[bytes, bytes]], list[Item]], Sequence[tuple[bytes, bytes]]],
) -> Figure:
    found = figure[0](figure[1][0])["Items"]
    assert len(found) == items.PARTITION
    assert found == limit[0](limit[1][0])
    ours, theirs = take_turns(context, name, figure, limit, rounds=ROUNDS)
    return judged(name, "µs", ours, limit=theirs, limit_is="apsw range + decode", at_most=2)


@contextmanager
def side_by_side(context: Context) -> Iterator[tuple[Engine, Bare, StoredTable, int]]:
    """Yield the engine and apsw alone on two files with the same items, and their number."""
    count = context.size(10_000, 1000)
    path = context.folder / "reads.db"
    if not path.exists():
        build(path, count, context.track)
    with Engine(path) as engine:
        table = table_of(engine)
        bare = Bare(path, [tree.name for tree in trees_of(table)], "full")
        try:
            yield engine, bare, table, count
        finally:
            bare.close()


def draw(calls: int, count: int) -> list[int]:
    """Return the numbers of the items to read, the same in every run."""
    chance = random.Random(calls)
    return [chance.randrange(count) for _ in range(calls)]


def partition_of(table: StoredTable, n: int, count: int, *, tree: int) -> tuple[bytes, bytes]:
    """Return the range of keys of the partition of item `n`, in the table or in an index."""
    item = items.item(n, count)
    keys = table.schema.keys if tree == 0 else table.indexes[tree - 1].schema.keys
    name = keys.partition[0].name
    key = rows_of(table, n, count)[tree][0]
    # 4 bytes of checksum, then the partition key, then its end: two zeros.
    start = key[: 4 + len(item[name]["S"]) + 2]
    end = end_of_prefix(start)
    assert end is not None
    return start, end
