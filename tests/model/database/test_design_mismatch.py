"""Declared keys that differ from the stored keys are a DesignMismatch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
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
    unique,
)
from tablewright.errors import DesignMismatch, IndexNotReady, KeyDifference
from tablewright.formats import lower, upper
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.provision import Provision
from tablewright.plan.backfill.index_record import begin_record
from tablewright.plan.plan import Context, Plan, Steps, Unready, run
from tablewright.plans import backfill
from tablewright.server import serving
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tablewright.values import Item
from tests.new_table import new_indexed_table


def declare(
    *,
    place: Callable[[Any], Any] = lambda status: "STATUS" / status,
    first: Callable[[Any], Any] = lambda task_id: "TASK" / task_id,
    when: Callable[[Any], Any] = lambda status: None,
    reserve: Callable[[Any], Any] | None = None,
    **settings: Any,
) -> tuple[type[Table], Any]:
    """Return a version of the design, and its entity."""

    tasks = new_indexed_table("tasks", **settings)

    class Task(Entity, table=tasks):
        task_id: Attr[str] = attr()
        status: Attr[str] = attr(default="open")
        email: Attr[str] = attr(default="a@x")
        primary = key(first(task_id), "TASK")
        by_status = index(tasks.gsi1, place(status), "TASK" / task_id, when=when(status))
        if reserve is not None:
            by_email = unique(reserve(email))

    return tasks, Task


FIRST, Task = declare()
CHANGES = {
    "template": declare(place=lambda status: "STATE" / status),
    "format": declare(place=lambda status: "STATUS" / upper(status)),
    "when": declare(when=lambda status: status != "done"),
    "delimiter": declare(delimiter=":"),
    "escaping": declare(escape=False),
    "primary key": declare(first=lambda task_id: "T" / task_id),
}
UNIQUE, _ = declare(reserve=lambda email: "EMAIL" / email)
LOWER, _ = declare(reserve=lambda email: "EMAIL" / lower(email))


@pytest.fixture(params=["memory", "file", "endpoint"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Where a task of the first version is, in a table with a record."""
    with ExitStack() as stack:
        engine: Any = stack.enter_context(Engine())
        found = {"memory": engine, "file": tmp_path / "tasks.db"}.get(request.param)
        found = found or stack.enter_context(serving(engine))
        with connect(found, FIRST, create=True, update=True) as db:
            db.run(put(Task(task_id="1")))
        yield found


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        connect(engine, FIRST, update=True).run(put(Task(task_id="1")))
        yield engine


def record(engine: Engine) -> Item:
    request = {"TableName": "tasks", "Key": record_key(FIRST.__table__)}
    item: Item = engine.call("GetItem", request)["Item"]
    return item


def unready(engine: Engine, table: type[Table], *, update: bool = False) -> Unready | None:
    found = connect(engine, table, update=update)._context.unready
    return (found or {}).get(table.__table__)


def run_on(engine: Engine, table: type[Table], plan: Plan[Any]) -> Any:
    """Run a plan without `connect`, as the command `backfill` does."""
    context = Context(names={table.__table__: "tasks"}, secret=b"")
    return run(plan, context, Local(engine).send)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("update", [False, True])
def test_a_changed_key_is_refused(target: Any, change: str, update: bool) -> None:
    with pytest.raises(DesignMismatch):
        connect(target, CHANGES[change][0], update=update)
    with connect(target, FIRST, update=update) as db:  # nothing has changed
        assert len(db.run(Task.by_status("open"))) == 1


def test_the_error_names_both_keys_and_the_guide(engine: Engine) -> None:
    with pytest.raises(DesignMismatch) as refused:
        connect(engine, CHANGES["template"][0])
    assert str(refused.value) == (
        "the keys that the design declares for the table 'tasks' differ from the stored keys, so "
        "reads would miss stored items:\n"
        "  Task, the index gsi1: stored as GSI1PK=STATUS#{status}, GSI1SK=TASK#{task_id}, declared "
        "as GSI1PK=STATE#{status}, GSI1SK=TASK#{task_id}\n"
        "Declare the keys as they are stored, or rewrite the stored keys: see 'Change a key' in "
        "the guide 'Tables without a version', or run `tablewright help changes`"
    )
    assert refused.value.differences == (
        KeyDifference(
            "Task",
            "the index gsi1",
            "GSI1PK=STATUS#{status}, GSI1SK=TASK#{task_id}",
            "GSI1PK=STATE#{status}, GSI1SK=TASK#{task_id}",
        ),
    )


def test_an_event_loop_refuses_it(engine: Engine) -> None:
    async def main() -> None:
        with pytest.raises(DesignMismatch):
            await connect_async(engine, CHANGES["template"][0])

    asyncio.run(main())


def test_a_backfill_changes_an_index_key_in_place(engine: Engine) -> None:
    table, changed = CHANGES["template"]
    assert run_on(engine, table, backfill(table)) == 1
    db = connect(engine, table)
    assert [task.task_id for task in db.run(changed.by_status("open"))] == ["1"]
    with pytest.raises(DesignMismatch):  # the old version misses it
        connect(engine, FIRST)


def test_a_backfill_that_was_interrupted_lets_only_the_new_version_connect(engine: Engine) -> None:
    table, _ = CHANGES["template"]

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on(engine, table, backfill(table, progress=stop))
    with pytest.raises(DesignMismatch):
        connect(engine, FIRST)
    assert unready(engine, table) == Unready({}, frozenset({("gsi1", "Task")}))
    run_on(engine, table, backfill(table))
    assert unready(engine, table) is None


def test_an_interrupted_backfill_of_another_condition_is_not_continued(engine: Engine) -> None:
    """Items that it has passed may have keys that the condition takes away."""
    first, _ = CHANGES["when"]
    second, _ = declare(when=lambda status: status == "done")
    pages: list[Any] = []

    def in_pages(operation: str, request: dict[str, Any]) -> Response:
        pages.append(request.get("ExclusiveStartKey"))
        return Local(engine).send(
            operation, request | ({"Limit": 1} if operation == "Scan" else {})
        )

    def stop(_: object) -> None:
        if len(pages) > 4:
            raise KeyboardInterrupt

    context = Context(names={first.__table__: "tasks", second.__table__: "tasks"}, secret=b"")
    with pytest.raises(KeyboardInterrupt):
        run(backfill(first, progress=stop), context, in_pages)
    assert run(backfill(second), context, in_pages) == 1


def test_a_backfill_of_an_older_design_does_not_complete_a_newer_one(engine: Engine) -> None:
    """The older one is still running when the newer one ends, and writes its keys over."""
    table, changed = CHANGES["template"]

    def overtake(_: object) -> None:
        run_on(engine, table, backfill(table))

    with pytest.raises(DesignMismatch, match="the index gsi1: stored as GSI1PK=STATE#"):
        run_on(engine, FIRST, backfill(FIRST, progress=overtake))

    db = connect(engine, table)
    with pytest.raises(IndexNotReady):
        db.run(changed.by_status("open"))
    db.run(backfill(table))
    assert len(db.run(changed.by_status("open"))) == 1


def test_a_dry_run_records_nothing(engine: Engine) -> None:
    table, _ = CHANGES["template"]
    before = record(engine)
    assert run_on(engine, table, backfill(table, dry_run=True)) == 1
    assert record(engine) == before


def test_a_backfill_refuses_another_primary_key(engine: Engine) -> None:
    table, _ = CHANGES["primary key"]
    with pytest.raises(DesignMismatch, match="Task, the primary key: stored as PK=TASK#"):
        run_on(engine, table, backfill(table))
    connect(engine, FIRST)


def forget(engine: Engine, *prefixes: str) -> None:
    """Make the record one of an earlier version, which had no descriptions."""
    names = [name for name in record(engine) if name.startswith(prefixes)]
    for name in names:
        engine.call(
            "UpdateItem",
            {
                "TableName": "tasks",
                "Key": record_key(FIRST.__table__),
                "UpdateExpression": "REMOVE #n",
                "ExpressionAttributeNames": {"#n": name},
            },
        )


def test_a_record_of_an_earlier_version_is_accepted_and_completed(engine: Engine) -> None:
    before = record(engine)
    forget(engine, "$key", "$index", "$unique")
    for changed, _ in CHANGES.values():
        connect(engine, changed)
    assert unready(engine, UNIQUE) is None
    connect(engine, FIRST, update=True)
    assert record(engine) == before


def test_a_backfill_completes_a_record_of_an_earlier_version(engine: Engine) -> None:
    forget(engine, "$key", "$index")
    connect(engine, UNIQUE).run(backfill(UNIQUE))
    assert unready(engine, UNIQUE) is None
    found = record(engine)
    assert found["$key Task"] == {"S": "PK=TASK#{task_id}, SK=TASK"}
    assert found["$unique Task.by_email Task"] == {"S": "PK=EMAIL#{email}, SK=EMAIL#{email}"}
    assert "unique Task.by_email Task" in found["$complete"]["SS"]


def test_a_table_without_a_record_is_accepted() -> None:
    with Engine() as engine:
        connect(engine, FIRST)
        for changed, _ in CHANGES.values():
            connect(engine, changed)


def test_a_unique_value_of_a_new_table_is_reserved() -> None:
    with Engine() as engine:
        assert unready(engine, UNIQUE, update=True) is None
        assert unready(engine, UNIQUE) is None


@pytest.mark.parametrize("update", [False, True])
def test_a_unique_value_that_was_added_is_not_reserved(engine: Engine, update: bool) -> None:
    added = Unready({}, frozenset(), frozenset({("Task.by_email", "Task")}))
    for _ in range(2):
        assert unready(engine, UNIQUE, update=update) == added


def test_a_unique_value_with_another_name_in_python_is_the_same() -> None:
    tasks = new_indexed_table("tasks")

    class Job(Entity, table=tasks, type_name="Task"):
        task_id: Attr[str] = attr()
        status: Attr[str] = attr(default="open")
        mail: Attr[str] = attr(name="email", default="a@x")
        primary = key("TASK" / task_id, "TASK")
        of_mail = unique("EMAIL" / mail)

    with Engine() as engine:
        connect(engine, UNIQUE, update=True)
        assert unready(engine, tasks) is None


def test_a_changed_unique_value_is_refused_and_must_be_reserved_again() -> None:
    with Engine() as engine:
        connect(engine, UNIQUE, update=True)
        with pytest.raises(DesignMismatch, match=r"the unique value Task\.by_email: stored as PK="):
            connect(engine, LOWER)


class _Begin(Plan[None]):
    """What another process does that connects to a table without a record at the same time."""

    def _steps(self, context: Context) -> Steps[None]:
        yield from begin_record(FIRST.__table__, "tasks", ["gsi1"])


def test_a_design_that_another_process_records_at_the_same_time_is_compared() -> None:
    """Between the read of the record and the write of it."""
    table, _ = CHANGES["template"]
    with Engine() as engine:
        connect(engine, FIRST)
        sent: list[str] = []

        class Racing(Local):
            def send(self, operation: str, request: dict[str, Any]) -> Response:
                if operation == "UpdateItem" and not sent:
                    sent.append(operation)
                    run_on(engine, FIRST, _Begin())
                return super().send(operation, request)

        context = Context(names={table.__table__: "tasks"}, secret=b"")
        with pytest.raises(DesignMismatch):
            run(Provision(table.__table__, create=False, update=True), context, Racing(engine).send)


def test_a_large_design_is_recorded_in_several_requests() -> None:
    many = new_indexed_table("tasks")

    for number in range(80):

        class Thing(Entity, table=many, type_name=f"Thing{number}"):
            thing_id: Attr[str] = attr()
            primary = key(f"THING{number}" / thing_id, "THING")
            everything = index(many.gsi1, f"ALL{number}", thing_id)

    with Engine() as engine:
        connect(engine, many, update=True)
        found = record(engine)
        assert sum(name.startswith("$index ") for name in found) == 80
        connect(engine, many)
