"""The items below a moved item follow it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, history, key, put
from tablewright.database import Database
from tablewright.errors import AlreadyExists
from tablewright.formats import day
from tests.plan.writes.move.menus import Menu, Menus, Option, Product, Section, build, items, shape


def built(menu: str, section: str, *, products: int = 2, options: int = 2) -> Any:
    """What `build` leaves, in a table of its own."""
    with Engine(":memory:") as engine:
        build(connect(engine, Menus), menu, section, products=products, options=options)
        return shape(engine)


# -- the rows below --------------------------------------------------------------------------------


def test_the_rows_below_follow_over_several_levels(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert shape(engine) == built("m", "t")


def test_the_rows_of_a_partition_follow_its_root(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(Menu.primary("m").update(Menu.menu.set("n")))

    assert shape(engine) == built("n", "s")


def test_a_section_moves_to_another_menu(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(Section.primary("m", "s").update(Section.menu.set("n"), Section.section.set("t")))

    expected = built("n", "t")
    del expected["MENU#n", "MENU"]
    expected["MENU#m", "MENU"] = built("m", "s")["MENU#m", "MENU"]
    assert shape(engine) == expected


def test_rows_beside_stay_where_they_are(db: Database, engine: Engine) -> None:
    """Section `1` moves; section `10` and what is below it do not, nor do other menus."""
    for menu, section in [("m", "1"), ("m", "10"), ("n", "1")]:
        title = f"{menu}{section}"
        db.run(put(Menu(menu=menu)))
        db.run(create(Section(menu=menu, section=section, title=title)))
        db.run(create(Product(menu=menu, section=section, product="p")))
    db.run(Section.primary("m", "1").update(Section.section.set("2")))

    assert {key for key in items(engine) if key[0].startswith("MENU")} == {
        ("MENU#m", "MENU"),
        ("MENU#m", "SECTION#10"),
        ("MENU#m", "SECTION#10#PRODUCT#p"),
        ("MENU#m", "SECTION#2"),
        ("MENU#m", "SECTION#2#PRODUCT#p"),
        ("MENU#n", "MENU"),
        ("MENU#n", "SECTION#1"),
        ("MENU#n", "SECTION#1#PRODUCT#p"),
    }


def test_sentinels_and_indexes_of_the_rows_below_follow(db: Database) -> None:
    build(db, "m", "s")
    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    found = db.run(Product.by_name("name 1"))
    assert found is not None
    assert found.section == "t"
    assert [row.product for row in db.run(Product.by_price("m", "t"))] == ["p0", "p1"]
    assert list(db.run(Product.by_price("m", "s"))) == []


def test_the_version_of_a_row_below_counts_on(db: Database) -> None:
    build(db, "m", "s")
    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    option = db.run(Option.primary("m", "t", "p0", 0))
    assert option is not None
    assert option.version == 2


def test_a_row_that_is_in_the_way_below_refuses_the_move(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(create(Product(menu="m", section="t", product="p1")))
    before = items(engine)

    with pytest.raises(AlreadyExists, match="SECTION#t#PRODUCT#p1"):
        db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert items(engine) == before


def test_a_leaf_moves_alone(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(Option.primary("m", "s", "p0", 0).update(Option.option.set(9)))

    assert len(items(engine)) == len(built("m", "s"))
    assert db.run(Option.primary("m", "s", "p0", 1)) is not None


# -- history of the rows below ---------------------------------------------------------------------


class Places(Table, name="move_places"): ...


class Relocation(Entity, table=Places):
    guest: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    by: Attr[str | None] = attr(default=None)

    primary = key("RELOCATIONS" / guest, "AT" / at)


class Room(Entity, table=Places):
    hotel: Attr[str] = attr()
    room: Attr[str] = attr()

    primary = key("HOTEL" / hotel, "ROOM" / room)


class Guest(Entity, table=Places):
    hotel: Attr[str] = attr()
    room: Attr[str] = attr()
    guest: Attr[str] = attr()

    primary = key("HOTEL" / hotel, "ROOM" / room / "GUEST" / guest)
    relocations = history(
        room,
        Relocation,
        old=Relocation.old,
        new=Relocation.new,
        at=Relocation.at,
        by=Relocation.by,
    )


def test_a_row_below_writes_its_own_history_when_it_follows(engine: Engine) -> None:
    db = connect(engine, Places)
    db.run(create(Room(hotel="h", room="1")))
    db.run(create(Guest(hotel="h", room="1", guest="ann")))

    db.run(Room.primary("h", "1").update(Room.room.set("2")).audit(by="bob"))

    (event,) = db.run(Relocation.primary.within("ann"))
    assert (event.old, event.new, event.by) == ("1", "2", "bob")


def test_a_row_below_that_is_moved_to_another_partition_alone_writes_no_history(
    engine: Engine,
) -> None:
    db = connect(engine, Places)
    db.run(create(Room(hotel="h", room="1")))
    db.run(create(Guest(hotel="h", room="1", guest="ann")))

    db.run(Room.primary("h", "1").update(Room.hotel.set("i")))

    assert db.run(Guest.primary("i", "1", "ann")) is not None
    assert list(db.run(Relocation.primary.within("ann"))) == []


# -- rows with a day of their own ------------------------------------------------------------------


class Days(Table, name="move_days"): ...


class Day(Entity, table=Days):
    at: Attr[datetime] = attr()
    note: Attr[str] = attr(default="")

    primary = key("DAY" / day(at), "DAY")


class Visit(Entity, table=Days):
    at: Attr[datetime] = attr()
    visit: Attr[str] = attr()

    primary = key("DAY" / day(at), "VISIT" / visit)


def test_rows_whose_day_comes_from_a_time_of_their_own_stay_as_they_are(engine: Engine) -> None:
    db = connect(engine, Days)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    db.run(create(Day(at=noon)))
    visit = db.run(create(Visit(at=noon + timedelta(hours=5), visit="1")))

    tomorrow = noon + timedelta(days=1)
    db.run(Day.primary(noon.date()).update(Day.at.set(tomorrow)))

    assert db.run(Day.primary(tomorrow.date())) == Day(at=tomorrow)
    assert list(db.run(Visit.primary.within(noon.date()))) == [visit]
    assert list(db.run(Visit.primary.within(tomorrow.date()))) == []
