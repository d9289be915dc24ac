"""Programs of the new version while items are rewritten: as if the migration had ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
    batch_write,
    connect,
    connect_async,
    create,
    index,
    key,
    migrations,
    put,
    transact,
    transact_get,
    unique,
    version,
)
from tablewright.database import Database
from tablewright.errors import ConditionFailed, IndexNotReady, NotFound, VersionConflict
from tablewright.plan.migration import admission
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import Stopped

Plans = dict[str, Callable[[], Any]]


class First(Table, name="lending"):
    gsi1 = GSI("G1PK", "G1SK")
    keys = GSI("G2PK", "G2SK", project="KEYS_ONLY")


class OldBook(Entity, table=First, type_name="Book"):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    year: Attr[int] = attr(pad=4)
    pages: Attr[str] = attr()
    note: Attr[str | None] = attr(default=None)
    copy: Attr[int] = version()
    primary = key("SHELF", "BOOK" / isbn)
    by_year = index(First.gsi1, "YEAR" / year, "BOOK" / isbn)
    listed = index(First.keys, "LIST", "BOOK" / isbn)
    titled = unique("TITLE" / title, keep=(isbn, year), type_name="Book.titled")


class Lending(Table, name="lending"):
    gsi1 = GSI("G1PK", "G1SK")
    keys = GSI("G2PK", "G2SK", project="KEYS_ONLY")


class Book(Entity, table=Lending, type_name="Volume", renamed_from="Book"):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    published: Attr[int] = attr(pad=4, renamed_from="year")
    pages: Attr[int] = attr(fill=lambda item: int(item["pages"]))
    remark: Attr[str | None] = attr(default=None, renamed_from="note")
    language: Attr[str] = attr(fill="en")
    copy: Attr[int] = version()
    primary = key("SHELF", "BOOK" / isbn)
    by_year = index(Lending.gsi1, "YEAR" / published, "BOOK" / isbn)
    listed = index(Lending.keys, "LIST", "BOOK" / isbn)
    titled = unique("TITLE" / title, keep=(isbn, published))


def stored() -> Engine:
    """Return a table with books of the first version."""
    engine = Engine(":memory:")
    with connect(engine, First) as db:
        for number in range(6):
            note = "old" if number % 2 else None
            values: dict[str, Any] = {"year": 1800 + number % 3, "pages": f"{number}0"}
            db.run(create(OldBook(isbn=f"{number}", title=f"T{number}", note=note, **values)))
    migrations.baseline(engine, First)
    return engine


def begun() -> Engine:
    """Return a table whose migration has begun: some items are rewritten, and some are not."""
    engine = stored()
    stop_at_rewrite(engine, Lending)
    with connect(engine, Lending) as db:
        db.run(Book.primary("2").update(Book.language.set("de")))
    return engine


def ended() -> Engine:
    engine = begun()
    migrations.apply(engine, Lending, lease_seconds=0)
    return engine


def value(isbn: str, **values: Any) -> Book:
    made: dict[str, Any] = {
        "title": f"N{isbn}",
        "published": 1900,
        "pages": 9,
        "language": "fr",
    } | values
    return Book(isbn=isbn, **made)


READS: Plans = {
    "get": lambda: Book.primary("1"),
    "get a missing one": lambda: Book.primary("99"),
    "batch_get": lambda: batch_get([Book.primary("1"), Book.primary("2"), Book.primary("7")]),
    "transact_get": lambda: transact_get(Book.primary("1"), Book.primary("2")),
    "index": lambda: Book.by_year(1801),
    "desc": lambda: Book.by_year(1801).desc().page_size(1),
    "filter": lambda: Book.by_year(1801).filter((Book.published >= 1801) & (Book.pages > 5)),
    "filter of a filled value": lambda: Book.by_year(1802).filter(Book.language == "en"),
    "filter of an absent value": lambda: Book.by_year(1800).filter(Book.remark.not_exists()),
    "select in an index": lambda: Book.by_year(1801).select(Book.isbn, Book.remark),
    "count": lambda: Book.by_year(1801).filter(Book.remark == "old").count(),
    "first": lambda: Book.by_year(1802).first(),
    "unique": lambda: Book.titled("T4"),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_returns_what_it_returns_after_the_migration(name: str) -> None:
    plan = READS[name]
    with connect(begun(), Lending) as db, connect(ended(), Lending) as after:
        assert shown(db.run(plan())) == shown(after.run(plan()))


def shown(result: Any) -> Any:
    """Return a result without what differs between two databases, such as cursors."""
    return list(result) if isinstance(result, (list, tuple)) else result


WRITES: Plans = {
    "put": lambda: put(value("9")),
    "create": lambda: create(value("7")),
    "update": lambda: Book.primary("1").update(Book.published.set(1990)),
    "increment": lambda: Book.primary("1").update(Book.published.increment(1)),
    "remove": lambda: Book.primary("1").update(Book.remark.remove()),
    "change a unique value": lambda: Book.primary("3").update(Book.title.set("Other")),
    "condition": lambda: Book.primary("1").update(Book.pages.set(1)).condition(
        (Book.published == 1801) & (Book.language == "en") & (Book.remark == "old")
    ),
    "delete": lambda: Book.primary("4").delete(),
    "conditional delete": lambda: Book.primary("4").delete().condition(Book.pages == 40),
    "transact": lambda: transact(
        create(value("8")), Book.primary("5").update(Book.pages.increment(5))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_write_does_what_it_does_after_the_migration(name: str) -> None:
    engines = begun(), ended()
    for engine in engines:
        with connect(engine, Lending) as db:
            db.run(WRITES[name]())
    migrations.apply(engines[0], Lending, lease_seconds=0)
    for engine in engines:
        migrations.complete(engine, Lending)
    assert stored_items(engines[0]) == stored_items(engines[1])


def test_old_values_are_those_that_a_read_returns() -> None:
    def read_and_replaced(engine: Engine) -> tuple[Any, Any]:
        with connect(engine, Lending) as db:
            change = Book.primary("1").update(Book.pages.set(1)).returning("old")
            return db.run(Book.primary("1")), db.run(change)

    for engine in (begun(), ended()):
        found, replaced = read_and_replaced(engine)
        assert found == replaced


def stored_items(engine: Engine) -> list[Any]:
    items = engine.call("Scan", {"TableName": "lending"})["Items"]
    return sorted((item for item in items if "$design" not in item), key=lambda each: str(each))


def test_a_failed_condition_leaves_the_values_as_they_were() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        with pytest.raises(ConditionFailed) as failed:
            db.run(Book.primary("1").delete().condition(Book.published == 1))
        assert failed.value.current == db.run(Book.primary("1"))
        with pytest.raises(NotFound):
            db.run(Book.primary("99").update(Book.pages.set(1)))
        stale = db.run(Book.primary("1"))
        assert stale is not None
        db.run(Book.primary("1").update(Book.pages.set(7)))
        with pytest.raises(VersionConflict):
            db.run(put(stale))


def test_batches_replace_items_in_either_form() -> None:
    class Before(Table, name="plain"):
        pass

    class OldNote(Entity, table=Before, type_name="Note"):
        note: Attr[str] = attr()
        text: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    class Plain(Table, name="plain"):
        pass

    class Note(Entity, table=Plain, type_name="Note"):
        note: Attr[str] = attr()
        body: Attr[str] = attr(renamed_from="text")
        primary = key("NOTE" / note, "NOTE")

    engine = Engine(":memory:")
    with connect(engine, Before) as db:
        for name in "abc":
            db.run(create(OldNote(note=name, text="old")))
    migrations.baseline(engine, Before)
    stop_at_rewrite(engine, Plain)
    with connect(engine, Plain) as db:
        db.run(batch_write([put(Note(note="a", body="new")), Note.primary("b").delete()]))
        found = [db.run(Note.primary(name)) for name in "abc"]
    assert found == [Note(note="a", body="new"), None, Note(note="c", body="old")]


def stop_at_rewrite(engine: Engine, table: type[Table]) -> None:
    def stop(progress: MigrationProgress) -> None:
        if progress.step.name == "rewrite":
            raise Stopped

    with suppress(Stopped):
        migrations.apply(engine, table, progress=stop)


def test_an_index_without_all_attributes_is_refused_until_the_end() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        with pytest.raises(IndexNotReady, match="does not have all attributes"):
            db.run(Book.listed().select(Book.isbn))
        migrations.apply(engine, Lending, lease_seconds=0)
    with connect(engine, Lending) as db:
        assert len(db.run(Book.listed().select(Book.isbn))) == 6


def test_a_program_notices_that_the_migration_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    engine = begun()
    with connect(engine, Lending) as db:
        assert phase(db) == [False]
        migrations.apply(engine, Lending, lease_seconds=0)
        assert phase(db) == [True]
        migrations.complete(engine, Lending)
        assert phase(db) == []


def phase(db: Database) -> list[bool]:
    """Return whether the items are prepared, for the table that is in transition."""
    db.run(Book.primary("1"))
    watch = db._context.watch
    assert isinstance(watch, admission.ProgramWatch)
    return [each.is_prepared for each in watch.transitions.values()]


def test_the_same_in_an_event_loop() -> None:
    async def work() -> Any:
        async with connect_async(begun(), Lending) as db:
            await db.run(Book.primary("1").update(Book.published.increment(1)))
            return await db.run(Book.primary("1"))

    found = asyncio.run(work())
    assert (found.published, found.pages, found.language) == (1802, 10, "en")


def test_an_item_that_a_program_has_written_has_no_former_name() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        db.run(Book.primary("1").update(Book.language.set("it")))
    (item,) = [each for each in stored_items(engine) if each["SK"] == {"S": "BOOK#1"}]
    assert not {"year", "note"} & {*item}
    assert item["published"] == {"N": "1801"}


def test_a_rollback_of_a_migration_that_has_begun_keeps_what_programs_have_written() -> None:
    engine = begun()
    with connect(engine, Lending) as db:
        db.run(create(value("7", published=1950)))
        db.run(Book.primary("1").update(Book.published.set(1990), Book.remark.remove()))
    migrations.rollback(engine, RollbackTo, lease_seconds=0)
    with connect(engine, RollbackTo) as db:
        found = db.run(RollbackBook.primary("1"))
        assert found is not None
        assert (found.year, found.note, found.pages) == (1990, None, "10")
        created = db.run(RollbackBook.primary("7"))
        assert created is not None
        assert created.year == 1950


class RollbackTo(Table, name="lending"):
    """The first version, with what it needs of items that the second one has written."""

    gsi1 = GSI("G1PK", "G1SK")
    keys = GSI("G2PK", "G2SK", project="KEYS_ONLY")


class RollbackBook(Entity, table=RollbackTo, type_name="Book"):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    year: Attr[int] = attr(pad=4)
    pages: Attr[str] = attr(fill=lambda item: str(item["pages"]))
    note: Attr[str | None] = attr(default=None)
    copy: Attr[int] = version()
    primary = key("SHELF", "BOOK" / isbn)
    by_year = index(RollbackTo.gsi1, "YEAR" / year, "BOOK" / isbn)
    listed = index(RollbackTo.keys, "LIST", "BOOK" / isbn)
    titled = unique("TITLE" / title, keep=(isbn, year), type_name="Book.titled")
