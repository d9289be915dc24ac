"""Growth: GetItem, Query and PutItem in a small and in a large table.

The limit of a figure is the same figure in the small table. Random items of the whole large table
are read, so most of its pages are read for the first time.
"""

from __future__ import annotations

from functools import partial

from benchmarks import items
from benchmarks.files import build
from benchmarks.measure import Context, Figure, judged, take_turns
from benchmarks.reads import draw
from tablewright.engine import Engine

SMALL = 1000


def growth(context: Context) -> list[Figure]:
    """Measure the same figures with 1,000 and with 100,000 items."""
    large = context.size(100_000, 5000)
    paths = {count: context.folder / f"growth-{count}.db" for count in (SMALL, large)}
    for count, path in paths.items():
        build(path, count, context.track)
    with (
        Engine(paths[large], durability="normal") as grown,
        Engine(paths[SMALL], durability="normal") as small,
    ):
        calls = context.size(9000, 300)
        figures = [
            _grown(
                context,
                "GetItem",
                grown,
                [items.get_request(n) for n in draw(calls, large)],
                small,
                [items.get_request(n) for n in draw(calls, SMALL)],
                large,
            ),
            _grown(
                context,
                "Query",
                grown,
                [items.query_request(n) for n in draw(calls // 5, large)],
                small,
                [items.query_request(n) for n in draw(calls // 5, SMALL)],
                large,
            ),
        ]
        # Only a few, so that the small table stays small.
        new = range(context.size(600, 60))
        figures.append(
            _grown(
                context,
                "PutItem",
                grown,
                [items.put_request(large + n * large // len(new), large) for n in new],
                small,
                [items.put_request(SMALL + n, SMALL) for n in new],
                large,
            )
        )
        assert not small.check().problems, "a built file is one that the engine could have written"
    return figures


def _grown(
    context: Context,
    operation: str,
    grown: Engine,
    requests: list[dict[str, object]],
    small: Engine,
    small_requests: list[dict[str, object]],
    large: int,
) -> Figure:
    name = f"{operation} at {large // 1000}k items"
    ours, theirs = take_turns(
        context,
        name,
        (partial(grown.call, operation), requests),
        (partial(small.call, operation), small_requests),
        rounds=30,
    )
    return judged(
        name, "µs", ours, limit=theirs, limit_is=f"at {SMALL // 1000}k items", at_most=1.6
    )
