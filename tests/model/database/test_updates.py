"""connect(…, update=True) adds the global indexes and the TTL that a table lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    connect_async,
    index,
    key,
    put,
    ttl,
)
from tablewright.engine import maintenance
from tablewright.engine.realism import Realism
from tablewright.errors import LimitExceededException, TableMismatch
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import run
from tablewright.server import serving
from tablewright.transport import Response, tables
from tablewright.transport.targets import Local
from tests.model.database.shop import described, ttl_of
from tests.new_table import new_table


class TaskFields(Entity):
    task_id: Attr[str] = attr()
    owner: Attr[str] = attr(default="ann")
    rank: Attr[int] = attr(default=1)
    primary = key("TASK" / task_id, "TASK")


First = new_table("tasks")


class FirstTask(TaskFields, table=First, type_name="Task"): ...


class Second(Table, name="tasks"):
    by_owner = GSI("owner", "rank", project=("expires",))
    by_rank = GSI("rank", name="ranks")


class Task(TaskFields, table=Second):
    gone: Attr[datetime | None] = ttl(name="expires", default=None)
    owned = index(Second.by_owner, TaskFields.owner, TaskFields.rank)
    ranked = index(Second.by_rank, TaskFields.rank)


class Unfit(Table, name="tasks"):
    by_owner = GSI("owner")
    local = LSI("rank")


class UnfitTask(Entity, table=Unfit, type_name="Task"):
    task_id: Attr[str] = attr()
    owner: Attr[str] = attr()
    rank: Attr[int] = attr()
    primary = key("TASK" / task_id, "TASK")
    owned = index(Unfit.by_owner, owner)
    ranked = primary.local(Unfit.local, rank)


@pytest.fixture(autouse=True)
def _no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FIRST_DELAY", 0.0)


@pytest.fixture(params=["file", "endpoint", "slow endpoint"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a table of the first version is, with three items."""
    file = str(tmp_path / "tasks.db")
    with connect(file, First) as db:
        for number in range(3):
            db.run(put(FirstTask(task_id=str(number), rank=number)))
    with ExitStack() as stack:
        if request.param == "file":
            yield file
            return
        engine = stack.enter_context(Engine(file))
        if request.param == "slow endpoint":
            engine.make_realistic(Realism(control_seconds=0.02, lag_seconds=0))
        yield stack.enter_context(serving(engine))


def test_missing_indexes_and_ttl_are_added(target: str, tmp_path: Path) -> None:
    with pytest.raises(TableMismatch, match=r"index ranks: .* connect\(…, update=True\) adds it"):
        connect(target, Second, create=False)
    with connect(target, Second, update=True) as db:
        assert [task.task_id for task in db.run(Task.owned("ann").gt(0))] == ["1", "2"]
        assert [task.task_id for task in db.run(Task.ranked(2))] == ["2"]
    with connect(target, Second, create=False) as db:
        assert len(db.run(Task.owned("ann"))) == 3
    with Engine(tmp_path / "tasks.db") as engine:
        assert ttl_of(engine, "tasks")["AttributeName"] == "expires"
        assert engine.check()


def test_an_event_loop_adds_them_too(tmp_path: Path) -> None:
    connect(tmp_path / "tasks.db", First).close()

    async def main() -> None:
        async with connect_async(tmp_path / "tasks.db", Second, update=True) as db:
            await db.run(put(Task(task_id="1")))
            assert len(await db.run(Task.owned("ann"))) == 1

    asyncio.run(main())


def test_nothing_is_removed_or_changed() -> None:
    with Engine() as engine:
        connect(engine, Second, update=True)
        before = described(engine, "tasks")
        connect(engine, First, update=True)
        connect(engine, Second, update=True)
        assert described(engine, "tasks") == before


def test_nothing_is_added_if_something_else_differs() -> None:
    with Engine() as engine:
        connect(engine, First)
        before = described(engine, "tasks")
        with pytest.raises(TableMismatch) as refused:
            connect(engine, Unfit, update=True)
        assert str(refused.value).splitlines()[1:] == [
            "  index local: declared but missing; a local index is created with its table"
        ]
        assert described(engine, "tasks") == before


def test_an_index_of_a_provisioned_table_gets_its_throughput() -> None:
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 3}
    with Engine() as engine:
        connect(engine, First)
        change = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
        engine.call("UpdateTable", {"TableName": "tasks", **change})
        connect(engine, Second, update=True)
        for each in described(engine, "tasks")["GlobalSecondaryIndexes"]:
            assert each["ProvisionedThroughput"].items() >= units.items()


def test_processes_that_add_the_same_indexes_at_once_all_get_them() -> None:
    """Between our look and each of our requests, another process adds the index."""
    with Engine() as engine, connect(":memory:", Second) as some:
        connect(engine, First)
        local = Local(engine)
        added: list[str] = []

        def send(operation: str, request: dict[str, Any]) -> Response:
            if operation == "UpdateTable":
                added.append(request["GlobalSecondaryIndexUpdates"][0]["Create"]["IndexName"])
                local.send(operation, request)
            return local.send(operation, request)

        run(Provision(Second.__table__, create=False, update=True), some._context, send)
        assert added == ["by_owner", "ranks"]
        connect(engine, Second, create=False)


def test_an_index_that_another_process_is_adding_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DynamoDB refuses a second index until the first one is built."""
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 1)
    with Engine(background=False) as engine, connect(":memory:", Second) as some:
        db = connect(engine, First)
        for number in range(3):
            db.run(put(FirstTask(task_id=str(number))))
        local = Local(engine)
        refused: list[bool] = []

        def send(operation: str, request: dict[str, Any]) -> Response:
            if operation == "DescribeTable" and refused:
                engine.maintain()
            if operation == "UpdateTable" and not refused:
                refused.append(True)
                other = request["GlobalSecondaryIndexUpdates"][0]["Create"]["KeySchema"]
                projection = {"ProjectionType": "ALL"}
                create = {"IndexName": "other", "KeySchema": other, "Projection": projection}
                local.send(
                    operation, request | {"GlobalSecondaryIndexUpdates": [{"Create": create}]}
                )
                with pytest.raises(LimitExceededException):
                    local.send(operation, request)
            return local.send(operation, request)

        run(Provision(Second.__table__, create=False, update=True), some._context, send)
        names = {each["IndexName"] for each in described(engine, "tasks")["GlobalSecondaryIndexes"]}
        assert names == {"by_owner", "ranks", "other"}
        assert not engine.maintain()
