"""Previews of plans with several requests, and of plans that depend on what they find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    batch_write,
    children,
    connect,
    delete_all,
    index,
    key,
    put,
    root,
    transact,
    update_all,
    version,
)
from tablewright.database import Database
from tablewright.errors import ConditionalCheckFailedException, ConditionFailed, NotFound
from tablewright.plans import Plan
from tablewright.studio.markup.preview_parts import (
    differences,
    not_atomic,
    totals,
    touched,
    verdict,
)
from tablewright.studio.writes.applying import CannotGuard, apply
from tablewright.studio.writes.overlay import MAX_ITEMS, PreviewTooLarge
from tablewright.studio.writes.preview import preview
from tests.studio.test_preview import changes, listed_units, previewed, state


class Notes(Table, name="notes"):
    by_colour = GSI("colour", "PK", project="KEYS_ONLY")


class Book(Entity, table=Notes):
    book_id: Attr[str] = attr()
    pages: Attr[int] = attr(default=0)
    counted: Attr[int] = version()
    primary = key("BOOK" / book_id, "BOOK" / book_id.again)


class Note(Entity, table=Notes):
    book_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    colour: Attr[str | None] = attr(default=None)
    primary = key("BOOK" / book_id, "NOTE" / number)
    coloured = index(Notes.by_colour, colour, "BOOK" / book_id)


class WholeBook(Aggregate):
    book: Book = root()
    notes: list[Note] = children()


@pytest.fixture
def database() -> Iterator[Database]:
    with connect(":memory:", Notes) as opened:
        opened.run(put(Book(book_id="B1")))
        notes = [Note(book_id="B1", number=each, colour="red") for each in range(130)]
        opened.run(batch_write([put(note) for note in notes]))
        yield opened


def plans() -> list[Plan[object]]:
    notes = [Note(book_id="B2", number=each) for each in range(60)]
    return [
        delete_all(Note.primary.within("B1")),
        delete_all(Note.coloured("red")),
        delete_all(WholeBook.of(Book.primary("B1"))),
        update_all(Note.primary.within("B1"), Note.colour.set("blue")),
        update_all(Note.coloured("red"), Note.colour.set(None)),
        batch_write([put(note) for note in notes]),
        transact(*(put(note) for note in notes)),
        Book.primary("B1").update(Book.book_id.set("B9")),
    ]


@pytest.mark.parametrize("number", range(len(plans())))
def test_what_is_previewed_is_done_in_all_requests(database: Database, number: int) -> None:
    before = state(database)
    found = preview(database, plans()[number])
    assert state(database) == before
    assert found.error is None
    outcome = apply(found, database._transport)
    assert outcome.is_applied
    assert changes(before, state(database)) == previewed(found)
    assert outcome.write_units == found.write_units == listed_units(found)


def test_the_page_says_what_is_not_atomic(database: Database) -> None:
    several = preview(database, delete_all(Note.primary.within("B1")))
    assert not several.is_atomic
    assert "the writes before it stay" in not_atomic(several)
    assert "not atomic" in totals(several)
    one = preview(database, Book.primary("B1").update(Book.pages.set(3)))
    assert one.is_atomic
    assert not_atomic(one) == ""


def test_a_change_between_two_requests_stops_the_rest(database: Database) -> None:
    """What was written before stays; a new preview shows the rest."""
    found = preview(database, delete_all(Note.primary.within("B1")))
    requests = 0

    class Meddling:
        """Changes a note after the first fifty requests."""

        def send(self, operation: str, request: dict[str, object]) -> object:
            nonlocal requests
            if operation == "DeleteItem":
                requests += 1
                if requests == 50:
                    database.run(put(Note(book_id="B1", number=100, colour="green")))
            return database._transport.send(operation, request)

        def close(self) -> None:
            pass

    outcome = apply(found, Meddling())  # type: ignore[arg-type]
    assert outcome.is_outdated
    assert 0 < outcome.done < outcome.requests
    rest = preview(database, delete_all(Note.primary.within("B1")))
    assert len(rest.items) == 130 - outcome.done
    assert apply(rest, database._transport).is_applied


def test_a_new_row_that_the_plan_would_find_prevents_the_write(database: Database) -> None:
    found = preview(database, delete_all(WholeBook.of(Book.primary("B1"))))
    database.run(put(Note(book_id="B1", number=999)))
    before = state(database)
    assert apply(found, database._transport).is_outdated
    assert state(database) == before


def test_a_lost_response_is_not_taken_for_a_change_by_others(database: Database) -> None:
    """The write may have been applied by the first attempt: the error says so."""
    found = preview(database, Book.primary("B1").update(Book.pages.set(5)))

    class Losing:
        """Applies each write, loses its response, and sends the request again."""

        def send(self, operation: str, request: dict[str, object]) -> object:
            database._transport.send(operation, request)
            try:
                return database._transport.send(operation, request)
            except ConditionalCheckFailedException as fault:
                fault.maybe_applied = True
                raise

        def close(self) -> None:
            pass

    with pytest.raises(ConditionalCheckFailedException) as raised:
        apply(found, Losing())  # type: ignore[arg-type]
    assert raised.value.maybe_applied
    assert database.run(Book.primary("B1")).pages == 5  # type: ignore[union-attr]


def test_a_refused_write_says_why_with_what_is_stored(database: Database) -> None:
    refused = Book.primary("B1").update(Book.pages.set(1)).condition(Book.pages == 7)
    found = preview(database, refused)
    assert isinstance(found.error, ConditionFailed)
    assert not found.items
    shown = verdict(found)
    assert "this would be refused" in shown
    assert "pages = 7" in shown
    assert "stored: pages 0" in shown
    missing = preview(database, Book.primary("B7").update(Book.pages.set(1)))
    assert isinstance(missing.error, NotFound)
    with pytest.raises(ValueError, match="cannot be applied"):
        apply(found, database._transport)


def test_a_write_of_too_many_items_is_not_previewed(database: Database) -> None:
    notes = [Note(book_id="B3", number=each) for each in range(MAX_ITEMS + 1)]
    with pytest.raises(PreviewTooLarge, match="more than a preview shows"):
        preview(database, batch_write([put(note) for note in notes]))


def test_an_item_with_too_many_attributes_is_not_written(database: Database) -> None:
    wide = {f"a{each}": {"S": "x"} for each in range(400)}
    name = database._context.name_of(Notes.__table__)
    item = {"PK": {"S": "BOOK#B8"}, "SK": {"S": "BOOK#B8"}, "book_id": {"S": "B8"}, **wide}
    database._transport.send("PutItem", {"TableName": name, "Item": item})
    found = preview(database, Book.primary("B8").delete())
    with pytest.raises(CannotGuard, match="more attributes than a condition can compare"):
        apply(found, database._transport)


def test_hostile_values_are_shown_as_text(database: Database) -> None:
    note = Note(book_id="<img src=x>", number=1, colour="\u202e<script>")
    shown = "".join(part(preview(database, put(note))) for part in (verdict, differences, touched))
    assert "<img" not in shown
    assert "<script" not in shown
    assert "\u202e" not in shown
