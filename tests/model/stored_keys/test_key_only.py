"""Attributes that live only in keys: written into them, and parsed from them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    put,
    update,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.formats import day, iso, lower
from tests.model.declaring.declarations import refused
from tests.new_table import new_indexed_table, new_table


class Games(Table, name="games"):
    by_map = GSI("GSI1PK", "GSI1SK")
    slim = GSI("GSI2PK", "GSI2SK", project="KEYS_ONLY")


class Game(Entity, table=Games):
    player: Attr[str] = attr(key_only=True)
    number: Attr[int] = attr(pad=4, key_only=True)
    world: Attr[str] = attr(key_only=True)
    score: Attr[int] = attr(default=0)

    primary = key("PLAYER" / player, "GAME" / number)
    by_map = index(Games.by_map, "MAP" / world, "GAME" / number)
    slim = index(Games.slim, "PLAYER" / player, "MAP" / world)


@pytest.fixture
def engine() -> Engine:
    return Engine(":memory:")


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Games)
    db.run(create(Game(player="a#b", number=7, world="ice", score=3)))
    return db


def item(engine: Engine) -> dict[str, Any]:
    (found,) = engine.call("Scan", {"TableName": "games"})["Items"]
    stored: dict[str, Any] = found
    return stored


def test_it_is_stored_in_keys_and_nowhere_else(db: Database, engine: Engine) -> None:
    assert item(engine) == {
        "PK": {"S": "PLAYER#a$!b"},
        "SK": {"S": "GAME#0007"},
        "GSI1PK": {"S": "MAP#ice"},
        "GSI1SK": {"S": "GAME#0007"},
        "GSI2PK": {"S": "PLAYER#a$!b"},
        "GSI2SK": {"S": "MAP#ice"},
        "type": {"S": "Game"},
        "score": {"N": "3"},
    }


def test_every_read_parses_it(db: Database) -> None:
    game = Game(player="a#b", number=7, world="ice", score=3)
    assert db.run(Game.primary("a#b", 7)) == game
    assert db.run(Game.primary.within("a#b")) == [game]
    assert db.run(Game.by_map("ice").gte(7)) == [game]
    assert db.run(Game.scan(reason="test")) == [game]


def test_its_order_in_the_instance_is_that_of_the_declaration(db: Database) -> None:
    found = db.run(Game.primary("a#b", 7))
    assert repr(found) == "Game(player='a#b', number=7, world='ice', score=3)"


def test_put_and_update_keep_the_keys(db: Database, engine: Engine) -> None:
    before = item(engine)
    game = db.run(Game.primary("a#b", 7))
    assert game is not None
    db.run(put(game))
    assert item(engine) == before
    db.run(update(game, Game.score.increment(1)))
    assert item(engine) == before | {"score": {"N": "4"}}


def test_dynamodb_cannot_filter_by_it(db: Database) -> None:
    with pytest.raises(DeclarationError, match="stored only inside keys"):
        Game.primary.within("a#b").filter(Game.world == "ice")


def test_an_update_changes_the_keys_of_indexes(db: Database, engine: Engine) -> None:
    assert db.run(Game.primary("a#b", 7).update(Game.world.set("fire"))).world == "fire"
    assert item(engine)["GSI1PK"] == {"S": "MAP#fire"}
    assert db.run(Game.slim("a#b").eq("fire").count()) == 1


def test_a_value_that_the_key_would_shorten_is_refused() -> None:
    logs = new_table("logs")

    class Line(Entity, table=logs):
        at: Attr[datetime] = attr(key_only=True)
        host: Attr[str] = attr(key_only=True)
        primary = key("HOST" / lower(host), "AT" / iso(at, "seconds"))

    with connect(":memory:", logs) as db:
        whole = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
        line = db.run(create(Line(at=whole, host="web")))
        assert db.run(Line.primary("web", whole)) == line
        with pytest.raises(InvalidValue, match="of which the key keeps"):
            db.run(create(Line(at=whole.replace(microsecond=5), host="web")))
        with pytest.raises(InvalidValue, match="host is 'Web', of which the key keeps 'web'"):
            db.run(create(Line(at=whole, host="Web")))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_an_attribute_whose_index_key_can_be_missing_is_refused(is_sparse: bool) -> None:
    shelves = new_indexed_table("shelves")

    with refused(
        "Book.row is key_only and is stored only in Book.by_row", "the value would be lost"
    ):

        class Book(Entity, table=shelves):
            book_id: Attr[str] = attr()
            shelf: Attr[str | None] = attr(default=None)
            row: Attr[int] = attr(pad=3, key_only=True)
            primary = key("BOOK" / book_id, "BOOK")
            by_row = index(
                shelves.gsi1,
                "SHELF" / (shelf if is_sparse else book_id),
                row,
                when=None if is_sparse else shelf.exists(),
            )


def test_a_value_that_no_key_of_the_item_would_contain_is_refused() -> None:
    shelves = new_indexed_table("shelves")

    class Book(Entity, table=shelves):
        book_id: Attr[str] = attr()
        shelf: Attr[str | None] = attr(default=None)
        is_lent: Attr[bool] = attr(default=False)
        row: Attr[int | None] = attr(pad=3, key_only=True, default=None)
        primary = key("BOOK" / book_id, "BOOK")
        by_row = index(shelves.gsi1, "SHELF" / shelf, row, when=is_lent == False)  # noqa: E712

    with connect(":memory:", shelves) as db:
        for book in Book(book_id="A"), Book(book_id="B", shelf="S", row=7):
            db.run(create(book))
            assert db.run(Book.primary(book.book_id)) == book
        message = r"^Book\.row is 7, which cannot be stored: it is stored only in 'GSI1SK'"
        with pytest.raises(InvalidValue, match=message):
            db.run(create(Book(book_id="C", row=7)))
        assert db.run(Book.primary("C")) is None
        with pytest.raises(InvalidValue, match=message):
            db.run(Book.primary("B").update(Book.shelf.set(None)))
        book_b = Book(book_id="B", shelf="S", row=7)
        assert db.run(Book.primary("B")) == book_b
        with pytest.raises(InvalidValue, match=message):
            db.run(Book.primary("B").update(Book.is_lent.set(True)))
        assert db.run(Book.primary("B")) == book_b


def test_an_attribute_that_no_key_gives_back_is_refused() -> None:
    logs = new_table("logs")
    with refused("Line.note is key_only", "no key contains its value"):

        class Line(Entity, table=logs):
            host: Attr[str] = attr()
            note: Attr[str] = attr(key_only=True)
            primary = key("HOST" / host, "LINE")

    with refused("Day.at is key_only", "no key contains its value"):

        class Day(Entity, table=logs):
            host: Attr[str] = attr()
            at: Attr[date] = attr(key_only=True)
            primary = key("HOST" / host, "DAY" / day(at))

    with refused("Named.host", "leave name= out"):

        class Named(Entity, table=logs):
            host: Attr[str] = attr(name="h", key_only=True)
            primary = key("HOST" / host, "NAMED")


def test_a_moment_with_the_delimiter_in_it_is_parsed_from_the_key() -> None:
    talks = new_table("talks", type_attribute=None, delimiter=":", escape=False)

    class Talk(Entity, table=talks):
        room: Attr[str] = attr(key_only=True)
        at: Attr[datetime] = attr(key_only=True)

        primary = key("Room" / room, "Talk" / iso(at, "seconds") / "End")

    at = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
    with connect(":memory:", talks) as database:
        database.run(create(Talk(room="A", at=at)))
        assert database.run(Talk.primary("A", at)) == Talk(room="A", at=at)
        (stored,) = database.run(Talk.scan(reason="test"))
        assert stored.at == at
