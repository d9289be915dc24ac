"""Readers know the tables that are committed, and no others, while a writer changes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import (
    DynamoDBError,
    ResourceNotFoundException,
    StoreClosed,
    ValidationException,
)
from tests.durability.test_sharing import ITEM, KEY, RED, REMOVING, adding, table

GET_NEW = {"TableName": "new", "Key": KEY}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine on a file with a table, `shared`, that has some items."""
    with Engine(tmp_path / "shared.db", durability="normal") as engine:
        engine.call("CreateTable", table())
        for number in range(100):
            item = {**ITEM, "pk": {"S": str(number)}}
            engine.call("PutItem", {"TableName": "shared", "Item": item})
        yield engine


@contextmanager
def uncommitted(engine: Engine, operation: str, request: dict[str, Any]) -> Iterator[None]:
    """Do an operation in a commit that is not done before the block ends."""
    entered, go_on = threading.Event(), threading.Event()

    def hold(context: WriteContext) -> None:
        entered.set()
        assert go_on.wait(60)

    step = engine.prepare(operation, request)
    assert isinstance(step, WriteStep)
    results: list[bytes | BaseException] = []
    writer = threading.Thread(
        target=lambda: results.extend(engine.write_all([step, WriteStep(hold)])), daemon=True
    )
    writer.start()
    try:
        assert entered.wait(30)
        yield
    finally:
        go_on.set()
        writer.join(30)
    assert all(isinstance(result, bytes) for result in results)


def test_a_table_is_not_there_before_it_is_committed(engine: Engine) -> None:
    with uncommitted(engine, "CreateTable", table("new")):
        with pytest.raises(ResourceNotFoundException):
            engine.call("GetItem", GET_NEW)
        assert engine.call("ListTables") == {"TableNames": ["shared"]}
        assert engine.check()
    assert engine.call("GetItem", GET_NEW) == {}


def test_an_index_is_not_there_before_it_is_committed(engine: Engine) -> None:
    with uncommitted(engine, "UpdateTable", adding("colour")):
        with pytest.raises(ValidationException, match="does not have the specified index"):
            engine.call("Query", RED)
        assert engine.check()
    assert engine.call("Query", RED)["Count"] == 100


def test_a_table_is_there_until_its_removal_is_committed(engine: Engine) -> None:
    with uncommitted(engine, "DeleteTable", {"TableName": "shared"}):
        assert engine.call("Scan", {"TableName": "shared"})["Count"] == 100
        assert engine.check()
    with pytest.raises(ResourceNotFoundException):
        engine.call("Scan", {"TableName": "shared"})


def test_an_index_is_there_until_its_removal_is_committed(engine: Engine) -> None:
    engine.call("UpdateTable", adding("colour"))
    with uncommitted(engine, "UpdateTable", REMOVING):
        assert engine.call("Query", RED)["Count"] == 100
        assert engine.check()
    with pytest.raises(ValidationException, match="does not have the specified index"):
        engine.call("Query", RED)


def test_readers_of_an_engine_that_is_closed_are_told_so(tmp_path: Path) -> None:
    for turn in range(5):
        engine = Engine(tmp_path / f"{turn}.db", durability="normal")
        engine.call("CreateTable", table())
        engine.call("PutItem", {"TableName": "shared", "Item": ITEM})
        outcomes: list[type[Exception]] = []
        ready = threading.Barrier(4)

        def work(
            engine: Engine, operation: str, outcomes: list[Any], ready: threading.Barrier
        ) -> None:
            request: dict[str, Any] = {"TableName": "shared"}
            request |= {"Item": ITEM} if operation == "PutItem" else {}
            engine.call(operation, request)
            ready.wait(30)
            try:
                while True:
                    engine.call(operation, request)
            except Exception as error:
                outcomes.append(type(error))

        threads = [
            threading.Thread(target=work, args=(engine, operation, outcomes, ready), daemon=True)
            for operation in ("Scan", "Scan", "PutItem")
        ]
        for thread in threads:
            thread.start()
        ready.wait(30)
        engine.close()
        for thread in threads:
            thread.join(30)
        assert outcomes == [StoreClosed] * 3


@pytest.mark.slow
def test_readers_get_answers_or_faults_while_tables_come_and_go(engine: Engine) -> None:
    stop = threading.Event()
    wrong: list[object] = []
    done: dict[str, int] = {}

    def again_and_again(name: str, work: Callable[[], object]) -> None:
        while not stop.is_set():
            try:
                if not work():
                    wrong.append(name)
            except DynamoDBError:
                pass
            except Exception as error:
                wrong.append((name, error))
            done[name] = done.get(name, 0) + 1

    watched: dict[str, Callable[[], object]] = {
        "get": lambda: engine.call("GetItem", GET_NEW) in ({}, {"Item": ITEM}),
        "query": lambda: engine.call("Query", RED)["Count"] == 100,
        "scan": lambda: engine.call("Scan", {"TableName": "shared"})["Count"] == 100,
        "check": engine.check,
    }
    threads = [
        threading.Thread(target=again_and_again, args=pair, daemon=True) for pair in watched.items()
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50):
            engine.call("CreateTable", table("new"))
            engine.call("UpdateTable", adding("colour"))
            engine.call("PutItem", {"TableName": "new", "Item": ITEM})
            engine.call("UpdateTable", REMOVING)
            engine.call("DeleteTable", {"TableName": "new"})
        while len(done) < len(watched) and any(thread.is_alive() for thread in threads):
            pass  # each has read at least once
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert wrong == []
    assert engine.check()
