"""PutItem with three GSIs, compared with a bare transaction that writes the same four rows.

New items, spread over all partitions, one commit each.
"""

from __future__ import annotations

from functools import partial

from benchmarks import items
from benchmarks.bare import Bare
from benchmarks.files import build, rows_of, table_of, trees_of
from benchmarks.measure import Context, Figure, judged, take_turns
from tablewright.engine import Engine
from tablewright.storage import Durability

ROUNDS = 40


def put_item(context: Context) -> list[Figure]:
    """Measure both durabilities: `normal` is mostly CPU time, `full` adds the disk."""
    return [_put_item(context, "normal"), _put_item(context, "full")]


def _put_item(context: Context, durability: Durability) -> Figure:
    count = context.size(10_000, 1000)
    calls = context.size(1200, 160)
    name = f"PutItem, 3 GSIs, {durability}"
    path = context.folder / f"writes-{durability}.db"
    build(path, count, context.track)
    with Engine(path, durability=durability) as engine:
        table = table_of(engine)
        bare = Bare(path, [tree.name for tree in trees_of(table)], durability)
        new = range(count, count + calls)
        ours, theirs = take_turns(
            context,
            name,
            (partial(engine.call, "PutItem"), [items.put_request(n, count) for n in new]),
            (bare.put, [rows_of(table, n, count) for n in new]),
            rounds=ROUNDS,
            waits=durability == "full",
        )
        bare.close()
    return judged(name, "µs", ours, limit=theirs, limit_is="apsw, four rows", at_most=2.5)
