"""PutItem with a stream, compared with the same PutItem without one.

Two tables of one file, without indexes: there the record of the stream costs most in proportion.
One commit for each item.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from benchmarks import items
from benchmarks.measure import Context, Figure, judged, take_turns
from tablewright.engine import Engine

ROUNDS = 40
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def put_item(context: Context) -> list[Figure]:
    """Measure new items, and items that replace others, whose records have both images."""
    calls = context.size(4800, 160)
    with Engine(context.folder / "streams.db", durability="normal") as engine:
        for table, stream in (("plain", {}), ("watched", {"StreamSpecification": STREAM})):
            request = _without_indexes(items.CREATE) | {"TableName": table}
            engine.call("CreateTable", request | stream)
        return [
            _put_items(context, engine, "PutItem, stream, new items", range(calls)),
            _put_items(
                context, engine, "PutItem, stream, replaced items", range(calls), note="replaced"
            ),
        ]


def _put_items(
    context: Context, engine: Engine, name: str, numbers: Iterable[int], note: str = ""
) -> Figure:
    requests = [items.put_request(number, 10_000) for number in numbers]
    for request in requests:
        request["Item"]["note2"] = {"S": note}
    put = partial(engine.call, "PutItem")
    ours, theirs = take_turns(
        context,
        name,
        (put, [request | {"TableName": "watched"} for request in requests]),
        (put, [request | {"TableName": "plain"} for request in requests]),
        rounds=ROUNDS,
    )
    return judged(name, "µs", ours, limit=theirs, limit_is="without a stream", at_most=1.35)


def _without_indexes(request: dict[str, Any]) -> dict[str, Any]:
    definitions = [d for d in request["AttributeDefinitions"] if d["AttributeName"] in items.KEYS]
    kept = {name: value for name, value in request.items() if name != "GlobalSecondaryIndexes"}
    return kept | {"AttributeDefinitions": definitions}
