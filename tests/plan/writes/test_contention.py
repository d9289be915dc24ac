"""Writers that update one item at the same time all succeed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tablewright import connect, create
from tablewright.backoff import Backoff
from tablewright.engine import Engine
from tablewright.errors import Contention
from tablewright.server import serving
from tablewright.transport.remote import Remote
from tests.plan.writes.update.orders import Orders, Task
from tests.transports import DelayedTransport, InterferingTransport

THREADS = 8
UPDATES = 5
LATENCY = 0.010


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with Engine(tmp_path / "orders.db", durability="normal") as engine, serving(engine) as url:
        yield url


def test_8_threads_that_update_one_item_at_10_ms_latency_all_succeed(url: str) -> None:
    """A fixed delay makes the same writers collide again and again; jitter separates them."""
    with connect(url, Orders, create=True) as db:
        db.run(create(Task(task_id="1", priority=0)))
        remote = db.transport
        assert isinstance(remote, Remote)
        delayed = db.through(DelayedTransport(remote, LATENCY))

        def add(_: int) -> None:
            for _ in range(UPDATES):
                delayed.run(Task.primary("1").update(Task.priority.increment(1)))

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(add, range(THREADS)))
        found = db.run(Task.primary("1"))
    assert found is not None
    assert found.priority == THREADS * UPDATES


def test_a_write_fails_after_the_last_attempt_of_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(attempts=5, first=0.0, longest=0.0)
    )
    with Engine(":memory:") as engine:
        other = connect(engine, Orders, create=True)
        db = connect(engine, Orders)
        db.run(create(Task(task_id="1", priority=0)))
        add = Task.primary("1").update(Task.priority.increment(1))
        db._transport = race = InterferingTransport(
            db._transport, lambda _: other.run(add), times=1000
        )
        with pytest.raises(Contention, match="5 times in a row; nothing was written"):
            db.run(add)
        assert race.operations == ["GetItem", "UpdateItem"] * 5
