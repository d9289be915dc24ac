"""A file is swept while it is open: expired items of tables with TTL disappear by themselves."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tablewright import Attr, Entity, Table, attr, connect, connect_async, key, put, ttl
from tablewright.engine import Engine
from tablewright.engine.expiry import Sweeper, _sweep
from tablewright.transport.targets import open_target
from tests.engine.database import item, table_request
from tests.engine.streaming import read_stream

#: So short that a thread sweeps at once.
SOON = 0.001
KEY = item(pk="a", sk="1")
SPECIFICATION = {"Enabled": True, "AttributeName": "until"}
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def past() -> dict[str, str]:
    return {"N": str(int(time.time()) - 60)}


def create(engine: Engine, **settings: Any) -> None:
    """Create a table with TTL and an expired item."""
    engine.call("CreateTable", table_request("things", **settings))
    engine.call("PutItem", {"TableName": "things", "Item": KEY | {"until": past()}})
    request = {"TableName": "things", "TimeToLiveSpecification": SPECIFICATION}
    engine.call("UpdateTimeToLive", request)


def is_stored(engine: Engine) -> bool:
    return "Item" in engine.call("GetItem", {"TableName": "things", "Key": KEY})


def await_false(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while condition():
        assert time.monotonic() < deadline


def sweepers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tablewright-sweeper"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


@pytest.fixture
def file(path: Path) -> Path:
    """A closed file with a table with TTL and an expired item."""
    with Engine(path) as engine:
        create(engine)
    return path


def test_an_expired_item_is_deleted_where_ttl_was_enabled_before(file: Path) -> None:
    with Engine(file, sweep_seconds=SOON) as engine:
        await_false(lambda: is_stored(engine))


def test_sweeping_starts_when_ttl_is_enabled(path: Path) -> None:
    with Engine(path, sweep_seconds=SOON) as engine:
        assert not sweepers()
        create(engine)
        await_false(lambda: is_stored(engine))


def test_a_table_without_ttl_is_not_swept(path: Path) -> None:
    with Engine(path, sweep_seconds=SOON) as engine:
        engine.call("CreateTable", table_request("kept"))
        kept = {"TableName": "kept", "Item": KEY | {"until": past()}}
        engine.call("PutItem", kept)
        assert not sweepers()
        create(engine)
        await_false(lambda: is_stored(engine))
        assert engine.call("Scan", {"TableName": "kept"})["Count"] == 1


@pytest.mark.parametrize("settings", [{"sweep_seconds": None}, {"background": False}], ids=str)
def test_sweeping_can_be_turned_off(file: Path, settings: dict[str, Any]) -> None:
    with Engine(file, **{"sweep_seconds": SOON, **settings}) as engine:
        engine.call("PutItem", {"TableName": "things", "Item": item(pk="b", sk="1")})
        assert not sweepers()


def test_a_database_in_memory_is_not_swept() -> None:
    with Engine(sweep_seconds=SOON) as engine:
        create(engine)
        assert not sweepers()


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_an_invalid_time_is_refused(path: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match="sweep_seconds must be positive, or None to keep"):
        Engine(path, sweep_seconds=seconds)
    assert not path.exists()


def test_a_target_of_a_command_is_not_swept(file: Path) -> None:
    """`copy`, `dump`, the studio: they read what is stored, and must not change it."""
    open_target(file).close()
    transport = open_target(file)
    assert not sweepers()
    transport.close()


def test_the_thread_ends_with_the_engine(file: Path) -> None:
    with Engine(file):
        (thread,) = sweepers()
    assert not thread.is_alive()


def test_an_engine_that_is_not_closed_is_freed_with_its_thread(file: Path) -> None:
    engine = Engine(file)
    (thread,) = sweepers()
    del engine
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


def test_a_process_ends_without_closing_its_engine(file: Path) -> None:
    program = "import sys; from tablewright import Engine; engine = Engine(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(file)], check=True, timeout=30)


def test_a_forked_process_starts_no_thread(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(file, sweep_seconds=None) as engine:
        sweeper = Sweeper(engine._store, engine._writer_catalog, SOON)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        sweeper.start()
        monkeypatch.undo()
        assert not sweepers()


def test_nothing_is_swept_in_a_sandbox(file: Path) -> None:
    with Engine(file, sweep_seconds=None) as engine:
        store, catalog = engine._store, engine._writer_catalog
        with engine.sandbox():
            assert _sweep(store, catalog, threading.Event()) == 0
            assert is_stored(engine)
        assert _sweep(store, catalog, threading.Event()) > 0
        assert not is_stored(engine)


def test_a_sweep_stops_between_two_steps(file: Path) -> None:
    with Engine(file, sweep_seconds=None) as engine:
        stop = threading.Event()
        stop.set()
        _sweep(engine._store, engine._writer_catalog, stop)
        assert not is_stored(engine)  # the first step
        engine.call("PutItem", {"TableName": "things", "Item": KEY})
        assert is_stored(engine)


def test_several_engines_sweep_one_file(path: Path) -> None:
    with Engine(path, sweep_seconds=SOON) as one, Engine(path, sweep_seconds=SOON) as two:
        create(one, StreamSpecification=STREAM)
        two.call("PutItem", {"TableName": "things", "Item": item(pk="b", sk="1")})
        await_false(lambda: is_stored(one) or is_stored(two))
        arn = one.call("DescribeTable", {"TableName": "things"})["Table"]["LatestStreamArn"]
        names = [record["eventName"] for record in read_stream(one.call, arn)]
        assert names.count("REMOVE") == 1
        assert one.check()


class Swept(Table, name="swept"): ...


class Visit(Entity, table=Swept):
    name: Attr[str] = attr()
    until: Attr[datetime] = ttl()
    primary = key("VISIT", name)


VISIT = Visit.primary("a")


def old_visit() -> Visit:
    return Visit(name="a", until=datetime.now(UTC) - timedelta(minutes=1))


def test_a_connected_database_sweeps(path: Path) -> None:
    with connect(path, Swept, sweep_seconds=SOON) as db:
        db.run(put(old_visit()))
        await_false(lambda: db.run(VISIT))


def test_a_connected_database_keeps_expired_items_on_request(path: Path) -> None:
    with connect(path, Swept, sweep_seconds=None):
        assert not sweepers()


def test_an_async_database_sweeps(path: Path) -> None:
    async def use() -> None:
        async with connect_async(path, Swept, sweep_seconds=SOON) as db:
            await db.run(put(old_visit()))
            while await db.run(VISIT):
                pass

    asyncio.run(asyncio.wait_for(use(), 30))


def test_closing_does_not_wait_for_another_process_that_writes(path: Path) -> None:
    with (
        Engine(path, sweep_seconds=None) as other,
        Engine(path, sweep_seconds=None, busy_seconds=600) as engine,
    ):
        create(other)
        with other.sandbox():  # it holds the lock of the file
            sweeper = Sweeper(engine._store, engine._writer_catalog, SOON)
            sweeper.start()
            await_false(lambda: not sweepers())
            sweeper.close()  # it would wait for ten minutes
        assert is_stored(other)
