"""Checkpoints and pages: nothing is lost without an error."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import Engine, connect, put
from tablewright.errors import InvalidCursor
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tests.plan.streams.test_events import Order, Shop
from tests.transports import RecordingLocal

ENABLED = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@pytest.mark.parametrize("is_read", [True, False])
def test_a_checkpoint_in_a_shard_that_is_gone_is_an_error(is_read: bool) -> None:
    """The shard was closed after the checkpoint, and forgotten a day later, with its records."""
    now = datetime.now(UTC).timestamp()
    with Engine() as engine, connect(engine, Shop) as db:
        if is_read:
            db.run(put(Order(customer="a", order_id="1")))
        events = db.stream_events(Order)
        assert len(list(events)) == is_read
        db.run(put(Order(customer="a", order_id="2")))
        engine.rotate_shards("shop")
        assert len(list(db.stream_events(Order, after=events.checkpoint))) == 1
        engine.trim(now + 25 * 60 * 60)
        with pytest.raises(InvalidCursor, match="24 hours"):
            list(db.stream_events(Order, after=events.checkpoint))


def test_a_checkpoint_in_a_stream_that_is_gone_is_an_error() -> None:
    now = datetime.now(UTC).timestamp()
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(put(Order(customer="a", order_id="1")))
        events = db.stream_events(Order)
        assert len(list(events)) == 1
        for enabled in ({"StreamEnabled": False}, ENABLED):
            engine.call("UpdateTable", {"TableName": "shop", "StreamSpecification": enabled})
            engine.trim(now + 25 * 60 * 60)
        with pytest.raises(InvalidCursor, match="24 hours"):
            list(db.stream_events(Order, after=events.checkpoint))


def test_a_checkpoint_forgets_what_is_gone() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        checkpoint, sizes = None, []
        for number in range(4):
            db.run(put(Order(customer="a", order_id=str(number))))
            events = db.stream_events(Order, after=checkpoint)
            assert len(list(events)) == 1
            engine.rotate_shards("shop")
            assert not list(events)  # it reads to the end of the closed shard
            checkpoint = events.checkpoint
            sizes.append(len(checkpoint))
            engine.trim(datetime.now(UTC).timestamp() + (number + 1) * 25 * 60 * 60)
        assert len(set(sizes[1:])) == 1


class EmptyPages(RecordingLocal):
    """Returns empty pages before the records of a shard, as AWS may do."""

    def __init__(self, inner: Local, count: int) -> None:
        super().__init__(inner)
        self._left = count

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation == "GetRecords" and self._left:
            self._left -= 1
            page = {"Records": [], "NextShardIterator": request["ShardIterator"]}
            return Response(json.dumps(page).encode())
        return super().send(operation, request)


def test_an_empty_page_does_not_end_the_stream() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(put(Order(customer="a", order_id="1")))
        db._transport = EmptyPages(db._transport, count=3)  # type: ignore[arg-type]
        assert len(list(db.stream_events(Order))) == 1
