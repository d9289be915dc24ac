"""PutItem with a stream, compared with the same PutItem without one.

Two tables of one file, one commit for each item. The record costs most in proportion if the table
has no indexes, and if the item replaces another one: then the record has both.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import items
from benchmarks.measure import Context, Figure, judged, take_turns
from tablewright.engine import Engine

ROUNDS = 40
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def put_item(context: Context) -> list[Figure]:
    """Measure new items with and without indexes, and replaced items without indexes."""
    with Engine(context.folder / "streams.db", durability="normal") as engine:
        _create_tables(engine, "indexed", items.CREATE)
        _create_tables(engine, "plain", _without_indexes(items.CREATE))
        return [
            _put_items(context, engine, "PutItem, 3 GSIs, stream", "indexed", "first"),
            _put_items(context, engine, "PutItem, stream", "plain", "first"),
            _put_items(context, engine, "PutItem, stream, replaced items", "plain", "second"),
        ]


def _create_tables(engine: Engine, name: str, request: dict[str, Any]) -> None:
    engine.call("CreateTable", request | {"TableName": name})
    stream = {"TableName": f"{name}-watched", "StreamSpecification": STREAM}
    engine.call("CreateTable", request | stream)


def _put_items(context: Context, engine: Engine, name: str, table: str, edition: str) -> Figure:
    requests = [
        {"Item": items.item(number, 10_000) | {"edition": {"S": edition}}}
        for number in range(context.size(2400, 160))
    ]
    put = partial(engine.call, "PutItem")
    ours, theirs = take_turns(
        context,
        name,
        (put, [request | {"TableName": f"{table}-watched"} for request in requests]),
        (put, [request | {"TableName": table} for request in requests]),
        rounds=ROUNDS,
    )
    return judged(name, "µs", ours, limit=theirs, limit_is="without a stream", at_most=1.35)


def _without_indexes(request: dict[str, Any]) -> dict[str, Any]:
    definitions = [d for d in request["AttributeDefinitions"] if d["AttributeName"] in items.KEYS]
    kept = {name: value for name, value in request.items() if name != "GlobalSecondaryIndexes"}
    return kept | {"AttributeDefinitions": definitions}
