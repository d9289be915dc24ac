"""A table is moved to another place while programs use it, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
    connect,
    connect_async,
    create,
    index,
    key,
    migrations,
    put,
    unique,
)
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionalCheckFailedException,
    DesignMismatch,
    DynamoDBError,
    InvalidValue,
    MigrationRefused,
    TableMismatch,
    TableNotFound,
)
from tablewright.mapping.item_kind import record_key
from tablewright.mapping.table import TableMap
from tablewright.migrations import Relocation, RelocationProgress
from tablewright.plan.relocation.between import At, BetweenSteps
from tablewright.plan.relocation.place import gate_key, is_own, marker_key
from tablewright.plan.relocation.relocate import ApplyRelocation
from tablewright.values import Item


class Shelf(Table, name="shelf"):
    authors = GSI("GSI1PK", "GSI1SK")


class Book(Entity, table=Shelf):
    isbn: Attr[str] = attr()
    author: Attr[str] = attr()
    sold: Attr[int] = attr(default=0)
    email: Attr[str | None] = attr(default=None)
    primary = key("BOOK" / isbn, "BOOK")
    by_author = index(Shelf.authors, "AUTHOR" / author, "BOOK" / isbn)
    by_email = unique("EMAIL" / email)


class Move:
    """The table in one engine, with books; another engine; and a program that follows."""

    def __init__(self, books: int = 20) -> None:
        self.first, self.second = Engine(":memory:"), Engine(":memory:")
        with connect(self.first, Shelf) as db:
            for number in range(books):
                db.run(create(Book(isbn=f"{number:03}", author="Ann")))
        migrations.baseline(self.first, Shelf)
        self.relocation = Relocation(self.first, self.second, Shelf)

    @property
    def program(self) -> Database:
        """A program that connects now: the executors of these tests wait for no others."""
        return connect(self.first, Shelf, moves_to=self.second)

    def apply(self, **options: Any) -> Any:
        options.setdefault("program_seconds", 0)
        return self.relocation.apply(**options)

    def rollback(self, **options: Any) -> Any:
        options.setdefault("program_seconds", 0)
        return self.relocation.rollback(**options)


def items(engine: Engine, name: str = "shelf") -> list[Item]:
    answer = engine.run(engine.prepare("Scan", {"TableName": name}))
    found: list[Item] = msgspec.json.decode(answer)["Items"]
    return [item for item in found if not is_own(Shelf.__table__, item)]


def drive(steps: BetweenSteps[Any], engines: tuple[Engine, Engine]) -> None:
    """Run a command; its waits take no time."""
    resume: Callable[[], Any] = partial(next, steps)
    with suppress(StopIteration):
        while True:
            step = resume()
            resume = partial(steps.send, b"")
            if isinstance(step, At):
                engine, request = engines[step.side], step.request
                try:
                    answer = engine.run(engine.prepare(request.operation, request.body))
                except DynamoDBError as fault:
                    resume = partial(steps.throw, fault)
                else:
                    resume = partial(steps.send, answer or b"{}")


def during(step: str, act: Callable[[], None]) -> Callable[[RelocationProgress], None]:
    """Return what acts once, when a step begins."""
    done: list[str] = []

    def report(progress: RelocationProgress) -> None:
        if progress.step == step and not done:
            done.append(step)
            act()

    return report


def sold(db: Database, isbn: str) -> int:
    book = db.run(Book.primary(isbn))
    assert book is not None
    return book.sold


STEPS = ("check", "prepare", "copy", "compare", "await-programs", "cut-over")


def test_all_items_are_at_the_destination_and_the_program_uses_it() -> None:
    move = Move()
    before = items(move.first)
    report = move.apply()
    assert report.steps == STEPS
    assert sorted(map(str, items(move.second))) == sorted(map(str, before))
    move.program.run(Book.primary("001").update(Book.sold.increment(1)))
    assert sold(connect(move.second, Shelf), "001") == 1


@pytest.mark.parametrize("step", STEPS)
def test_what_a_program_writes_during_a_step_is_carried_over(step: str) -> None:
    move = Move()

    def act() -> None:
        db = move.program
        db.run(Book.primary("001").update(Book.sold.increment(1)))
        db.run(Book.primary("002").delete())
        db.run(put(Book(isbn="003", author="Ben")))
        db.run(create(Book(isbn="900", author="Cas", email="c@x")))
        db.run(Book.primary("004").update(Book.email.set("d@x")))

    move.apply(progress=during(step, act))
    db = connect(move.second, Shelf)
    assert sold(db, "001") == 1
    assert db.run(Book.primary("002")) is None
    assert [book.isbn for book in db.run(Book.by_author("Ben"))] == ["003"]
    for email, isbn in (("c@x", "900"), ("d@x", "004")):
        found = db.run(Book.by_email(email))
        assert found is not None
        assert found.isbn == isbn


def test_a_rollback_brings_back_what_was_written_meanwhile() -> None:
    move = Move()
    move.apply()
    move.program.run(Book.primary("001").update(Book.sold.increment(2)))
    move.program.run(Book.primary("002").delete())
    assert move.rollback().steps == STEPS
    assert sold(move.program, "001") == 2
    db = connect(move.first, Shelf)
    assert sold(db, "001") == 2
    assert db.run(Book.primary("002")) is None
    with pytest.raises(DesignMismatch, match="the items of the table 'shelf' are in"):
        connect(move.second, Shelf)


def test_it_can_be_applied_again_after_a_rollback() -> None:
    move = Move()
    move.apply()
    move.rollback()
    move.program.run(Book.primary("003").delete())
    assert move.apply().changed == 1
    assert connect(move.second, Shelf).run(Book.primary("003")) is None


def test_a_rollback_before_the_cut_over_forgets_the_destination() -> None:
    move = Move()

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move.apply(progress=during("cut-over", stop))
    with pytest.raises(DesignMismatch, match="takes its place within a minute"):
        connect(move.first, Shelf)
    move.rollback(lease_seconds=0)
    assert sold(connect(move.first, Shelf), "001") == 0
    assert move.relocation.status().progress is None
    table = move.first.run(move.first.prepare("DescribeTable", {"TableName": "shelf"}))
    assert b'"StreamEnabled":true' not in table


def test_complete_ends_the_way_back() -> None:
    move = Move()
    move.apply()
    move.relocation.complete()
    with pytest.raises(MigrationRefused, match="was completed, and cannot be undone"):
        move.rollback()
    move.program.run(Book.primary("001").update(Book.sold.increment(1)))
    assert sold(connect(move.second, Shelf), "001") == 1
    with pytest.raises(DesignMismatch, match="connect there"):
        connect(move.first, Shelf)


def test_complete_shows_what_others_have_written_at_the_source() -> None:
    move = Move()
    move.apply()
    late = {"PK": {"S": "BOOK#late"}, "SK": {"S": "BOOK"}}
    move.first.run(move.first.prepare("PutItem", {"TableName": "shelf", "Item": late}))
    with pytest.raises(MigrationRefused, match='PK="BOOK#late", SK="BOOK"'):
        move.relocation.complete()
    move.relocation.complete()
    assert move.relocation.status().progress is None


async def use_async(move: Move) -> int:
    async with connect_async(move.first, Shelf, moves_to=move.second) as db:
        book = await db.run(Book.primary("001").update(Book.sold.increment(1)))
        found = await db.run(Book.primary("001"))
        assert found == book
        return book.sold


def test_a_program_in_an_event_loop_follows() -> None:
    move = Move()
    counts: list[int] = []

    def act() -> None:
        counts.append(asyncio.run(use_async(move)))

    move.apply(progress=during("cut-over", act))
    act()
    assert counts == [1, 2]
    assert sold(connect(move.second, Shelf), "001") == 2


def test_policy_and_moves_to_exclude_each_other() -> None:
    move = Move()
    with pytest.raises(InvalidValue, match="cannot be used together"):
        connect(move.first, Shelf, moves_to=move.second, policy=[])


def test_a_table_gets_another_name() -> None:
    move = Move()
    renamed = Relocation(move.first, move.first, Shelf, new_name="books")
    report = renamed.apply(program_seconds=0)
    program = connect(move.first, Shelf, moves_to=move.first)
    assert report.steps == STEPS
    program.run(Book.primary("001").update(Book.sold.increment(1)))
    found = program.run(batch_get([Book.primary("001"), Book.primary("002")]))
    assert [book is not None and book.sold for book in found] == [1, 0]
    assert sold(connect(move.first, Shelf, table_name="books"), "001") == 1


def test_a_cursor_from_before_the_cut_over_continues() -> None:
    move = Move()
    query = Book.by_author("Ann").page_size(5)
    first = move.program.run(query)
    assert first.next_cursor is not None
    move.apply()
    second = move.program.run(query.after(first.next_cursor))
    assert [book.isbn for book in second] == [f"{number:03}" for number in range(5, 10)]


def test_programs_that_were_not_told_the_other_place_are_refused() -> None:
    move = Move()
    refused: list[str] = []

    def connect_both() -> None:
        for engine in (move.first, move.second):
            with pytest.raises(DesignMismatch) as caught:
                connect(engine, Shelf)
            refused.append(str(caught.value))

    move.apply(progress=during("cut-over", connect_both))
    assert "programs that connect with moves_to= run meanwhile" in refused[0].lower()
    assert "connect there" in refused[1]


def test_another_migration_is_refused_meanwhile() -> None:
    move = Move()
    move.apply()
    with pytest.raises(MigrationRefused, match="the items of the table 'shelf' are in"):
        migrations.plan(move.first, Shelf)
    assert not migrations.plan(move.second, Shelf)[0].steps


# -- writes that check a gate ----------------------------------------------------------------------


class Guarded:
    """A program while its writes check a gate."""

    def __init__(self) -> None:
        self.move = Move()
        self.results: list[Any] = []

    def run(self, *acts: Callable[[Database], Any]) -> list[Any]:
        def act() -> None:
            for each in acts:
                try:
                    self.results.append(each(self.move.program))
                except Exception as error:  # it is what the test is about
                    self.results.append(error)

        self.move.apply(progress=during("cut-over", act))
        return self.results


def test_guarded_writes_return_what_they_return_otherwise() -> None:
    old, new, created, deleted = Guarded().run(
        lambda db: db.run(Book.primary("001").update(Book.sold.increment(1)).returning("old")),
        lambda db: db.run(Book.primary("001").update(Book.sold.increment(1))),
        lambda db: db.run(create(Book(isbn="800", author="Ben"))),
        lambda db: db.run(Book.primary("002").delete().returning("old")),
    )
    assert (old.sold, new.sold) == (0, 2)
    assert created is None or created.isbn == "800"
    assert deleted.isbn == "002"


def test_guarded_writes_raise_what_they_raise_otherwise() -> None:
    exists, rejected, gone = Guarded().run(
        lambda db: db.run(create(Book(isbn="001", author="Ben"))),
        lambda db: db.run(
            Book.primary("001").update(Book.sold.increment(1)).condition(Book.sold == 7)
        ),
        lambda db: str(db.run(Book.primary("000").delete().returning("old"))),
    )
    assert isinstance(exists, AlreadyExists)
    assert not isinstance(rejected, (ConditionalCheckFailedException, int))
    assert isinstance(rejected, Exception)
    assert "isbn='000'" in gone


def test_raw_requests_are_guarded_too() -> None:
    puts = [{"PutRequest": {"Item": {"PK": {"S": f"x{n}"}, "SK": {"S": "x"}}}} for n in range(3)]
    key_of = {"PK": {"S": "nothing"}, "SK": {"S": "x"}}

    def delete_if(db: Database) -> Any:
        body = {
            "TableName": "shelf",
            "Key": key_of,
            "ConditionExpression": "attribute_exists(PK)",
        }
        return db.transport.send("DeleteItem", body)

    batch, failed = Guarded().run(
        lambda db: db.transport.send("BatchWriteItem", {"RequestItems": {"shelf": puts}}).body,
        delete_if,
    )
    assert batch == b'{"UnprocessedItems":{}}'
    assert isinstance(failed, ConditionalCheckFailedException)


# -- refusals --------------------------------------------------------------------------------------


def test_a_destination_with_other_data_is_refused() -> None:
    move = Move()
    with connect(move.second, Shelf) as db:
        db.run(create(Book(isbn="x", author="Ann")))
    with pytest.raises(MigrationRefused, match="has other items; nothing was written"):
        move.apply()
    assert len(items(move.second)) == 1


def test_a_restored_copy_of_the_source_does_not_continue_its_move() -> None:
    move = Move()
    move.apply()
    table = move.first.run(move.first.prepare("DescribeTable", {"TableName": "shelf"}))
    restored = msgspec.json.decode(table)["Table"]
    keys = ("KeySchema", "AttributeDefinitions")
    body = {name: restored[name] for name in keys} | {"BillingMode": "PAY_PER_REQUEST"}
    index_keys = ("IndexName", "KeySchema", "Projection")
    body["GlobalSecondaryIndexes"] = [
        {name: each[name] for name in index_keys} for each in restored["GlobalSecondaryIndexes"]
    ]
    move.first.run(move.first.prepare("CreateTable", body | {"TableName": "restored"}))
    answer = move.first.run(move.first.prepare("Scan", {"TableName": "shelf"}))
    for item in msgspec.json.decode(answer)["Items"]:
        move.first.run(move.first.prepare("PutItem", {"TableName": "restored", "Item": item}))
    again = Relocation(move.first, move.second, Shelf, table_name="restored", new_name="shelf")
    with pytest.raises(MigrationRefused, match="may be a restored copy"):
        again.rollback(program_seconds=0)


def test_an_empty_table_at_the_destination_is_used() -> None:
    move = Move()
    connect(move.second, Shelf).close()
    move.apply()
    assert len(items(move.second)) == 20


def test_a_destination_with_other_indexes_is_refused() -> None:
    move = Move()
    body = {
        "TableName": "shelf",
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    move.second.run(move.second.prepare("CreateTable", body))
    with pytest.raises(TableMismatch, match="authors"):
        move.apply()


def test_items_that_others_write_at_the_destination_are_shown_and_then_removed() -> None:
    move = Move()

    def write() -> None:
        for item in items(move.second)[:1]:
            changed = item | {"author": {"S": "Zoe"}}
            move.second.run(move.second.prepare("PutItem", {"TableName": "shelf", "Item": changed}))
        other = {"PK": {"S": "other"}, "SK": {"S": "other"}}
        move.second.run(move.second.prepare("PutItem", {"TableName": "shelf", "Item": other}))

    command = ApplyRelocation(
        move.relocation.places, progress=during("compare", write), program_seconds=0
    )
    with pytest.raises(MigrationRefused, match="2 items") as caught:
        drive(command.steps(), (move.first, move.second))
    assert "other values of author" in str(caught.value)
    assert 'PK="other", SK="other": it is not at the source' in str(caught.value)
    assert sold(move.program, "001") == 0
    move.apply()
    assert sorted(map(str, items(move.second))) == sorted(map(str, items(move.first)))


@pytest.mark.parametrize("step", ["copy", "compare", "await-programs", "cut-over"])
def test_what_was_written_while_the_stream_was_off_is_found(step: str) -> None:
    move = Move()

    def interrupt() -> None:
        def set_stream(setting: dict[str, Any]) -> None:
            body = {"TableName": "shelf", "StreamSpecification": setting}
            move.first.run(move.first.prepare("UpdateTable", body))

        set_stream({"StreamEnabled": False})
        move.program.run(Book.primary("001").update(Book.sold.increment(1)))
        move.program.run(Book.primary("002").delete())
        set_stream({"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})

    move.apply(progress=during(step, interrupt))
    db = connect(move.second, Shelf)
    assert sold(db, "001") == 1
    assert db.run(Book.primary("002")) is None


def test_a_run_that_is_continued_after_a_day_finds_what_was_written() -> None:
    move = Move()

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move.apply(progress=during("compare", stop))
    move.program.run(Book.primary("001").update(Book.sold.increment(1)))
    move.program.run(Book.primary("002").delete())
    move.first.rotate_shards("shelf")
    move.first.trim(datetime.now(UTC).timestamp() + 25 * 60 * 60)
    move.apply(lease_seconds=0)
    db = connect(move.second, Shelf)
    assert sold(db, "001") == 1
    assert db.run(Book.primary("002")) is None
    assert len(items(move.second)) == 19


@pytest.mark.parametrize("step", ["copy", "await-programs", "cut-over"])
def test_the_cut_over_waits_for_every_shard_of_the_stream(step: str) -> None:
    move = Move()

    def split() -> None:
        move.first.rotate_shards("shelf", children=3)
        for number in range(20):
            move.program.run(Book.primary(f"{number:03}").update(Book.sold.increment(1)))
        move.first.rotate_shards("shelf", children=2)

    assert move.apply(progress=during(step, split)).paused < 10
    db = connect(move.second, Shelf)
    assert [sold(db, f"{number:03}") for number in range(20)] == [1] * 20


def test_the_same_place_and_a_missing_file_are_refused(tmp_path: Any) -> None:
    with pytest.raises(InvalidValue, match="both source and destination"):
        Relocation("a.db", "a.db", Shelf)
    with pytest.raises(TableNotFound, match="no such file"):
        Relocation(tmp_path / "a.db", tmp_path / "b.db", Shelf).plan()


def test_a_plan_writes_nothing(tmp_path: Any) -> None:
    with connect(tmp_path / "a.db", Shelf) as db:
        db.run(create(Book(isbn="1", author="Ann")))
    migrations.baseline(tmp_path / "a.db", Shelf)
    plan = Relocation(tmp_path / "a.db", tmp_path / "b.db", Shelf).plan()
    assert (plan.steps, plan.enables_stream, plan.destination) == (STEPS, True, None)
    assert not (tmp_path / "b.db").exists()


def test_a_table_without_a_record_is_refused() -> None:
    engine = Engine(":memory:")
    connect(engine, Shelf).close()
    with pytest.raises(MigrationRefused, match="migrate baseline"):
        Relocation(engine, Engine(":memory:"), Shelf).apply()


# -- interruptions ---------------------------------------------------------------------------------


class Stopped(Exception):
    """The process of an executor has ended."""


def stopping(engine: Engine, at: int, count: list[int]) -> None:
    """Let the request with a number fail, as if the process had ended."""
    prepare = engine.prepare

    def counted(operation: str, *arguments: Any, **options: Any) -> Any:
        count[0] += 1
        if count[0] == at:
            raise Stopped
        return prepare(operation, *arguments, **options)

    engine.prepare = counted  # type: ignore[method-assign]


@pytest.mark.parametrize("at", range(10, 120, 9))
def test_a_stopped_run_is_continued(at: int) -> None:
    move = Move(books=5)
    count = [0]
    prepares = [engine.prepare for engine in (move.first, move.second)]
    for engine in (move.first, move.second):
        stopping(engine, at, count)
    try:
        move.apply()
    except Stopped:
        for engine, prepare in zip((move.first, move.second), prepares, strict=True):
            engine.prepare = prepare  # type: ignore[method-assign]
        move.apply(lease_seconds=0)
    db = connect(move.second, Shelf)
    assert [sold(db, f"{number:03}") for number in range(5)] == [0] * 5
    assert len(items(move.second)) == 5


# -- the items beside the record -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_gates_and_markers_are_never_copied(kind: str) -> None:
    table = TableMap("Keyed", "keyed", ("id", "at"), None, {})
    table.key_types["id"] = kind
    for own in (record_key(table), gate_key(table, 3), marker_key(table, 123456789)):
        assert is_own(table, own)
    other: Any = {"S": "$tablewrigh", "N": "-7", "B": "AAAA"}
    assert not is_own(table, record_key(table) | {"id": {kind: other[kind]}})
