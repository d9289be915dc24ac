"""The parts of a primary key and their transforms."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import pytest

from tablewright import Attr, Entity, attr, connect, create, index, key
from tablewright.formats import day, descending, epoch_seconds, lower, shard, year_month
from tests.model.declaring.declarations import Keyed, Shop, refused
from tests.new_table import new_table
from tests.things import Thing

# -- the primary key -------------------------------------------------------------------------------


def test_an_entity_needs_a_primary_key() -> None:
    with refused("Order has no primary key", "primary = key("):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()


def test_an_entity_has_one_primary_key() -> None:
    with refused("Order has 2 primary keys", "write one"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            secondary = key("OTHER" / order, "ORDER")


def test_an_attribute_of_another_class_is_unknown() -> None:
    class Dated(Entity):
        made_at: Attr[datetime] = attr()

    with refused("Order.primary", "'made_at'", "not an attribute of Order"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / Dated.made_at)


def test_an_attribute_of_no_class_is_unknown() -> None:
    stray: Attr[str] = attr()
    with refused("Order.primary", "not an attribute of Order"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / stray)


def test_an_unknown_attribute_gets_the_name_that_was_meant() -> None:
    class Old(Entity):
        stauts: Attr[str] = attr()

    with refused("'stauts'", "did you mean 'status'?"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            status: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / Old.stauts)


FINISHED: Any = Thing.name


def test_an_attribute_of_a_finished_entity_is_unknown() -> None:
    with refused("Order.primary", "Thing.name"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order / FINISHED, "ORDER")


def test_an_attribute_of_a_finished_entity_at_the_front_of_a_path_is_refused_in_words() -> None:
    with refused("Thing.name"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("CUST" / FINISHED, "ORDER" / order)


def test_an_optional_attribute_is_no_part_of_a_primary_key() -> None:
    with refused("Order.primary", "'note'", "optional", "needs every part"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: Attr[str | None] = attr()
            primary = key("ORDER" / order, "NOTE" / note)


def test_an_attribute_twice_in_a_key_is_refused() -> None:
    with refused("Order.primary", "order is in the key twice", "order.again"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER" / order)


def test_a_transform_twice_in_a_key_is_refused() -> None:
    with refused("Order.primary", "day(at) is in the key twice", "day(at).again"):

        class Order(Entity, table=Shop):
            at: Attr[datetime] = attr()
            primary = key("DAY" / day(at), "DAY" / day(at))


def test_again_before_the_first_time_is_refused() -> None:
    with refused("Order.primary", "order.again", "not in the key before it"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order.again, "ORDER" / order)


def test_again_of_another_transform_is_refused() -> None:
    with refused("Order.primary", "year_month(at).again", "not in the key before it"):

        class Order(Entity, table=Shop):
            at: Attr[datetime] = attr()
            primary = key("DAY" / day(at), "MONTH" / year_month(at).again)


def test_a_number_without_a_width_in_a_sort_key_is_refused() -> None:
    with refused("Order.primary", "number", "10 sorts before 9", "attr(pad=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            number: Attr[int] = attr()
            primary = key("ORDER" / order, "N" / number)


def test_a_number_without_a_width_in_an_indexs_sort_key_is_refused() -> None:
    with refused("Order.listing", "number", "10 sorts before 9", "attr(pad=…)"):

        class Order(Keyed, table=Shop):
            number: Attr[int] = attr()
            listing = index(Shop.listed, "ORDERS", "N" / number)


def test_a_number_needs_no_width_where_nothing_sorts_by_it() -> None:
    """In a partition key, and behind it as the same value again."""

    class Order(Entity, table=new_table()):
        number: Attr[int] = attr()
        line: Attr[int] = attr(pad=3)
        primary = key("ORDER" / number, "ORDER" / number.again / line)

    assert Order.primary(7, 1)._key == {"PK": {"S": "ORDER#7"}, "SK": {"S": "ORDER#7#001"}}


@pytest.mark.parametrize(
    "kind", [float, Decimal, bytes, list[str], set[str], dict[str, str], int | str, Any]
)
def test_a_type_without_an_ordered_text_is_no_part(kind: Any) -> None:
    with refused("Order.primary", "value is of type", "use str, int, datetime"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            value: Attr[kind] = attr()
            primary = key("ORDER" / order, "V" / value)


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


def test_a_key_must_not_be_empty() -> None:
    with refused("Order.primary", "at least one character"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "")


def test_an_attribute_in_an_f_string_is_refused() -> None:
    """It would be the same text for every entity."""

    with refused("cannot be part of a text", '"USER" / user_id'):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key(f"ORDER#{order}", "ORDER")


def test_an_attribute_in_a_format_is_refused() -> None:
    with refused("cannot be part of a text", '"USER" / user_id'):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER#{}".format(order), "ORDER")  # noqa: UP032  # as in older code


def test_a_part_that_is_derived_from_an_attribute_is_refused_in_an_f_string_too() -> None:
    with refused("cannot be part of a text"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, f"ORDER#{lower(order)}")


@pytest.mark.parametrize("piece", [5, b"ORDER", None, 1.5])
def test_a_key_is_made_of_literals_and_attributes(piece: Any) -> None:
    with refused("Order.primary", repr(piece), "neither a literal nor an attribute"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order / piece, "ORDER")


def test_a_table_with_a_sort_key_needs_both_paths() -> None:
    with refused("Order.primary", "shop has a sort key, 'sk'", "pass a second path"):

        class Order(Entity, table=new_table(sk="sk")):
            order: Attr[str] = attr()
            primary = key("ORDER" / order)


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


def test_a_transform_of_another_type_is_refused() -> None:
    with refused("Order.primary", "day(order)", "datetime or date", "not of type str"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("DAY" / day(order), "ORDER")  # type: ignore[arg-type]

    with refused("Item.primary", "epoch_seconds(on)", "datetime", "not of type date"):

        class Item(Entity, table=Shop):
            on: Attr[date] = attr()
            primary = key("AT" / epoch_seconds(on), "ITEM")  # type: ignore[arg-type]

    with refused("User.primary", "lower(number)", "str", "not of type int"):

        class User(Entity, table=Shop):
            number: Attr[int] = attr()
            primary = key("USER" / lower(number), "USER")  # type: ignore[type-var]


def test_counting_down_needs_a_width() -> None:
    with refused("Score.primary", "descending(points)", "attr(pad=…)"):

        class Score(Entity, table=Shop):
            points: Attr[int] = attr()
            primary = key("SCORES", "P" / descending(points))


def test_one_shard_is_none() -> None:
    with refused("shard(…, of=1)", "at least 2"):
        shard(attr(), of=1)


def test_a_transform_is_of_an_attribute() -> None:
    with refused("lower(…)", "takes an attribute", "'text'"):
        lower("text")  # type: ignore[arg-type]


def test_a_literal_is_not_a_template() -> None:
    with refused("Order.primary", "'ORDER#{order}' is a literal", 'write a path: "…" / order'):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER#{order}", "ORDER")
