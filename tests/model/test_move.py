from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Database,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    day,
    history,
    index,
    key,
    lower,
    put,
    transact,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.backoff import Backoff
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    Contention,
    InvalidValue,
    NotFound,
    TablewrightError,
    UniqueViolation,
    VersionConflict,
)
from tests.transports import InterferingTransport, Interrupted, InterruptedTransport


class Menus(Table, name="menus"):
    """A menu in one partition: composite sort keys, each level below the one before."""

    by_price = GSI("GSI1PK", "GSI1SK")
    by_title = GSI("GSI2PK", "GSI2SK")


class Menu(Entity, table=Menus):
    menu: Attr[str] = attr()
    title: Attr[str] = attr(default="Lunch")

    primary = key("MENU" / menu, "MENU")
    by_title = index(Menus.by_title, "TITLE" / title, "MENU" / menu)


class Section(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    title: Attr[str] = attr(default="Soups")
    note: Attr[str | None] = attr(default=None)
    weight: Attr[Decimal] = attr(default=Decimal(0))
    tags: Attr[set[str]] = attr(default_factory=set)

    primary = key("MENU" / menu, "SECTION" / section)
    by_title = unique("SECTIONTITLE" / title)


class Product(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    name: Attr[str | None] = attr(default=None)
    price: Attr[int] = attr(pad=5, default=1)
    note: Attr[str | None] = attr(default=None)

    primary = key("MENU" / menu, "SECTION" / section / "PRODUCT" / product)
    by_price = index(Menus.by_price, "PRICES" / menu / section, "PRICE" / price / product)
    by_name = unique("PRODUCTNAME" / name)


class Option(Entity, table=Menus):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    option: Attr[int] = attr(pad=3)
    text: Attr[str] = attr(default="")
    version: Attr[int] = version()

    primary = key("MENU" / menu, "SECTION" / section / "PRODUCT" / product / "OPTION" / option)


class StateChange(Entity, table=Menus):
    ticket_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()

    primary = key("TICKET" / ticket_id, "STATE" / version)


class Ticket(Entity, table=Menus):
    """Versioned, with history, a unique value and a stamp."""

    desk: Attr[str] = attr()
    ticket_id: Attr[str] = attr()
    code: Attr[str] = attr(default="c1")
    state: Attr[str] = attr(default="new")
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("DESK" / desk, "TICKET" / ticket_id)
    by_code = unique("CODE" / code)
    states = history(
        state, StateChange, old=StateChange.old, new=StateChange.new, version=StateChange.version
    )


class User(Entity, table=Menus):
    """Its key does not tell upper case from lower case."""

    email: Attr[str] = attr()
    name: Attr[str] = attr(default="")

    primary = key("USER" / lower(email), "USER")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Menus)


def items(engine: Engine) -> dict[tuple[str, str], dict[str, Any]]:
    """Every item by its key."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    request: dict[str, Any] = {"TableName": "menus"}
    while True:
        page = engine.call("Scan", request)
        for item in page["Items"]:
            found[item["PK"]["S"], item["SK"]["S"]] = item
        if "LastEvaluatedKey" not in page:
            return found
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def shape(engine: Engine) -> dict[tuple[str, str], dict[str, Any]]:
    """Every item by its key, without what the library counts."""
    return {
        key: {name: value for name, value in item.items() if name not in ("version", "changed")}
        for key, item in items(engine).items()
    }


def build(db: Database, menu: str, section: str, *, products: int = 2, options: int = 2) -> None:
    """A menu with a section, its products and their options."""
    db.run(create(Menu(menu=menu, title="Lunch")))
    db.run(create(Section(menu=menu, section=section, title="Soups")))
    for number in range(products):
        product = f"p{number}"
        name = f"name {number}"
        db.run(create(Product(menu=menu, section=section, product=product, name=name)))
        for option in range(options):
            db.run(create(Option(menu=menu, section=section, product=product, option=option)))


def built(menu: str, section: str, *, products: int = 2, options: int = 2) -> Any:
    """What `build` leaves, in a table of its own."""
    with Engine(":memory:") as engine:
        build(connect(engine, Menus), menu, section, products=products, options=options)
        return shape(engine)


# -- one row -------------------------------------------------------------------------------------


def test_a_change_of_the_sort_key_moves_the_item(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup", price=7)))
    moved = db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert moved == Product(menu="m", section="s", product="q", name="Soup", price=7)
    assert db.run(Product.primary("m", "s", "p")) is None
    assert db.run(Product.primary("m", "s", "q")) == moved


def test_a_change_of_the_partition_moves_the_item(db: Database) -> None:
    product = db.run(create(Product(menu="m", section="s", product="p")))

    assert db.run(update(product, Product.menu.set("n"))) is product
    assert product.menu == "n"
    assert db.run(Product.primary("m", "s", "p")) is None
    assert db.run(Product.primary("n", "s", "p")) == product


def test_a_move_leaves_what_a_create_at_the_new_place_would(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup", price=7)))
    db.run(
        Product.primary("m", "s", "p").update(
            Product.section.set("t"), Product.price.increment(3), Product.note.set_if_absent("x")
        )
    )

    with Engine(":memory:") as other:
        connect(other, Menus).run(
            create(Product(menu="m", section="t", product="p", name="Soup", price=10, note="x"))
        )
        assert items(engine) == items(other)


def test_a_move_takes_the_sentinel_along(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    moved = db.run(Product.primary("m", "s", "p").update(Product.section.set("t")))

    assert db.run(Product.by_name("Soup")) == moved
    with pytest.raises(UniqueViolation):
        db.run(create(Product(menu="m", section="s", product="p", name="Soup")))


def test_a_move_may_change_the_unique_value_too(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    moved = db.run(
        Product.primary("m", "s", "p").update(Product.product.set("q"), Product.name.set("Stew"))
    )

    assert db.run(Product.by_name("Stew")) == moved
    assert db.run(Product.by_name("Soup")) is None
    assert len(items(engine)) == 2


def test_a_move_takes_the_places_in_indexes_along(db: Database) -> None:
    db.run(create(Product(menu="m", section="s", product="p", price=7)))
    db.run(Product.primary("m", "s", "p").update(Product.section.set("t"), Product.price.set(8)))

    assert list(db.run(Product.by_price("m", "s"))) == []
    assert [found.price for found in db.run(Product.by_price("m", "t"))] == [8]


def test_a_move_counts_the_version_stamps_the_time_and_writes_the_event(
    db: Database, engine: Engine
) -> None:
    ticket = db.run(create(Ticket(desk="d", ticket_id="1")))
    changed = ticket.changed
    db.run(update(ticket, Ticket.desk.set("e"), Ticket.state.set("open")))

    assert (ticket.version, ticket.desk, ticket.state) == (2, "e", "open")
    assert ticket.changed > changed
    assert db.run(Ticket.primary("e", "1")) == ticket
    assert [(event.old, event.new) for event in db.run(StateChange.primary.within("1"))] == [
        ("new", "open")
    ]
    assert set(items(engine)) == {
        ("CODE#c1", "CODE#c1"),
        ("DESK#e", "TICKET#1"),
        ("TICKET#1", "STATE#0002"),
    }


def test_a_move_takes_attributes_along_that_the_entity_does_not_know(
    db: Database, engine: Engine
) -> None:
    build(db, "m", "s", products=1, options=0)
    for place in ("SECTION#s", "SECTION#s#PRODUCT#p0"):
        request = {
            "TableName": "menus",
            "Key": {"PK": {"S": "MENU#m"}, "SK": {"S": place}},
            "UpdateExpression": "SET alien = :kept",
            "ExpressionAttributeValues": {":kept": {"S": "kept"}},
        }
        engine.call("UpdateItem", request)

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    stored = items(engine)
    assert stored["MENU#m", "SECTION#t"]["alien"] == {"S": "kept"}
    assert stored["MENU#m", "SECTION#t#PRODUCT#p0"]["alien"] == {"S": "kept"}


def test_a_sum_in_a_move_is_exact(db: Database) -> None:
    """DynamoDB counts with 38 digits; Python's decimals would round at 28."""
    db.run(create(Section(menu="m", section="s", weight=Decimal(10**33), title="t")))
    db.run(
        Section.primary("m", "s").update(
            Section.section.set("t"), Section.weight.increment(Decimal(1))
        )
    )

    moved = db.run(Section.primary("m", "t"))
    assert moved is not None
    assert moved.weight == Decimal(10**33 + 1)


# -- refusals ------------------------------------------------------------------------------------


def test_a_move_to_where_something_is_is_refused_and_changes_nothing(
    db: Database, engine: Engine
) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    other = db.run(create(Product(menu="m", section="s", product="q", name="Stew")))
    before = items(engine)

    with pytest.raises(AlreadyExists, match=r"Product \(.*PRODUCT#q.*\): it exists") as refused:
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert refused.value.current == other
    assert items(engine) == before


def test_a_move_of_what_is_not_there_is_refused(db: Database, engine: Engine) -> None:
    with pytest.raises(NotFound):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert items(engine) == {}


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e")).condition(Ticket.state == "done"),
            ConditionFailed,
        ),
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e")).condition(Ticket.version == 7),
            VersionConflict,
        ),
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e"), Ticket.code.set("c2")),
            UniqueViolation,
        ),
    ],
    ids=["condition", "version", "unique"],
)
def test_a_refused_move_changes_nothing(
    db: Database, engine: Engine, plan: Any, error: type[Exception]
) -> None:
    db.run(create(Ticket(desk="d", ticket_id="1")))
    db.run(create(Ticket(desk="x", ticket_id="2", code="c2")))
    before = items(engine)

    with pytest.raises(error):
        db.run(plan)

    assert items(engine) == before


def test_a_refused_move_leaves_the_instance_as_it_was(db: Database) -> None:
    db.run(create(Ticket(desk="e", ticket_id="1", code="c2")))
    ticket = db.run(create(Ticket(desk="d", ticket_id="1")))
    before = dict(vars(ticket))

    with pytest.raises(AlreadyExists):
        db.run(update(ticket, Ticket.desk.set("e")))

    assert vars(ticket) == before


def test_a_change_inside_of_what_is_stored_may_be_part_of_a_move(db: Database) -> None:
    db.run(create(Section(menu="m", section="s", tags={"w"})))

    moved = db.run(
        Section.primary("m", "s").update(Section.section.set("t"), Section.tags.add_to_set({"x"}))
    )

    assert moved.tags == {"w", "x"}
    assert db.run(Section.primary("m", "t")) == moved
    assert db.run(Section.primary("m", "s")) is None


def test_a_key_needs_every_part(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s")))
    before = items(engine)

    with pytest.raises(InvalidValue):
        db.run(Section.primary("m", "s").update(Section.section.set("")))
    with pytest.raises(TablewrightError):
        db.run(Section.primary("m", "s").update(Section.section.set(None)))  # type: ignore[arg-type]

    assert items(engine) == before


def test_a_part_that_is_set_to_what_it_is_moves_nothing(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    updated = db.run(
        Section.primary("m", "s").update(Section.section.set("s"), Section.note.set("x"))
    )

    assert updated == Section(menu="m", section="s", title="Soups", note="x")
    assert len(items(engine)) == 2


def test_another_spelling_that_gives_the_same_key_is_an_update(
    db: Database, engine: Engine
) -> None:
    db.run(create(User(email="ann@x.ch", name="Ann")))
    updated = db.run(User.primary("ann@x.ch").update(User.email.set("Ann@X.ch")))

    assert updated == User(email="Ann@X.ch", name="Ann")
    assert list(items(engine)) == [("USER#ann@x.ch", "USER")]


# -- others write at the same time ---------------------------------------------------------------


def test_what_changes_after_it_was_read_moves_as_it_is_then(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups", note="old")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Section.primary("m", "s").update(Section.note.set("new"))),
    )

    moved = db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert moved.note == "new"
    assert db.run(Section.primary("m", "t")) == moved


def test_an_attribute_that_comes_after_the_item_was_read_is_not_lost(
    db: Database, engine: Engine
) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Section.primary("m", "s").update(Section.note.set("new"))),
    )

    moved = db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert moved.note == "new"
    assert db.run(Section.primary("m", "t")) == moved


@pytest.mark.parametrize("note", ["old", None], ids=["changes", "comes"])
def test_what_others_write_to_a_row_below_moves_with_it(
    db: Database, engine: Engine, note: str | None
) -> None:
    db.run(create(Section(menu="m", section="s")))
    db.run(create(Product(menu="m", section="s", product="p", note=note)))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Product.primary("m", "s", "p").update(Product.note.set("new"))),
    )

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    product = db.run(Product.primary("m", "t", "p"))
    assert product is not None
    assert product.note == "new"


def test_a_row_below_that_goes_away_meanwhile_stays_away(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Product.primary("m", "s", "p").delete())
    )

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert set(items(engine)) == {
        ("MENU#m", "SECTION#t"),
        ("SECTIONTITLE#Soups", "SECTIONTITLE#Soups"),
    }


def test_an_item_that_is_deleted_after_it_was_read_is_not_found(
    db: Database, engine: Engine
) -> None:
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Product.primary("m", "s", "p").delete())
    )

    with pytest.raises(NotFound):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert items(engine) == {}


def test_a_move_that_never_wins_gives_up_and_changes_nothing(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.commit.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Product.primary("m", "s", "p").update(Product.price.set(n))),
        times=1000,
    )

    with pytest.raises(Contention, match="nothing was written"):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert set(items(engine)) == {("MENU#m", "SECTION#s#PRODUCT#p")}


# -- the rows below ------------------------------------------------------------------------------


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


# -- many rows below -----------------------------------------------------------------------------


def many(db: Database, rows: int, section: str = "s") -> None:
    """A section with many products; every second has a unique name."""
    products = [
        Product(
            menu="m",
            section=section,
            product=f"p{number:03}",
            name=f"name {number}" if number % 2 else None,
            price=number,
        )
        for number in range(rows)
    ]
    db.run(create(Section(menu="m", section=section, title="Soups")))
    for start in range(0, rows, 50):
        db.run(transact(*map(create, products[start : start + 50])))


def many_built(rows: int) -> Any:
    """What `many` leaves in section `t`, in a table of its own."""
    with Engine(":memory:") as engine:
        many(connect(engine, Menus), rows, "t")
        return shape(engine)


RENAME = Section.primary("m", "s").update(Section.section.set("t"))


@pytest.mark.parametrize("rows", [39, 40, 60, 250])
def test_rows_that_do_not_fit_into_one_transaction_move_in_steps(
    db: Database, engine: Engine, rows: int
) -> None:
    many(db, rows)
    db._transport = counting = InterruptedTransport(db._transport, -1, applied=False)
    db.run(RENAME)

    assert shape(engine) == many_built(rows)
    assert all(size <= 100 for size in counting.sizes)
    assert (len(counting.sizes) == 1) is (rows == 39)


@pytest.mark.parametrize("rows", [60, 250])
@pytest.mark.parametrize("done", [False, True], ids=["before it", "after it"])
def test_an_interruption_loses_and_doubles_nothing_and_the_same_update_goes_on(
    rows: int, done: bool
) -> None:
    expected = many_built(rows)
    at = 0
    while True:
        at += 1
        with Engine(":memory:") as engine:
            db = connect(engine, Menus)
            many(db, rows)
            db._transport = interrupting = InterruptedTransport(db._transport, at, applied=done)
            try:
                db.run(RENAME)
            except Interrupted:
                pass
            else:
                assert shape(engine) == expected
                break

            found = items(engine)
            products = [
                item["product"]["S"] for item in found.values() if item["type"]["S"] == "Product"
            ]
            assert sorted(products) == [f"p{number:03}" for number in range(rows)]
            sections = [item for item in found.values() if item["type"]["S"] == "Section"]
            assert len(sections) == 1
            again = connect(engine, Menus)
            for number in range(1, rows, 2):
                assert again.run(Product.by_name(f"name {number}")) is not None
            assert engine.check()

            if shape(engine) != expected:  # not the last transaction, whose answer got lost
                again.run(RENAME)
            assert shape(engine) == expected
            assert engine.check()
    assert at > (2 if rows == 60 else 5)
    assert len(interrupting.sizes) == at - 1


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (RENAME.condition(Section.note == "x"), ConditionFailed),
        (
            Section.primary("m", "s").update(Section.section.set("t"), Section.title.set("Other")),
            UniqueViolation,
        ),
        (Section.primary("m", "s").update(Section.section.set("u")), AlreadyExists),
    ],
    ids=["condition", "unique", "target"],
)
def test_a_refused_move_of_many_rows_changes_nothing(
    db: Database, engine: Engine, plan: Any, error: type[Exception]
) -> None:
    many(db, 60)
    db.run(create(Section(menu="m", section="u", title="Other")))
    before = items(engine)

    with pytest.raises(error):
        db.run(plan)

    assert items(engine) == before


def test_rows_too_large_for_one_transaction_move_in_steps(db: Database, engine: Engine) -> None:
    """20 rows, which is few; 6 MB, where DynamoDB takes 4 MB in one transaction."""
    db.run(create(Section(menu="m", section="s", title="Soups")))
    for number in range(20):
        product = f"p{number:03}"
        db.run(create(Product(menu="m", section="s", product=product, note="x" * 300_000)))

    db.run(RENAME)

    rows = [key[1] for key, item in items(engine).items() if item["type"]["S"] == "Product"]
    assert sorted(rows) == [f"SECTION#t#PRODUCT#p{number:03}" for number in range(20)]


def test_what_others_write_while_many_rows_move_is_not_lost(db: Database, engine: Engine) -> None:
    many(db, 60)
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Product.primary("m", "s", "p003").update(Product.price.set(999))),
    )

    db.run(RENAME)

    product = db.run(Product.primary("m", "t", "p003"))
    assert product is not None
    assert product.price == 999
    assert len(items(engine)) == len(many_built(60))


# -- in a transaction ----------------------------------------------------------------------------


def test_a_move_is_part_of_a_transaction(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(
        transact(
            Section.primary("m", "s").update(Section.section.set("t")),
            create(Section(menu="m", section="u", title="New")),
        )
    )

    assert db.run(Product.primary("m", "t", "p0")) is not None
    assert db.run(Section.primary("m", "s")) is None
    assert db.run(Section.primary("m", "u")) == Section(menu="m", section="u", title="New")


def test_a_move_in_a_transaction_that_fails_changes_nothing(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    before = items(engine)

    with pytest.raises(AlreadyExists, match="write 2 of 2, create Menu"):
        db.run(
            transact(
                Section.primary("m", "s").update(Section.section.set("t")), create(Menu(menu="m"))
            )
        )

    assert items(engine) == before


def test_a_move_too_large_for_its_transaction_is_refused_before_sending(
    db: Database, engine: Engine
) -> None:
    """A move in steps is not all or nothing, so that it cannot be part of `transact`."""
    many(db, 60)
    db.run(create(Menu(menu="m")))
    before = items(engine)

    with pytest.raises(InvalidValue, match=r"60 rows below it are too many .* move it on its own"):
        db.run(transact(RENAME, create(Menu(menu="m"))))

    assert items(engine) == before


# -- rows that come below meanwhile --------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_row_that_comes_below_while_many_rows_move_is_moved_as_well(
    db: Database, engine: Engine, at: int
) -> None:
    """It comes before the transaction with this number, and before the last one leaves."""
    many(db, 150)
    other = connect(engine, Menus)
    new = Product(menu="m", section="s", product="late")

    def write(left: int) -> None:
        if left == 0:
            other.run(create(new))

    db._transport = InterferingTransport(db._transport, write, times=at)
    db.run(RENAME)

    assert list(db.run(Product.primary.within("m").eq("s"))) == []
    moved = [product.product for product in db.iterate(Product.primary.within("m").eq("t"))]
    assert moved == ["late", *(f"p{number:03}" for number in range(150))]


# -- what a move gives ---------------------------------------------------------------------------


def test_a_move_gives_what_is_stored_and_not_what_the_instance_holds(db: Database) -> None:
    section = db.run(create(Section(menu="m", section="s", title="Soups")))
    db.run(Section.primary("m", "s").update(Section.note.set("fresh")))
    section.weight = Decimal(9)

    moved = db.run(update(section, Section.section.set("t")))

    assert moved == Section(menu="m", section="t", title="Soups", note="fresh")
    assert moved == db.run(Section.primary("m", "t"))


# -- history of the rows below -------------------------------------------------------------------


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


# -- rows with a day of their own ----------------------------------------------------------------


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


# -- natural keys --------------------------------------------------------------------------------


class Plain(Table, name="move_plain", pk="id", sk=None): ...


class Thing(Entity, table=Plain):
    thing_id: Attr[str] = attr(name="id")
    size: Attr[int] = attr(default=0)

    primary = key(thing_id)


class Half(Table, name="move_half", pk="id", sk="SK"):
    """One entity has an attribute as its partition key, the other a composed one."""


class Natural(Entity, table=Half):
    natural_id: Attr[str] = attr(name="id")

    primary = key(natural_id, "NATURAL")


class Composed(Entity, table=Half):
    composed_id: Attr[str] = attr()

    primary = key("COMPOSED" / composed_id, "COMPOSED")


class Series(Table, name="move_series", pk="series", sk="number"): ...


class Point(Entity, table=Series):
    series: Attr[str] = attr()
    number: Attr[int] = attr()

    primary = key(series, number)


def test_an_entity_with_an_attribute_as_its_key_moves(engine: Engine) -> None:
    db = connect(engine, Plain)
    db.run(create(Thing(thing_id="a", size=1)))

    moved = db.run(Thing.primary("a").update(Thing.thing_id.set("b")))

    assert moved == db.run(Thing.primary("b")) == Thing(thing_id="b", size=1)
    assert db.run(Thing.primary("a")) is None


def test_an_entity_with_attributes_as_both_keys_moves(engine: Engine) -> None:
    db = connect(engine, Series)
    db.run(create(Point(series="s", number=1)))
    db.run(create(Point(series="s", number=2)))

    db.run(Point.primary("s", 1).update(Point.number.set(10)))
    db.run(Point.primary("s", 2).update(Point.series.set("t")))

    assert list(db.run(Point.primary.within("s"))) == [Point(series="s", number=10)]
    assert list(db.run(Point.primary.within("t"))) == [Point(series="t", number=2)]


def test_entities_with_and_without_an_attribute_as_their_key_move_in_one_table(
    engine: Engine,
) -> None:
    db = connect(engine, Half)
    db.run(create(Natural(natural_id="1")))
    db.run(create(Composed(composed_id="1")))

    db.run(Natural.primary("1").update(Natural.natural_id.set("2")))
    db.run(Composed.primary("1").update(Composed.composed_id.set("2")))

    found = engine.call("Scan", {"TableName": "move_half"})["Items"]
    assert sorted(item["id"]["S"] for item in found) == ["2", "COMPOSED#2"]


@pytest.mark.parametrize("by", ["key", "instance"])
@pytest.mark.parametrize("more", [(), (Thing.size.set(7),)], ids=["alone", "with another"])
def test_an_attribute_that_is_the_key_may_be_set_to_what_it_is(
    engine: Engine, by: str, more: tuple[Any, ...]
) -> None:
    db = connect(engine, Plain)
    thing = db.run(create(Thing(thing_id="a")))
    changes = (Thing.thing_id.set("a"), *more)

    changed = db.run(
        update(thing, *changes) if by == "instance" else Thing.primary("a").update(*changes)
    )

    assert changed == db.run(Thing.primary("a")) == Thing(thing_id="a", size=7 if more else 0)
