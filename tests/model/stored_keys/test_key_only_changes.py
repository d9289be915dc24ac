"""Attributes that live only in keys change: a move, or other keys in indexes; and conditions."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    condition_check,
    connect,
    create,
    explain,
    history,
    index,
    key,
    put,
    save,
    transact,
    unique,
    update,
    upsert,
    version,
)
from tablewright.database import Database
from tablewright.errors import AlreadyExists, ConditionFailed, DeclarationError, InvalidValue
from tablewright.plans import Plan
from tests.prepared import with_tables
from tests.transports import record_requests


class Games(Table, name="games"):
    by_map = GSI("GSI1PK", "GSI1SK")


class Player(Entity, table=Games):
    """Its items consist of keys alone."""

    name: Attr[str] = attr(key_only=True)
    team: Attr[str] = attr(key_only=True)
    primary = key("TEAM" / team, "PLAYER" / name)


class Shift(Entity, table=Games):
    """Is below a player."""

    name: Attr[str] = attr(key_only=True)
    team: Attr[str] = attr(key_only=True)
    number: Attr[int] = attr(pad=3, key_only=True)
    minutes: Attr[int] = attr(default=0)
    primary = key("TEAM" / team, "PLAYER" / name / "SHIFT" / number)


class Moved(Entity, table=Games):
    game: Attr[str] = attr()
    version: Attr[int] = attr(pad=3)
    old: Attr[str | None] = attr(default=None)
    new: Attr[str | None] = attr(default=None)
    primary = key("MOVED" / game, "V" / version)


class Game(Entity, table=Games):
    game: Attr[str] = attr(key_only=True)
    world: Attr[str | None] = attr(key_only=True, default=None)
    score: Attr[int] = attr(pad=4, default=0)
    version: Attr[int] = version()
    primary = key("GAME" / game, "GAME")
    by_map = index(Games.by_map, "MAP" / world, "SCORE" / score)
    moves = history(world, Moved)


class Hall(Entity, table=Games):
    hall: Attr[str] = attr()
    door: Attr[str] = attr(key_only=True)
    code: Attr[str] = attr(default="x")
    primary = key("HALL" / hall, "DOOR" / door)
    by_door = unique("HALLDOOR" / door / hall)


@pytest.fixture
def prepare() -> Any:
    return with_tables(Games)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Games)


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "games"})["Items"]
    return found


def test_a_changed_value_moves_an_item_that_has_only_keys(db: Database, engine: Engine) -> None:
    db.run(create(Player(name="ann", team="red")))
    assert db.run(Player.primary("red", "ann").update(Player.team.set("blue"))) == Player(
        name="ann", team="blue"
    )
    (item,) = items(engine)
    assert item == {
        "PK": {"S": "TEAM#blue"},
        "SK": {"S": "PLAYER#ann"},
        "type": {"S": "Player"},
    }


def test_several_parts_of_one_key_change_together(db: Database) -> None:
    db.run(create(Shift(team="red", name="ann", number=1, minutes=5)))
    changes = Shift.name.set("bob"), Shift.number.set(2), Shift.minutes.increment(1)
    db.run(Shift.primary("red", "ann", 1).update(*changes))
    assert db.run(Shift.primary("red", "bob", 2)) == Shift(
        team="red", name="bob", number=2, minutes=6
    )
    assert db.run(Shift.primary("red", "ann", 1)) is None


def test_rows_below_follow_in_the_attributes_that_are_only_in_their_keys(db: Database) -> None:
    player = db.run(create(Player(name="ann", team="red")))
    for number in (1, 2):
        db.run(create(Shift(team="red", name="ann", number=number)))
    db.run(update(player, Player.name.set("bob")))
    assert (player.name, player.team) == ("bob", "red")
    assert [each.number for each in db.run(Shift.primary.within("red").eq("bob"))] == [1, 2]
    assert not db.run(Shift.primary.within("red").eq("ann"))


def test_save_moves_as_update_does(db: Database, engine: Engine) -> None:
    db.run(create(Player(name="ann", team="red")))
    player = db.run(Player.primary("red", "ann").or_raise())
    player.team = "blue"
    db.run(save(player))
    player.team = "blue"
    db.run(save(player))
    assert [item["PK"]["S"] for item in items(engine)] == ["TEAM#blue"]


def test_the_same_value_is_no_move(db: Database, engine: Engine) -> None:
    db.run(create(Player(name="ann", team="red")))
    same = Player.primary("red", "ann").update(Player.team.set("red"))
    assert db.run(same) == Player(name="ann", team="red")
    assert len(items(engine)) == 1


def test_a_move_needs_its_item_and_a_free_key(db: Database) -> None:
    db.run(create(Player(name="ann", team="red")))
    db.run(create(Player(name="ann", team="blue")))
    with pytest.raises(AlreadyExists):
        db.run(Player.primary("red", "ann").update(Player.team.set("blue")))
    moved = db.run(transact(Player.primary("red", "ann").update(Player.team.set("green"))))
    assert moved is not None
    assert db.run(Player.primary("green", "ann")) == Player(name="ann", team="green")


def test_unique_values_follow(db: Database) -> None:
    db.run(create(Hall(hall="H", door="1")))
    db.run(Hall.primary("H", "1").update(Hall.door.set("2")))
    assert db.run(Hall.by_door("2", "H").or_raise()).door == "2"
    assert db.run(Hall.by_door("1", "H")) is None


def test_a_value_in_the_key_of_an_index_changes_that_key(db: Database, engine: Engine) -> None:
    db.run(create(Game(game="7", score=3)))
    found = db.run(Game.primary("7").update(Game.world.set("ice")))
    assert (found.world, found.score, found.version) == ("ice", 3, 2)
    assert [each.game for each in db.run(Game.by_map("ice"))] == ["7"]
    db.run(Game.primary("7").update(Game.world.set("fire"), Game.score.set(9)))
    assert [each.score for each in db.run(Game.by_map("fire"))] == [9]
    db.run(Game.primary("7").update(Game.world.remove()))
    assert "GSI1PK" not in next(item for item in items(engine) if item["PK"]["S"] == "GAME#7")
    moves = [(each.old, each.new) for each in db.run(Moved.primary.within("7"))]
    assert moves == [(None, "ice"), ("ice", "fire"), ("fire", None)]


def test_an_instance_has_the_new_value_also_after_a_transaction(db: Database) -> None:
    class Seats(Table, name="seats"):
        by_row = GSI("GSI1PK", "GSI1SK")

    class Seat(Entity, table=Seats):
        seat: Attr[str] = attr()
        row: Attr[str | None] = attr(key_only=True, default=None)
        primary = key("SEAT" / seat, "SEAT")
        by_row = index(Seats.by_row, "ROW" / row, "SEAT" / seat)

    with connect(":memory:", Seats) as seats:
        seat = seats.run(create(Seat(seat="1")))
        other = seats.run(create(Seat(seat="2")))
        seats.run(transact(update(seat, Seat.row.set("A")), update(other, Seat.row.set("B"))))
        assert (seat.row, other.row) == ("A", "B")
        recorded = record_requests(seats)
        seats.run(save(seat))
        assert recorded.requests == []
        seats.run(Seat.primary("1").update(Seat.row.set("C")))
        assert recorded.operations == ["UpdateItem"]
        assert [each.seat for each in seats.run(Seat.by_row("C"))] == ["1"]


def test_a_change_that_is_not_a_value_is_refused(db: Database) -> None:
    with pytest.raises(InvalidValue, match=r"Shift\.number is stored only inside keys.*use set"):
        Shift.primary("red", "ann", 1).update(Shift.number.increment(1))
    with pytest.raises(InvalidValue, match=r"Shift\.number is changed twice"):
        Shift.primary("red", "ann", 1).update(Shift.number.set(1), Shift.number.set(2))
    with pytest.raises(InvalidValue, match=r"Game\.world is stored only inside keys.*upsert"):
        upsert(Game(game="7"), Game.world.set("ice"))
    with pytest.raises(InvalidValue, match=r"Player\.team cannot be removed"):
        Player.team.remove()


# -- conditions ------------------------------------------------------------------------------------


WRITES: list[tuple[Plan[Any], bool]] = [
    (Player.primary("red", "ann").delete().condition(Player.name.exists()), True),
    (Player.primary("red", "ann").delete().condition(Player.name.not_exists()), False),
    (put(Player(name="ann", team="red")).condition(~Player.team.not_exists()), True),
    (put(Player(name="ann", team="red")).condition(Player.team.not_exists()), False),
    (put(Player(name="bob", team="red")).condition(Player.team.not_exists()), True),
    (
        put(Player(name="bob", team="red")).condition(
            Player.team.exists() | Player.name.not_exists()
        ),
        True,
    ),
    (condition_check(Player.primary("red", "ann"), Player.name.exists()), True),
    (Game.primary("7").update(Game.score.set(1)).condition(Game.world.exists()), True),
    (Game.primary("7").update(Game.score.set(1)).condition(Game.world.not_exists()), False),
]


@pytest.mark.parametrize(("write", "is_done"), WRITES)
def test_whether_it_exists_is_whether_its_key_does(db: Database, write: Any, is_done: bool) -> None:
    db.run(create(Player(name="ann", team="red")))
    db.run(create(Game(game="7", world="ice")))
    if is_done:
        db.run(transact(write))
    else:
        with pytest.raises(ConditionFailed):
            db.run(write)


def test_other_conditions_are_refused() -> None:
    for condition in (
        Player.team == "red",
        Player.name.begins_with("a"),
        Player.name.exists() & (Player.team == "red"),
    ):
        with pytest.raises(DeclarationError, match="stored only inside keys"):
            Player.primary("red", "ann").delete().condition(condition)
    with pytest.raises(DeclarationError, match="stored only inside keys"):
        Player.primary.within("red").filter(Player.name.exists())


def test_explain_names_the_attribute() -> None:
    shape = explain(Player.primary("red", "ann").update(Player.team.set("blue")))
    assert shape.operation == "TransactWriteItems"
    assert shape.sets == ("team = 'blue'",)
    deletion = explain(Player.primary("red", "ann").delete().condition(Player.name.exists()))
    assert "attribute_exists(name)" in str(deletion)
