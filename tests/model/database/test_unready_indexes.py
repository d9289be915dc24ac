"""Composed index keys that stored items lack: the index is refused until a backfill has run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    attr,
    children,
    connect,
    connect_async,
    index,
    key,
    put,
    root,
)
from tablewright.designs.catalog import load
from tablewright.engine import maintenance
from tablewright.errors import DeclarationError, IndexNotReady, TableMismatch
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.provision import Prepare, Provision
from tablewright.plan.plan import Context, run
from tablewright.plans import BackfillProgress, Plan, backfill
from tablewright.policy import as_principal
from tablewright.server import serving
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tablewright.verify import compare_stored
from tests import commands


class First(Table, name="tasks"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class TaskFields(Entity):
    owner: Attr[str] = attr()
    task_id: Attr[str] = attr()
    status: Attr[str] = attr(default="open")
    primary = key("OWNER" / owner, "TASK" / task_id)


class FirstTask(TaskFields, table=First, type_name="Task"):
    by_status = index(First.gsi1, "STATUS" / TaskFields.status, "TASK" / TaskFields.task_id)


class NoteFields(Entity):
    owner: Attr[str] = attr()
    note_id: Attr[str] = attr()
    day: Attr[str] = attr(default="monday")
    primary = key("OWNER" / owner, "NOTE" / note_id)


class FirstNote(NoteFields, table=First, type_name="Note"): ...


class Second(Table, name="tasks"):
    """It has two more indexes, and another place in the old one."""

    tenancy = Tenancy("owner", write=("OWNER#{owner}",), read=("OWNED#{owner}",))
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")
    days = GSI("day")


class Task(TaskFields, table=Second):
    by_status = index(Second.gsi1, "STATUS" / TaskFields.status, "TASK" / TaskFields.task_id)
    owned = index(Second.gsi2, "OWNED" / TaskFields.owner, "LABEL#TASK" / TaskFields.task_id)


class Note(NoteFields, table=Second):
    by_day = index(Second.gsi1, "DAY" / NoteFields.day, "NOTE" / NoteFields.note_id)
    on_day = index(Second.days, NoteFields.day)


class Label(Entity, table=Second):
    """A new entity: it has no stored items."""

    owner: Attr[str] = attr()
    primary = key("OWNER" / owner, "LABEL")
    everywhere = index(Second.gsi1, "LABELS", "LABEL" / owner)
    owned = index(Second.gsi2, "OWNED" / owner, "LABEL")


class Labelled(Aggregate):
    label: Label = root()
    tasks: list[Task] = children()


@pytest.fixture(params=["file", "endpoint"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where items of the first version are, in a table with a record."""
    file = str(tmp_path / "tasks.db")
    with connect(file, First, update=True) as db:
        store(db)
    with ExitStack() as stack:
        if request.param == "endpoint":
            file = stack.enter_context(serving(stack.enter_context(Engine(file))))
        yield file


def store(db: Any) -> None:
    for number in range(3):
        db.run(put(FirstTask(owner="ann", task_id=str(number))))
        db.run(put(FirstNote(owner="ann", note_id=str(number))))


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The same items, in a table without a record."""
    with Engine() as engine:
        store(connect(engine, First))
        yield engine


def prepare(engine: Engine) -> None:
    """Let the second version connect before its indexes are there."""
    table = Second.__table__
    context = Context(names={table: table.name}, secret=b"")
    run(Prepare(table, record=True), context, Local(engine).send)


def create_days(engine: Engine) -> None:
    """Create an index as a template does."""
    creation = {
        "IndexName": "days",
        "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    engine.call(
        "UpdateTable",
        {
            "TableName": "tasks",
            "AttributeDefinitions": [{"AttributeName": "day", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": creation}],
        },
    )


def awaited(engine: Engine) -> set[str]:
    request = {"TableName": "tasks", "Key": record_key(Second.__table__)}
    return set(engine.call("GetItem", request)["Item"].get("$awaited", {}).get("SS", ()))


def is_ready(db: Any, plan: Plan[Any]) -> bool:
    try:
        db.run(plan)
    except IndexNotReady:
        return False
    return True


def test_a_new_index_is_refused_until_the_backfill(target: str) -> None:
    with connect(target, Second, update=True) as db:
        with pytest.raises(IndexNotReady) as refused:
            db.run(Task.owned("ann"))
        assert str(refused.value) == (
            "Task.owned: the index 'gsi2' of the table 'tasks' may lack items of Task: items that "
            "were stored before Task.owned was declared or changed do not have its keys yet. Run: "
            f"tablewright backfill {__name__} TARGET (TARGET: where the table is)"
        )
        assert len(db.run(Task.by_status("open"))) == 3  # it was complete before
        assert len(db.run(Note.on_day("monday"))) == 3  # DynamoDB fills it
        assert db.run(Label.owned("ann")) == []  # a new entity has no old items
        db.run(put(Task(owner="ann", task_id="new")))
    with connect(target, Second) as db:  # another process, later
        assert not is_ready(db, Task.owned("ann"))
        assert db.run(backfill(Second)) == 6
        assert len(db.run(Task.owned("ann"))) == 4
    with connect(target, Second) as db:
        assert db._context.unready is None
        assert len(db.run(Task.owned("ann"))) == 4


def test_a_backfill_of_one_entity_records_the_others(engine: Engine) -> None:
    connect(engine, First).run(backfill(FirstNote))
    db = connect(engine, Second, update=True)
    assert not is_ready(db, Task.owned("ann"))
    assert is_ready(db, Task.by_status("open"))


def test_a_new_index_is_refused_after_an_interrupted_backfill(engine: Engine) -> None:
    def in_pages(operation: str, request: dict[str, Any]) -> Response:
        limit = {"Limit": 1} if operation == "Scan" else {}
        return Local(engine).send(operation, request | limit)

    def stop_later(progress: BackfillProgress) -> None:
        if progress.items > 1:
            raise KeyboardInterrupt

    plan = backfill(First, progress=stop_later)
    with pytest.raises(KeyboardInterrupt):
        run(plan, connect(engine, First)._context, in_pages)

    db = connect(engine, Second, update=True)
    assert not is_ready(db, Task.owned("ann"))
    assert is_ready(db, Task.by_status("open"))


def test_every_read_of_the_index_is_refused(engine: Engine) -> None:
    connect(engine, First, update=True)
    db = connect(engine, Second, update=True)
    for plan in (
        Task.owned("ann").first(),
        Task.owned("ann").count(),
        Task.owned("ann").select(Task.task_id),
        Task.owned.scan(reason="test"),
        Task.owned.scan(reason="test").segments(2),
        Label.owned("ann").union(Task.owned("ann")),
        Labelled.of(Label.owned("ann")),
    ):
        assert not is_ready(db, plan)
    assert is_ready(db, Label.owned("ann"))
    with pytest.raises(IndexNotReady):
        list(db.iterate(Task.owned("ann")))


def test_a_new_place_in_an_old_index_is_refused(engine: Engine) -> None:
    """Nothing of the table changes, and stored notes are not in the index."""
    connect(engine, First, update=True)  # from now on, the record knows the entities
    db = connect(engine, Second, update=True)
    assert not is_ready(db, Note.by_day("monday"))
    assert is_ready(db, Task.by_status("open"))
    assert db.run(backfill(Note)) == 3
    assert len(db.run(Note.by_day("monday"))) == 3
    assert not is_ready(db, Task.owned("ann"))


def test_a_process_that_is_connected_notices_the_backfill(engine: Engine) -> None:
    db = connect(engine, Second, update=True)
    ann = db.for_tenant(owner="ann")
    assert not is_ready(ann, Task.owned("ann"))
    assert connect(engine, Second).run(backfill(Second)) == 6
    assert len(ann.run(Task.owned("ann"))) == 3

    async def main() -> None:
        waiting = await connect_async(engine, Second)
        assert len(await waiting.run(Task.owned("ann"))) == 3

    asyncio.run(main())


def test_an_event_loop_refuses_and_notices(engine: Engine) -> None:
    async def main() -> None:
        db = await connect_async(engine, Second, update=True)
        with pytest.raises(IndexNotReady):
            await db.run(Task.owned("ann"))
        await (await connect_async(engine, Second)).run(backfill(Task))
        assert len(await db.run(Task.owned("ann"))) == 3

    asyncio.run(main())


def test_the_older_version_runs_on(engine: Engine) -> None:
    old = connect(engine, First)
    connect(engine, Second, update=True)
    for db in (old, connect(engine, First), connect(engine, First, update=True)):
        assert len(db.run(FirstTask.by_status("open"))) == 3
    assert not is_ready(connect(engine, Second), Task.owned("ann"))


def test_a_program_connects_before_its_indexes_are_there(engine: Engine) -> None:
    """If they are awaited: what it writes has the keys of indexes that come later."""
    for _ in range(2):
        with pytest.raises(TableMismatch, match="index gsi2: declared but missing"):
            connect(engine, Second)
        connect(engine, First, update=True)
    prepare(engine)
    db = connect(engine, Second)
    with pytest.raises(IndexNotReady, match=r"the index 'days' .* does not exist; it is added by"):
        db.run(Note.on_day("monday"))
    assert not is_ready(db, Label.owned("ann"))
    db.run(put(Task(owner="ann", task_id="new")))
    db.run(backfill(Task))
    connect(engine, Second, update=True)
    assert len(db.run(Task.owned("ann"))) == 4
    assert len(db.run(Note.on_day("monday"))) == 3


def test_only_an_index_that_is_awaited_may_be_missing(engine: Engine) -> None:
    prepare(engine)
    connect(engine, Second, update=True)  # it creates them, so none is awaited any more
    change = {"Delete": {"IndexName": "days"}}
    engine.call("UpdateTable", {"TableName": "tasks", "GlobalSecondaryIndexUpdates": [change]})
    with pytest.raises(TableMismatch, match="index days: declared but missing; connect"):
        connect(engine, Second)


def test_an_older_version_leaves_the_awaited_indexes_of_a_newer_one(engine: Engine) -> None:
    prepare(engine)
    connect(engine, First, update=True)
    assert awaited(engine) == {"days", "gsi2"}


def test_a_backfill_ends_waiting_for_the_indexes_that_a_template_has_created(
    engine: Engine,
) -> None:
    prepare(engine)
    assert awaited(engine) == {"days", "gsi2"}
    create_days(engine)
    connect(engine, Second).run(backfill(Second))
    assert awaited(engine) == {"gsi2"}


def test_an_index_that_is_being_built_does_not_delay_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 1)
    with Engine(background=False) as engine:
        store(connect(engine, First, update=True))
        prepare(engine)
        create_days(engine)
        assert len(connect(engine, First).run(FirstTask.by_status("open"))) == 3
        db = connect(engine, Second)
        with pytest.raises(IndexNotReady, match=r"the index 'days' .* is CREATING"):
            db.run(Note.on_day("monday"))
        while engine.maintain():
            pass
        assert len(db.run(Note.on_day("monday"))) == 3


def test_a_table_that_is_created_has_no_old_items() -> None:
    with Engine() as engine:
        db = connect(engine, Second, update=True)
        for plan in (Task.owned("ann"), Note.by_day("monday"), Label.owned("ann")):
            assert is_ready(db, plan)


def test_without_update_no_record_is_written(engine: Engine) -> None:
    with Engine() as other:
        connect(other, Second)
        assert other.call("Scan", {"TableName": "tasks"})["Count"] == 0
    assert engine.call("Scan", {"TableName": "tasks"})["Count"] == 6


def test_the_record_is_no_item_of_an_entity(engine: Engine) -> None:
    db = connect(engine, First, update=True)
    assert len(db.run(FirstTask.scan(reason="test"))) == 3
    table = First.__table__
    items = engine.call("Scan", {"TableName": "tasks"})["Items"]
    assert len(items) == 7
    assert compare_stored(table, items)
    (record,) = (item for item in items if table.entity_of(item) is None)
    assert record == {
        **record_key(table),
        "type": {"S": "$tablewright"},
        "$complete": {"SS": ["entity Note", "entity Task", "index gsi1 Task"]},
        "$key Note": {"S": "PK=OWNER#{owner}, SK=NOTE#{note_id}"},
        "$key Task": {"S": "PK=OWNER#{owner}, SK=TASK#{task_id}"},
        "$index gsi1 Task": {"S": "GSI1PK=STATUS#{status}, GSI1SK=TASK#{task_id}"},
    }


def test_the_record_is_no_sample_of_a_design(tmp_path: Path) -> None:
    with connect(tmp_path / "tasks.db", First, update=True) as db:
        store(db)
    done = commands.run("infer", tmp_path / "tasks.db")
    assert "from 6 items" in done.stderr + done.stdout
    assert "tablewright" not in done.stdout.replace("from tablewright import", "")


def test_commands_leave_the_record_out(tmp_path: Path) -> None:
    design, file = load("shop"), tmp_path / "shop.db"
    (table,) = design.tables
    connect(file, table, update=True).close()
    seeded = commands.run("seed", "shop", file).stdout
    assert seeded.startswith("shop: 38 items (4 Brand, ")
    compared = commands.run("check-items", "shop", file).stdout
    assert compared.startswith("shop: all 38 items have the keys that their values give (4 Brand")
    for options in ([], ["--design", "shop"]):
        scanned = commands.run("scan", file, "shop", *options)
        assert "$tablewright" not in scanned.stdout
        assert scanned.stderr.splitlines() == [
            "38 items of 39 read, 2 units",
            "1 item in which Tablewright keeps the version of the design is not shown.",
        ]
    # DynamoDB counts it, and it can be read by its key.
    assert commands.run("tables", file).stdout.split()[6] == "39"
    key = [f"{name}={value['S']}" for name, value in record_key(table.__table__).items()]
    shown = commands.run("get", file, "shop", *key, "--design", "shop").stdout
    assert shown.startswith("the record of complete indexes\n")


def test_a_table_with_nothing_but_a_record_is_empty(tmp_path: Path) -> None:
    design = load("commerce")
    connect(tmp_path / "commerce.db", *design.tables, update=True).close()
    done = commands.run("seed", "commerce", tmp_path / "commerce.db")
    assert done.returncode == 0, done.stderr


def test_a_role_that_may_not_read_the_record_connects(engine: Engine) -> None:
    connect(engine, Second, update=True)
    pattern = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["OWNE*"]}}
    statements = [
        {"Effect": "Allow", "Action": "dynamodb:Describe*", "Resource": "*"},
        {"Effect": "Allow", "Action": "dynamodb:*Item", "Resource": "*", "Condition": pattern},
    ]
    policy = {"Version": "2012-10-17", "Statement": statements}
    db = connect(engine, Second)
    limited = Local(engine, as_principal(policy))
    assert not run(Provision(Second.__table__, create=False), db._context, limited.send).unready
    # What was refused before is refused, although it cannot be looked up again.
    assert not is_ready(connect(engine, Second, policy=policy), Task.owned("ann"))


class Plain(Table, name="plain", pk="word", sk=None, type_attribute=None):
    gsi = GSI("GSI1PK")


class Word(Entity, table=Plain):
    word: Attr[str] = attr()
    primary = key(word)
    by_start = index(Plain.gsi, "START" / word)


class Numbers(Table, name="numbers", sk=None):
    gsi = GSI("GSI1PK")


class Number(Entity, table=Numbers):
    number: Attr[int] = attr()
    primary = key(number)
    all = index(Numbers.gsi, "NUMBERS")


def test_a_table_of_any_words_has_no_place_for_the_record() -> None:
    with Engine() as engine:
        with pytest.raises(DeclarationError, match=r"Plain: .* declare the table with a type_attr"):
            connect(engine, Plain, update=True)
        assert engine.call("ListTables") == {"TableNames": []}
        assert connect(engine, Plain).run(Word.by_start("a")) == []


def test_a_table_with_numbers_as_keys_has_a_record() -> None:
    with Engine() as engine:
        connect(engine, Numbers, update=True)
        db = connect(engine, Numbers)
        db.run(put(Number(number=1)))
        items = engine.call("Scan", {"TableName": "numbers"})["Items"]
        assert len(items) == 2
        assert compare_stored(Numbers.__table__, items).entities == {"Number": 1}
        assert compare_stored(Numbers.__table__, items)
        assert len(db.run(Number.all())) == 1
        assert len(db.run(Number.scan(reason="test"))) == 1
