"""Items that move to another primary key, while programs of both versions use them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    connect,
    connect_async,
    create,
    index,
    key,
    migrations,
    put,
    root,
    transact,
    transact_get,
    unique,
    version,
)
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    DesignMismatch,
    IndexNotReady,
    MigrationRefused,
    NotFound,
    UniqueViolation,
    VersionConflict,
)
from tablewright.formats import shard, upper
from tablewright.plan.migration import admission
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import (
    NAME,
    PAIRS,
    Stopped,
    drive,
    interrupt,
    migration,
    sending,
)
from tests.plan.migration.migrating import items as items_of
from tests.plan.migration.migrating import stored as prepared
from tests.transports import InterferingTransport

Plans = dict[str, Callable[[], Any]]


class First(Table, name="lending"):
    gsi1 = GSI("G1PK", "G1SK")


class OldBook(Entity, table=First, type_name="Book"):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    pages: Attr[int] = attr(default=1)
    copy: Attr[int] = version()
    primary = key("BOOK" / isbn, "BOOK")
    by_pages = index(First.gsi1, "PAGES" / pages, "BOOK" / isbn)
    titled = unique("TITLE" / title, type_name="Book.titled")


class OldLoan(Entity, table=First, type_name="Loan"):
    isbn: Attr[str] = attr()
    number: Attr[int] = attr(pad=2)
    member: Attr[str] = attr()
    primary = key("BOOK" / isbn, "LOAN" / number)


class Lending(Table, name="lending"):
    gsi1 = GSI("G1PK", "G1SK")


class Book(Entity, table=Lending):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    pages: Attr[int] = attr(default=1)
    copy: Attr[int] = version()
    primary = key("ISBN" / isbn, "#BOOK")
    by_pages = index(Lending.gsi1, "PAGES" / pages, "BOOK" / isbn)
    titled = unique("TITLE" / title)


class Loan(Entity, table=Lending):
    isbn: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    member: Attr[str] = attr()
    primary = key("ISBN" / isbn, "LOAN" / number)


class BookWithLoans(Aggregate):
    book: Book = root()
    loans: list[Loan] = children()


def stored() -> Engine:
    """Return a table with books and loans of the first version."""
    engine = Engine(":memory:")
    with connect(engine, First) as db:
        for number in range(6):
            isbn = f"{number}#" if number == 5 else f"{number}"  # a delimiter in a value
            db.run(create(OldBook(isbn=isbn, title=f"T{number}", pages=number % 2)))
            for loan in range(number):
                db.run(create(OldLoan(isbn=isbn, number=loan, member=f"M{loan}")))
    migrations.baseline(engine, First)
    return engine


def stop_at(engine: Engine, table: type[Table], step: str) -> None:
    def stop(progress: MigrationProgress) -> None:
        if progress.step.name == step:
            raise Stopped

    with suppress(Stopped):
        migrations.apply(engine, table, progress=stop)


def begun() -> Engine:
    """Return a table whose migration has begun: some items have moved, and some have not."""
    engine = stored()
    stop_at(engine, Lending, "rewrite")
    with connect(engine, Lending) as db:
        touched = condition_check(Book.primary("2"))
        db.run(transact(touched, Loan.primary("3", 1).update(Loan.member.set("M1"))))
    return engine


def ended() -> Engine:
    engine = begun()
    migrations.apply(engine, Lending, lease_seconds=0)
    return engine


def items(engine: Engine) -> list[Any]:
    found = engine.call("Scan", {"TableName": "lending"})["Items"]
    return sorted((item for item in found if "$design" not in item), key=str)


READS: Plans = {
    "get": lambda: Book.primary("1"),
    "get an escaped value": lambda: Book.primary("5#"),
    "get what was moved": lambda: Book.primary("2"),
    "get a missing one": lambda: Book.primary("99"),
    "get another number": lambda: Loan.primary("4", 3),
    "get a number that no old key has": lambda: Loan.primary("4", 300),
    "some attributes": lambda: Loan.primary.within("4").select(Loan.member),
    "batch_get": lambda: batch_get([Book.primary(each) for each in ("1", "2", "7", "5#")]),
    "transact_get": lambda: transact_get(Book.primary("1"), Book.primary("2"), Book.primary("9")),
    "partition": lambda: Loan.primary.within("4"),
    "partition of which a part was moved": lambda: Loan.primary.within("3"),
    "range": lambda: Loan.primary.within("4").between(1, 2),
    "desc": lambda: Loan.primary.within("3").desc().limit(2),
    "small pages": lambda: Loan.primary.within("4").page_size(1),
    "filter": lambda: Loan.primary.within("4").filter(Loan.member == "M2"),
    "count": lambda: Loan.primary.within("4").count(),
    "first": lambda: Loan.primary.within("3").first(),
    "aggregate": lambda: BookWithLoans.of(Book.primary("3")),
    "index": lambda: Book.by_pages(0),
    "index in pages": lambda: Book.by_pages(1).desc().page_size(1),
    "unique": lambda: Book.titled("T4"),
}  # fmt: skip


def shown(result: Any) -> Any:
    """Return a result without what differs between two databases, such as cursors."""
    return list(result) if isinstance(result, (list, tuple)) else result


@pytest.mark.parametrize("name", READS)
def test_a_read_returns_what_it_returns_after_the_migration(name: str) -> None:
    plan = READS[name]
    with connect(ended(), Lending) as after:
        wanted = shown(after.run(plan()))
    for engine in (stored(), begun()):
        with connect(engine, Lending) as db:
            assert shown(db.run(plan())) == wanted


def new_book(isbn: str, **values: Any) -> Book:
    return Book(isbn=isbn, **{"title": f"N{isbn}"} | values)


WRITES: Plans = {
    "put": lambda: put(new_book("9")),
    "put of a loan that exists": lambda: put(Loan(isbn="4", number=1, member="new")),
    "create": lambda: create(new_book("7")),
    "update": lambda: Book.primary("1").update(Book.pages.set(1990)),
    "update of what was moved": lambda: Book.primary("2").update(Book.pages.increment(1)),
    "change a unique value": lambda: Book.primary("3").update(Book.title.set("Other")),
    "condition": lambda: Book.primary("1").update(Book.pages.set(7)).condition(Book.pages == 1),
    "upsert": lambda: Loan.primary("4", 2).upsert(Loan.member.set("new")),
    "upsert of a missing one": lambda: Loan.primary("4", 9).upsert(Loan.member.set("new")),
    "delete": lambda: Book.primary("4").delete(),
    "delete what was moved": lambda: Loan.primary("3", 1).delete(),
    "conditional delete": lambda: Book.primary("4").delete().condition(Book.title == "T4"),
    "put, old values": lambda: put(Loan(isbn="4", number=1, member="new")).returning("old"),
    "update, old values": lambda: Book.primary("1").update(Book.pages.set(7)).returning("old"),
    "upsert, old values": lambda: (
        Loan.primary("4", 2).upsert(Loan.member.set("new")).returning("old")
    ),
    "delete, old values": lambda: Loan.primary("3", 2).delete().returning("old"),
    "transact, old values": lambda: transact(
        Loan.primary("4", 2).upsert(Loan.member.set("new")).returning("old"),
        Loan.primary("4", 9).upsert(Loan.member.set("new")).returning("old"),
    ),
    "change a part of the key": lambda: Loan.primary("4", 1).update(Loan.number.set(7)),
    "transact": lambda: transact(
        create(new_book("8")),
        Book.primary("5#").update(Book.pages.increment(5)),
        condition_check(Loan.primary("3", 1)),
        Loan.primary("3", 2).delete(),
    ),
    "batch_write": lambda: batch_write(
        [put(Loan(isbn="4", number=1, member="b")), Loan.primary("3", 0).delete()]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_write_does_what_it_does_after_the_migration(name: str) -> None:
    engines = stored(), begun(), ended()
    results = []
    for engine in engines:
        with connect(engine, Lending) as db:
            results.append(shown(db.run(WRITES[name]())))
    for engine in engines[:2]:
        migrations.apply(engine, Lending, lease_seconds=0)
    for engine in engines:
        migrations.complete(engine, Lending)
    assert results[0] == results[1] == results[2]
    assert items(engines[0]) == items(engines[1]) == items(engines[2])


def test_a_write_returns_what_another_program_stored_while_it_looked_for_the_item() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        interfering = InterferingTransport(
            db.transport, lambda _: db.run(put(Loan(isbn="9", number=1, member="other")))
        )
        mine = put(Loan(isbn="9", number=1, member="mine")).returning("old")

        assert db.through(interfering).run(mine) == Loan(isbn="9", number=1, member="other")


@pytest.mark.parametrize("engine", [stored(), begun()], ids=["before", "meanwhile"])
def test_a_failed_write_changes_nothing_and_shows_the_item(engine: Engine) -> None:
    before = items(engine)
    with connect(engine, Lending) as db:
        with pytest.raises(ConditionFailed) as failed:
            db.run(Book.primary("2").delete().condition(Book.pages == 9))
        assert failed.value.current == db.run(Book.primary("2"))
        with pytest.raises(NotFound):
            db.run(Book.primary("99").update(Book.pages.set(1)))
        with pytest.raises(AlreadyExists):
            db.run(create(new_book("2")))
        with pytest.raises(UniqueViolation):
            db.run(create(new_book("77", title="T2")))
        with pytest.raises(ConditionFailed):
            db.run(
                transact(create(new_book("8")), condition_check(Book.primary("2"), Book.pages == 9))
            )
        stale = db.run(Book.primary("2"))
        assert stale is not None
        assert items(engine) == before
        db.run(Book.primary("2").update(Book.pages.set(7)))
        with pytest.raises(VersionConflict):
            db.run(put(stale))


def test_programs_of_both_versions_share_the_items_until_the_old_ones_end() -> None:
    engine = stored()
    with connect(engine, First) as old, connect(engine, Lending) as new:
        new.run(Book.primary("1").update(Book.pages.set(100)))
        new.run(create(new_book("7")))
        new.run(create(Loan(isbn="7", number=1, member="M7")))
        new.run(Book.primary("4").delete())
        found = old.run(OldBook.primary("1"))
        assert found is not None
        assert found.pages == 100
        assert old.run(OldBook.titled("N7")) is not None
        assert [each.member for each in old.run(OldLoan.primary.within("7"))] == ["M7"]
        assert old.run(OldBook.primary("4")) is None
        old.run(OldBook.primary("7").update(OldBook.pages.set(70)))
        old.run(create(OldBook(isbn="8", title="T8")))
        changed = new.run(Book.primary("7"))
        assert changed is not None
        assert changed.pages == 70
        assert new.run(Book.titled("T8")) is not None
    assert {"BOOK", "TITLE"} == {each["PK"]["S"].partition("#")[0] for each in items(engine)}


def test_a_connected_program_is_served_from_the_beginning_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It runs before, during and after the migration, and never waits or fails."""
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    engine = stored()
    with connect(engine, Lending) as db:
        count = 0

        def work(progress: MigrationProgress) -> None:
            nonlocal count
            count += 1
            db.run(Book.primary("1").update(Book.pages.set(count)))
            db.run(create(Loan(isbn="1", number=count + 10, member=progress.step.name)))
            assert len(db.run(Loan.primary.within("1"))) == count + 1

        work(MigrationProgress("lending", migrations.plan(engine, Lending)[0].steps[0], 0, 0))
        (report,) = migrations.apply(engine, Lending, progress=work)
        work(MigrationProgress("lending", report.steps[-1], 0, 0))
        migrations.complete(engine, Lending)
        found = db.run(BookWithLoans.of(Book.primary("1")))
    assert found is not None
    assert found.book.pages == count
    assert [each.member for each in found.loans[1:]][:3] == ["check", "check", "check"]
    assert {each["PK"]["S"].partition("#")[0] for each in items(engine)} == {"ISBN", "TITLE"}
    assert [each.name for each in report.steps] == [
        *("check", "await-programs", "rewrite", "await-new-keys", "verify", "switch")
    ]


def test_a_rollback_keeps_what_was_written_meanwhile() -> None:
    engine = ended()
    with connect(engine, Lending) as db:
        db.run(create(new_book("7")))
        db.run(Book.primary("1").update(Book.pages.set(11)))
        db.run(Loan.primary("4", 0).delete())
    with pytest.raises(DesignMismatch):
        connect(engine, First)
    migrations.rollback(engine, First)
    with connect(engine, Lending) as db:  # as before the migration
        assert db.run(Book.primary("7")) is not None
    with connect(engine, First) as db:
        found = db.run(OldBook.primary("1"))
        assert found is not None
        assert found.pages == 11
        assert db.run(OldBook.titled("N7")) is not None
        assert len(db.run(OldLoan.primary.within("4"))) == 3
    assert {"BOOK", "TITLE"} == {each["PK"]["S"].partition("#")[0] for each in items(engine)}


def test_a_rollback_lists_values_that_the_old_key_cannot_have() -> None:
    engine = ended()
    with connect(engine, Lending) as db:
        db.run(create(Loan(isbn="1", number=100, member="M")))
    before = items(engine)
    with pytest.raises(MigrationRefused, match="number is 100, outside the range 0 to 99"):
        migrations.rollback(engine, First)
    assert items(engine) == before
    connect(engine, Lending).close()


def test_a_table_scan_is_refused_while_items_move() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        with pytest.raises(IndexNotReady, match="would miss items that move"):
            db.run(Book.scan(reason="test"))
        with pytest.raises(IndexNotReady, match="read fewer items"):
            db.run(transact_get(*(Loan.primary("1", n) for n in range(60))))
        with pytest.raises(IndexNotReady, match="write fewer items at once"):
            db.run(transact(*(create(Loan(isbn="1", number=n, member="M")) for n in range(10, 70))))


def test_the_same_in_an_event_loop() -> None:
    async def work() -> Any:
        async with connect_async(begun(), Lending) as db:
            await db.run(Book.primary("1").update(Book.pages.increment(1)))
            return await db.run(BookWithLoans.of(Book.primary("1")))

    found = asyncio.run(work())
    assert (found.book.pages, len(found.loans)) == (2, 1)


# -- keys that do not follow, or cannot be composed ------------------------------------------------


def load(engine: Engine, table: type[Table], *entities: Any) -> None:
    with connect(engine, table) as db:
        for each in entities:
            db.run(create(each))
    migrations.baseline(engine, table)


def test_programs_wait_until_items_have_moved_if_the_former_key_does_not_follow() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr()
        primary = key("NOTE" / upper(note), "NOTE")

    engine = Engine(":memory:")
    load(engine, Before, OldNote(note="a"), OldNote(note="b"))
    with pytest.raises(DesignMismatch, match="is not prepared"):
        connect(engine, Notes)
    stop_at(engine, Notes, "rewrite")
    with pytest.raises(DesignMismatch, match="Wait until the migration has ended"):
        connect(engine, Notes)
    migrations.apply(engine, Notes, lease_seconds=0)
    with connect(engine, Notes) as db:
        assert db.run(Note.primary("A")) == Note(note="a")


def test_items_move_between_shards() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr()
        primary = key("SHARD" / shard(note, of=2), "NOTE" / note)

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr()
        primary = key("SHARD" / shard(note, of=5), "NOTE" / note)

    engine = Engine(":memory:")
    load(engine, Before, *(OldNote(note=f"{n}") for n in range(20)))
    migrations.apply(engine, Notes)
    with connect(engine, Notes) as db:
        found = db.run(Note.primary.all_shards())
        assert len(found) == 20
    migrations.rollback(engine, Before)
    with connect(engine, Before) as db:
        assert len(db.run(OldNote.primary.all_shards())) == 20


def test_an_item_that_is_created_again_under_its_other_key_is_no_conflict() -> None:
    pair = PAIRS["groups moved"]
    engine = prepared(pair)
    interrupt(engine, "apply", pair.new, "verify")
    moved = next(item for item in items_of(engine) if item["PK"]["S"].startswith("TEAM#"))
    key = {"PK": {"S": f"GROUP#{moved['group']['S']}"}, "SK": {"S": f"THING#{moved['tid']['S']}"}}
    send = sending(engine)

    def write_meanwhile(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal moved
        answer = send(operation, body)
        if operation == "Scan" and moved:
            old = {name: moved[name] for name in key}
            engine.call("DeleteItem", {"TableName": NAME, "Key": old})
            engine.call("PutItem", {"TableName": NAME, "Item": moved | key})
            moved = {}
        return answer

    drive(migration("rollback", pair.old), write_meanwhile)
    assert {item["PK"]["S"] for item in items_of(engine)} == {"GROUP#g", "GROUP#h"}


def test_items_that_get_the_same_key_are_listed_before_anything_is_changed() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        owner: Attr[str] = attr()
        note: Attr[str] = attr()
        primary = key("OWNER" / owner, "NOTE" / note)

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        owner: Attr[str] = attr()
        note: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    engine = Engine(":memory:")
    load(engine, Before, *(OldNote(owner=each, note="a") for each in ("ann", "bob")))
    with pytest.raises(MigrationRefused, match=r'cannot get the key PK="NOTE#a", SK="NOTE"'):
        migrations.apply(engine, Notes)
    with connect(engine, Before) as db:
        assert len(db.run(OldNote.primary.within("ann"))) == 1
        db.run(OldNote.primary("bob", "a").delete())
    migrations.apply(engine, Notes)
    with connect(engine, Notes) as db:
        assert db.run(Note.primary("a")) == Note(owner="ann", note="a")


def test_items_that_become_too_large_are_listed_before_anything_is_changed() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr()
        text: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr()
        text: Attr[str] = attr()
        primary = key("A_MUCH_LONGER_LITERAL" / note, "NOTE")

    engine = Engine(":memory:")
    largest = OldNote(note="a", text="x" * (400 * 1024 - 47))
    load(engine, Before, largest, OldNote(note="k" * 2030, text=""))
    with pytest.raises(MigrationRefused) as refused:
        migrations.apply(engine, Notes)
    assert "it would be larger than 409,600 bytes" in str(refused.value)
    assert "PK has 2,0" in str(refused.value)
    with connect(engine, Before) as db:
        assert db.run(OldNote.primary("a")) == largest


def test_values_that_are_stored_only_in_the_key_must_be_stored_first() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr(key_only=True)
        primary = key("NOTE" / note, "NOTE")

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr(key_only=True)
        primary = key("N" / note, "NOTE")

    engine = Engine(":memory:")
    load(engine, Before, OldNote(note="a"))
    with pytest.raises(MigrationRefused, match=r"Note\.note: its values are stored only in the"):
        migrations.apply(engine, Notes)
    with pytest.raises(DesignMismatch):
        connect(engine, Notes)


def test_a_former_key_that_could_be_taken_for_another_entity_is_refused() -> None:
    class Before(Table, name="notes"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    class Notes(Table, name="notes"):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr()
        primary = key("N" / note, "NOTE")

    class Other(Entity, table=Notes):
        other: Attr[str] = attr()
        primary = key("NOTE" / other, "NOTE")

    engine = Engine(":memory:")
    load(engine, Before, OldNote(note="a"))
    with pytest.raises(MigrationRefused, match=r"can be equal to that of Other\.primary"):
        migrations.apply(engine, Notes)


def test_a_natural_key_becomes_a_composed_one() -> None:
    class Before(Table, name="notes", pk="id", sk=None):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        code: Attr[str] = attr(name="id")
        text: Attr[str] = attr()
        primary = key(code)

    class Notes(Table, name="notes", pk="id", sk=None):
        pass

    class Note(Entity, table=Notes):
        note: Attr[str] = attr(renamed_from="id")
        text: Attr[str] = attr()
        primary = key("NOTE" / note)

    engine = Engine(":memory:")
    load(engine, Before, *(OldNote(code=each, text="t") for each in ("a", "b#")))
    migrations.apply(engine, Notes)
    with connect(engine, Notes) as db:
        assert db.run(Note.primary("b#")) == Note(note="b#", text="t")
    migrations.rollback(engine, Before)
    with connect(engine, Before) as db:
        assert db.run(OldNote.primary("b#")) == OldNote(code="b#", text="t")
