"""The parts of a primary key and their transforms."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import pytest

from tablewright import Attr, Entity, attr, connect, create, explain, key
from tablewright.errors import DeclarationError
from tablewright.formats import day, descending, epoch_seconds, lower, shard, upper, year_month
from tests.model.declaring.declarations import Keyed, Parts, Shop, refused
from tests.new_table import new_table
from tests.things import Thing

# -- the primary key -------------------------------------------------------------------------------


def test_an_entity_needs_a_primary_key() -> None:
    with refused("Order has no primary key", "primary = key("):

        class Order(Parts, table=Shop): ...


def test_an_entity_has_one_primary_key() -> None:
    with refused("Order has 2 primary keys", "write one"):

        class Order(Keyed, table=Shop):
            secondary = key("OTHER" / Keyed.order, "ORDER")


class Other(Entity):
    """Abstract: an entity whose attributes are not those of `Parts`."""

    made_at: Attr[datetime] = attr()
    emial: Attr[str] = attr()


STRAY: Attr[str] = attr()
FINISHED: Any = Thing.name
AT, NUMBER, ORDER = Parts.at, Parts.number, Parts.order


WRONG_KEYS: dict[str, tuple[tuple[Any, Any], tuple[str, ...]]] = {
    "an attribute of another class": (
        ("ORDER" / ORDER, "AT" / Other.made_at),
        ("'made_at'", "not an attribute of Order"),
    ),
    "an attribute of no class": (
        ("ORDER" / ORDER, "AT" / STRAY),
        ("not an attribute of Order",),
    ),
    "an attribute of a finished entity": (
        ("ORDER" / ORDER / FINISHED, "ORDER"),
        ("Thing.name",),
    ),
    "an attribute of a finished entity at the front of a path": (
        ("CUST" / FINISHED, "ORDER" / ORDER),
        ("Thing.name",),
    ),
    "a misspelled attribute": (
        ("ORDER" / ORDER, "TO" / Other.emial),
        ("'emial'", "did you mean 'email'?"),
    ),
    "an optional attribute": (
        ("ORDER" / ORDER, "NOTE" / Parts.note),
        ("'note'", "optional", "needs every part"),
    ),
    "an attribute twice": (
        ("ORDER" / ORDER, "ORDER" / ORDER),
        ("order is in the key twice", "order.again"),
    ),
    "a transform twice": (
        ("DAY" / day(AT), "DAY" / day(AT)),
        ("day(at) is in the key twice", "day(at).again"),
    ),
    "again before the first time": (
        ("ORDER" / ORDER.again, "ORDER" / ORDER),
        ("order.again", "not in the key before it"),
    ),
    "again of another transform": (
        ("DAY" / day(AT), "MONTH" / year_month(AT).again),
        ("year_month(at).again", "not in the key before it"),
    ),
    "a number without a width that counts down": (
        ("ORDERS", "N" / descending(NUMBER)),
        ("descending(number)", "attr(pad=…)"),
    ),
    "the day of a text": (
        ("DAY" / day(ORDER), "ORDER"),  # type: ignore[arg-type]
        ("day(order)", "datetime or date", "not of type str"),
    ),
    "the seconds of a date": (
        ("AT" / epoch_seconds(Parts.on), "ORDER"),  # type: ignore[arg-type]
        ("epoch_seconds(on)", "datetime", "not of type date"),
    ),
    "a number in lower case": (
        ("ORDER" / lower(NUMBER), "ORDER"),  # type: ignore[type-var]
        ("lower(number)", "str", "not of type int"),
    ),
    "an empty text": (
        ("ORDER" / ORDER, ""),
        ("at least one character",),
    ),
    "a template": (
        ("ORDER#{order}", "ORDER"),
        ("'ORDER#{order}' is a literal", 'write a path: "…" / order'),
    ),
}


@pytest.mark.parametrize("case", WRONG_KEYS)
def test_a_wrong_key_is_refused(case: str) -> None:
    paths, told = WRONG_KEYS[case]
    with refused("Order.primary", *told):

        class Order(Parts, table=Shop):
            primary = key(*paths)


def test_a_format_of_a_repeated_part_names_the_other_order() -> None:
    with pytest.raises(DeclarationError, match=r"write upper\(order\)\.again"):
        upper(ORDER.again)  # type: ignore[arg-type]


def test_no_range_is_queried_by_a_number_without_a_width() -> None:
    class Order(Parts, table=new_table()):
        primary = key("ORDER" / ORDER, "N" / NUMBER / Parts.line)

    query = Order.primary.within("A")
    assert explain(query.eq(10)).condition == 'PK="ORDER#A" AND begins_with(SK, "N#10#")'
    with refused("Order.primary", "number", "10 sorts before 9", "attr(pad=…), or use eq(…)"):
        query.gte(9)


def test_a_number_needs_no_width_where_nothing_sorts_by_it() -> None:
    """In a partition key, and behind it as the same value again."""

    class Order(Parts, table=new_table()):
        primary = key("ORDER" / NUMBER, "ORDER" / NUMBER.again / Parts.line)

    assert Order.primary(7, 1)._key == {"PK": {"S": "ORDER#7"}, "SK": {"S": "ORDER#7#001"}}


@pytest.mark.parametrize(
    "kind", [float, Decimal, bytes, list[str], set[str], dict[str, str], int | str, Any]
)
def test_a_type_without_an_ordered_text_is_no_part(kind: Any) -> None:
    with refused("Order.primary", "value is of type", "use str, int, datetime"):

        class Order(Parts, table=Shop):
            value: Attr[kind] = attr()
            primary = key("ORDER" / ORDER, "V" / value)


class Unordered(Enum):
    ONE = 1
    TWO = "two"


def test_an_enum_without_an_order_is_no_part() -> None:
    with refused("Order.primary", "Unordered", "no order as text"):

        class Order(Entity, table=Shop):
            value: Attr[Unordered] = attr()
            primary = key("ORDER" / value, "ORDER")


class Spaced(StrEnum):
    OPEN = "OPEN"
    OPEN_LATE = "OPEN LATE"


def test_an_enum_whose_order_a_following_part_breaks_takes_no_range() -> None:
    """`OPEN LATE#…` is below `OPEN#…`, for a space is below the delimiter."""

    class Order(Entity, table=new_table()):
        status: Attr[Spaced] = attr()
        order: Attr[str] = attr()
        primary = key("ORDER", "S" / status / order)

    orders = Order.primary.within()
    for ask in (orders.gte, orders.gt, orders.lte, orders.lt):
        with refused("Order.primary", "status", "followed by other parts"):
            ask(Spaced.OPEN)
    with refused("Order.primary", "status", "followed by other parts"):
        orders.between(Spaced.OPEN, Spaced.OPEN_LATE)


def test_an_enum_whose_order_nothing_breaks_takes_a_range() -> None:
    shop = new_table("spaced")

    class Order(Entity, table=shop):
        order: Attr[str] = attr()
        status: Attr[Spaced] = attr()
        primary = key("ORDER" / order, "S" / status)

    db = connect(":memory:", shop)
    for status in Spaced:
        db.run(create(Order(order="1", status=status)))
    found = db.run(Order.primary.within("1").gt(Spaced.OPEN))
    assert [one.status for one in found] == [Spaced.OPEN_LATE]


def test_an_attribute_in_a_text_is_refused() -> None:
    """It would be the same text for every entity."""
    with refused("cannot be part of a text", '"USER" / user_id'):
        f"ORDER#{ORDER}"
    with refused("cannot be part of a text", '"USER" / user_id'):
        "ORDER#{}".format(ORDER)  # noqa: UP032  # as in older code
    with refused("cannot be part of a text"):
        f"ORDER#{lower(ORDER)}"


@pytest.mark.parametrize("piece", [5, b"ORDER", None, 1.5])
def test_a_key_is_made_of_literals_and_attributes(piece: Any) -> None:
    with refused("Order.primary", repr(piece), "neither a literal nor an attribute"):

        class Order(Parts, table=Shop):
            primary = key("ORDER" / ORDER / piece, "ORDER")


def test_a_table_with_a_sort_key_needs_both_paths() -> None:
    with refused("Order.primary", "shop has a sort key, 'sk'", "pass a second path"):

        class Order(Parts, table=new_table(sk="sk")):
            primary = key("ORDER" / ORDER)


def test_a_table_without_a_sort_key_takes_one_path() -> None:
    with refused("Order.primary", "shop has no sort key", "leave the second path out"):

        class Order(Keyed, table=new_table(sk=None)): ...


@pytest.mark.parametrize("kind", [list[str], bool, set[str], dict[str, str]])
def test_a_natural_key_is_a_text_a_number_or_bytes(kind: Any) -> None:
    with refused("Order.primary", "'value'", "a text, a number or bytes"):

        class Order(Entity, table=Shop):
            value: Attr[kind] = attr(name="PK")
            primary = key(value, "ORDER")


# -- transforms ------------------------------------------------------------------------------------


def test_one_shard_is_none() -> None:
    with refused("shard(…, of=1)", "at least 2"):
        shard(attr(), of=1)


def test_a_transform_is_of_an_attribute() -> None:
    with refused("lower(…)", "takes an attribute", "'text'"):
        lower("text")  # type: ignore[arg-type]
