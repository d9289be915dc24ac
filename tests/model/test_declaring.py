from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from types import new_class
from typing import Any
from uuid import UUID

import pytest

from tablewright import (
    GSI,
    LSI,
    Attr,
    Entity,
    Table,
    Tenancy,
    attr,
    connect,
    create,
    created_at,
    day,
    descending,
    epoch_seconds,
    history,
    index,
    key,
    lower,
    put,
    shard,
    ttl,
    unique,
    updated_at,
    version,
    year_month,
)
from tablewright.errors import DeclarationError, InvalidValue, UniqueViolation
from tablewright.model.provision import definition


class Status(StrEnum):
    CREATED = "CREATED"
    PAID = "PAID"


@contextmanager
def refused(*told: str) -> Iterator[None]:
    """A definition is refused, by a message that says all of this."""
    with pytest.raises(DeclarationError) as failure:
        yield
    message = str(failure.value)
    for piece in told:
        assert piece in message, message


def raw(db: Any, table: type[Table]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = db._transport.engine.call(
        "Scan", {"TableName": table.__table__.name}
    )["Items"]
    assert db._transport.engine.check().problems == []
    return items


# -- attributes ----------------------------------------------------------------------------------


def test_an_attribute_needs_an_annotation() -> None:
    class Shop(Table): ...

    with refused("Order.note", "not annotated", "note: Attr[…] = attr(…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note = attr()
            primary = key("ORDER" / order, "ORDER")


def test_an_annotation_without_attr_is_none() -> None:
    class Shop(Table): ...

    with refused("Order.note", "not annotated", "note: Attr[…] = attr(…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: str = attr()
            primary = key("ORDER" / order, "ORDER")


def test_an_annotation_of_an_unknown_type_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.note", "'Attr[Nothing]'", "cannot be evaluated", "Nothing"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: Attr[Nothing] = attr()  # type: ignore[name-defined]  # noqa: F821
            primary = key("ORDER" / order, "ORDER")


def test_a_type_that_cannot_be_stored_is_refused() -> None:
    class Shop(Table): ...

    class Opaque: ...

    with refused("Order.note", "Opaque", "cannot be stored", "use a dataclass"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: Attr[Opaque] = attr()
            primary = key("ORDER" / order, "ORDER")


def test_an_attribute_may_have_the_name_of_its_type() -> None:
    """`date: Attr[date]`: in the body of the class, `date` is the attribute."""

    class Shop(Table, name="dates"): ...

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        date: Attr[date] = attr()
        primary = key("ORDER" / order, "ORDER")

    db = connect(":memory:", Shop)
    made: Any = Order(order="1", date=date(2026, 1, 5))
    db.run(create(made))
    assert db.run(Order.primary("1")) == made
    with pytest.raises(InvalidValue, match=r"Order\.date"):
        Order(order="2", date="tomorrow")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["where", "scan", "_hidden"])
def test_a_name_of_the_library_is_reserved(name: str) -> None:
    with refused(f"Order.{name}", "the library's", f"attr(name={name!r})"):
        _order_with(name)


@pytest.mark.parametrize("name", ["json", "copy", "schema"])
def test_a_name_that_pydantic_uses_is_free(name: str) -> None:
    """`schema` and `copy` are words of many a design; pydantic is how values are checked."""
    order = _order_with(name)
    made = order(order="O1", **{name: "x"})
    assert getattr(made, name) == "x"


def test_the_name_of_pydantics_configuration_is_free_or_refused() -> None:
    try:
        order = _order_with("model_config")
    except DeclarationError as refusal:
        assert "Order.model_config" in str(refusal)  # noqa: PT017
    else:
        assert order(order="O1", model_config="x").model_config == "x"


def _order_with(name: str) -> Any:
    """An order with one more attribute of this name."""

    class Shop(Table): ...

    order = attr()
    order.name = "order"
    body = {
        "__module__": __name__,
        "__annotations__": {"order": "Attr[str]", name: "Attr[str]"},
        "order": order,
        name: attr(),
        "primary": key("ORDER" / order, "ORDER"),
    }
    return new_class("Order", (Entity,), {"table": Shop}, lambda space: space.update(body))


@pytest.mark.parametrize("name", ["where", "scan"])
def test_a_key_with_a_name_of_the_library_is_refused(name: str) -> None:
    class Shop(Table): ...

    order = attr()
    order.name = "order"
    body = {
        "__module__": __name__,
        "__annotations__": {"order": "Attr[str]"},
        "order": order,
        name: key("ORDER" / order, "ORDER"),
    }
    with refused(f"Order.{name}"):
        new_class("Order", (Entity,), {"table": Shop}, lambda space: space.update(body))


def test_two_attributes_stored_under_one_name_are_refused() -> None:
    class Shop(Table): ...

    with refused("Order.second", "Order.first", "'n'"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            first: Attr[str] = attr(name="n")
            second: Attr[str] = attr(name="n")
            primary = key("ORDER" / order, "ORDER")


def test_an_attribute_stored_under_anothers_python_name_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.second", "Order.first", "'first'"):

        class Order(Entity, table=Shop):
            first: Attr[str] = attr()
            second: Attr[str] = attr(name="first")
            primary = key("ORDER" / first, "ORDER")


@pytest.mark.parametrize("stored", ["type", "entityType"])
def test_an_attribute_stored_as_the_type_attribute_is_refused(stored: str) -> None:
    class Shop(Table, type_attribute=stored): ...

    with refused("Order.kind", repr(stored), "type attribute", "attr(name=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            kind: Attr[str] = attr(name=stored)
            primary = key("ORDER" / order, "ORDER")


def test_an_attribute_stored_under_a_composed_keys_name_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "'PK'", "Order.order", "attr(name=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr(name="PK")
            primary = key("ORDER" / order, "ORDER")


def test_an_attribute_stored_under_a_composed_index_keys_name_is_refused() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    with refused("Order.listing", "'GSI1SK'", "Order.note", "attr(name=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: Attr[str] = attr(name="GSI1SK")
            primary = key("ORDER" / order, "ORDER")
            listing = index(Shop.listed, "ORDERS", "ORDER" / order)


def test_a_default_and_a_factory_are_one_too_many() -> None:
    with refused("attr()", "default or default_factory"):
        attr(default=1, default_factory=int)  # type: ignore[call-overload]


def test_a_width_of_no_digits_is_refused() -> None:
    with refused("attr(pad=0)", "at least 1"):
        attr(pad=0)


# -- attributes that the library keeps -----------------------------------------------------------


def test_a_version_is_an_int() -> None:
    class Shop(Table): ...

    with refused("Order.count", "version()", "Attr[int]"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            count: Attr[str] = version()  # type: ignore[assignment]
            primary = key("ORDER" / order, "ORDER")


def test_a_version_is_never_absent() -> None:
    class Shop(Table): ...

    with refused("Order.count", "version()", "Attr[int]"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            count: Attr[int | None] = version()  # type: ignore[assignment]
            primary = key("ORDER" / order, "ORDER")


def test_created_and_updated_are_moments() -> None:
    class Shop(Table): ...

    with refused("Order.made", "created_at()", "Attr[datetime]"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            made: Attr[date] = created_at()  # type: ignore[assignment]
            primary = key("ORDER" / order, "ORDER")

    with refused("Item.changed", "updated_at()", "Attr[datetime]"):

        class Item(Entity, table=Shop):
            item: Attr[str] = attr()
            changed: Attr[str] = updated_at()  # type: ignore[assignment]
            primary = key("ITEM" / item, "ITEM")


def test_a_ttl_is_a_moment() -> None:
    class Shop(Table): ...

    with refused("Order.ends", "ttl()", "Attr[datetime]", "Attr[datetime | None]"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            ends: Attr[int] = ttl()
            primary = key("ORDER" / order, "ORDER")


def test_two_entities_with_two_ttl_attributes_are_refused() -> None:
    class Shop(Table): ...

    class Basket(Entity, table=Shop):
        basket: Attr[str] = attr()
        ends: Attr[datetime | None] = ttl(name="expires")
        primary = key("BASKET" / basket, "BASKET")

    with refused("Token.ends", "'ends'", "Basket", "'expires'", "one TTL attribute"):

        class Token(Entity, table=Shop):
            token: Attr[str] = attr()
            ends: Attr[datetime] = ttl()
            primary = key("TOKEN" / token, "TOKEN")


def test_one_entity_with_two_ttl_attributes_is_refused() -> None:
    class Shop(Table): ...

    with refused("Basket.stops", "ttl()", "it has one"):

        class Basket(Entity, table=Shop):
            basket: Attr[str] = attr()
            ends: Attr[datetime] = ttl()
            stops: Attr[datetime] = ttl()
            primary = key("BASKET" / basket, "BASKET")


@pytest.mark.parametrize(("role", "kind"), [("version", int), ("created_at", datetime)])
def test_an_entity_with_two_attributes_of_one_role_is_refused(role: str, kind: type) -> None:
    class Shop(Table): ...

    make: Any = {"version": version, "created_at": created_at}[role]

    with refused("Order", f"{role}()"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            first: Attr[kind] = make()  # type: ignore[valid-type]
            second: Attr[kind] = make()  # type: ignore[valid-type]
            primary = key("ORDER" / order, "ORDER")


# -- the primary key -----------------------------------------------------------------------------


def test_an_entity_needs_a_primary_key() -> None:
    class Shop(Table): ...

    with refused("Order has no primary key", "primary = key("):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()


def test_an_entity_has_one_primary_key() -> None:
    class Shop(Table): ...

    with refused("Order has 2 primary keys", "write one"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            secondary = key("OTHER" / order, "ORDER")


def test_an_attribute_of_another_class_is_unknown() -> None:
    class Shop(Table): ...

    class Dated(Entity):
        made_at: Attr[datetime] = attr()

    with refused("Order.primary", "'made_at'", "not an attribute of Order"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / Dated.made_at)


def test_an_attribute_of_no_class_is_unknown() -> None:
    class Shop(Table): ...

    stray: Attr[str] = attr()
    with refused("Order.primary", "not an attribute of Order"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / stray)


def test_an_unknown_attribute_gets_the_name_that_was_meant() -> None:
    class Shop(Table): ...

    class Old(Entity):
        stauts: Attr[str] = attr()

    with refused("'stauts'", "did you mean 'status'?"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            status: Attr[str] = attr()
            primary = key("ORDER" / order, "AT" / Old.stauts)


def test_an_attribute_of_a_finished_entity_is_unknown() -> None:
    class Shop(Table): ...

    class Customer(Entity, table=Shop):
        customer: Attr[str] = attr()
        primary = key("CUST" / customer, "CUST")

    finished: Any = Customer.customer
    with refused("Order.primary", "Customer.customer"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order / finished, "ORDER")


def test_an_attribute_of_a_finished_entity_at_the_front_of_a_path_is_refused_in_words() -> None:
    class Shop(Table): ...

    class Customer(Entity, table=Shop):
        customer: Attr[str] = attr()
        primary = key("CUST" / customer, "CUST")

    finished: Any = Customer.customer
    with refused("Customer.customer"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("CUST" / finished, "ORDER" / order)


def test_an_optional_attribute_is_no_part_of_a_primary_key() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "'note'", "optional", "needs every part"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            note: Attr[str | None] = attr()
            primary = key("ORDER" / order, "NOTE" / note)


def test_an_attribute_twice_in_a_key_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "order is in the key twice", "order.again"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER" / order)


def test_a_transform_twice_in_a_key_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "day(at) is in the key twice", "day(at).again"):

        class Order(Entity, table=Shop):
            at: Attr[datetime] = attr()
            primary = key("DAY" / day(at), "DAY" / day(at))


def test_again_before_the_first_time_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "order.again", "not in the key before it"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order.again, "ORDER" / order)


def test_again_of_another_transform_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "year_month(at).again", "not in the key before it"):

        class Order(Entity, table=Shop):
            at: Attr[datetime] = attr()
            primary = key("DAY" / day(at), "MONTH" / year_month(at).again)


def test_a_number_without_a_width_in_a_sort_key_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "number", "10 sorts before 9", "attr(pad=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            number: Attr[int] = attr()
            primary = key("ORDER" / order, "N" / number)


def test_a_number_without_a_width_in_an_indexs_sort_key_is_refused() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    with refused("Order.listing", "number", "10 sorts before 9", "attr(pad=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            number: Attr[int] = attr()
            primary = key("ORDER" / order, "ORDER")
            listing = index(Shop.listed, "ORDERS", "N" / number)


def test_a_number_needs_no_width_where_nothing_sorts_by_it() -> None:
    """In a partition key, and behind it as the same value again."""

    class Shop(Table): ...

    class Order(Entity, table=Shop):
        number: Attr[int] = attr()
        line: Attr[int] = attr(pad=3)
        primary = key("ORDER" / number, "ORDER" / number.again / line)

    assert Order.primary(7, 1)._key == {"PK": {"S": "ORDER#7"}, "SK": {"S": "ORDER#7#001"}}


@pytest.mark.parametrize(
    "kind", [float, Decimal, bytes, list[str], set[str], dict[str, str], int | str, Any]
)
def test_a_type_without_an_ordered_text_is_no_part(kind: Any) -> None:
    class Shop(Table): ...

    with refused("Order.primary", "'value'", "use str, int, datetime"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            value: Attr[kind] = attr()
            primary = key("ORDER" / order, "V" / value)


class Unordered(Enum):
    ONE = 1
    TWO = "two"


def test_an_enum_without_an_order_is_no_part() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "Unordered", "no order as text"):

        class Order(Entity, table=Shop):
            value: Attr[Unordered] = attr()
            primary = key("ORDER" / value, "ORDER")


class Spaced(StrEnum):
    OPEN = "OPEN"
    OPEN_LATE = "OPEN LATE"


def test_an_enum_whose_order_a_following_part_breaks_takes_no_range() -> None:
    """`OPEN LATE#…` is below `OPEN#…`, for a space is below the delimiter."""

    class Shop(Table, name="spaced"): ...

    class Order(Entity, table=Shop):
        status: Attr[Spaced] = attr()
        order: Attr[str] = attr()
        primary = key("ORDER", "S" / status / order)

    orders = Order.primary.within()
    for ask in (orders.gte, orders.gt, orders.lte, orders.lt):
        with refused("Order.primary", "status", "with more behind it"):
            ask(Spaced.OPEN)
    with refused("Order.primary", "status", "with more behind it"):
        orders.between(Spaced.OPEN, Spaced.OPEN_LATE)


def test_an_enum_whose_order_nothing_breaks_takes_a_range() -> None:
    class Shop(Table, name="spaced"): ...

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        status: Attr[Spaced] = attr()
        primary = key("ORDER" / order, "S" / status)

    db = connect(":memory:", Shop)
    for status in Spaced:
        db.run(create(Order(order="1", status=status)))
    found = db.run(Order.primary.within("1").gt(Spaced.OPEN))
    assert [one.status for one in found] == [Spaced.OPEN_LATE]


@pytest.mark.parametrize("literal", ["", "A$B", "$", "A#", "#"])
def test_a_literal_that_is_empty_or_holds_what_the_library_writes_is_refused(literal: str) -> None:
    class Shop(Table): ...

    with refused("Order.primary", repr(literal)):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key(literal / order, "ORDER")

    with refused("Item.primary", repr(literal)):

        class Item(Entity, table=Shop):
            item: Attr[str] = attr()
            primary = key("ITEM" / item, literal)


def test_an_attribute_in_an_f_string_is_refused() -> None:
    """It would be the same text for every entity."""

    class Shop(Table): ...

    with refused("is in a text", '"USER" / user_id'):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key(f"ORDER#{order}", "ORDER")


def test_an_attribute_in_a_format_is_refused() -> None:
    class Shop(Table): ...

    with refused("is in a text", '"USER" / user_id'):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER#{}".format(order), "ORDER")  # noqa: UP032  # as in older code


def test_a_part_that_is_derived_from_an_attribute_is_refused_in_an_f_string_too() -> None:
    class Shop(Table): ...

    with refused("is in a text"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, f"ORDER#{lower(order)}")


@pytest.mark.parametrize("piece", [5, b"ORDER", None, 1.5])
def test_a_key_is_made_of_literals_and_attributes(piece: Any) -> None:
    class Shop(Table): ...

    with refused("Order.primary", repr(piece), "neither a literal nor an attribute"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order / piece, "ORDER")


def test_a_table_with_a_sort_key_needs_both_paths() -> None:
    class Shop(Table, name="shop", sk="sk"): ...

    with refused("Order.primary", "shop has a sort key, 'sk'", "give a second path"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order)


def test_a_table_without_a_sort_key_takes_one_path() -> None:
    class Shop(Table, name="shop", sk=None): ...

    with refused("Order.primary", "shop has no sort key", "leave the second path out"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")


@pytest.mark.parametrize("kind", [list[str], bool, set[str], dict[str, str]])
def test_a_natural_key_is_a_text_a_number_or_bytes(kind: Any) -> None:
    class Shop(Table): ...

    with refused("Order.primary", "'value'", "texts, numbers and bytes"):

        class Order(Entity, table=Shop):
            value: Attr[kind] = attr(name="PK")
            primary = key(value, "ORDER")


# -- transforms ----------------------------------------------------------------------------------


def test_a_transform_of_another_type_is_refused() -> None:
    class Shop(Table): ...

    with refused("Order.primary", "day(order)", "datetime or date", "'order' is of type str"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("DAY" / day(order), "ORDER")  # type: ignore[arg-type]

    with refused("Item.primary", "epoch_seconds(on)", "datetime", "'on' is of type date"):

        class Item(Entity, table=Shop):
            on: Attr[date] = attr()
            primary = key("AT" / epoch_seconds(on), "ITEM")  # type: ignore[arg-type]

    with refused("User.primary", "lower(number)", "str", "'number' is of type int"):

        class User(Entity, table=Shop):
            number: Attr[int] = attr()
            primary = key("USER" / lower(number), "USER")  # type: ignore[type-var]


def test_counting_down_needs_a_width() -> None:
    class Shop(Table): ...

    with refused("Score.primary", "descending(points)", "points: Attr[int] = attr(pad=…)"):

        class Score(Entity, table=Shop):
            points: Attr[int] = attr()
            primary = key("SCORES", "P" / descending(points))


def test_one_shard_is_none() -> None:
    with refused("shard(of=1)", "at least 2"):
        shard(attr(), of=1)


def test_a_transform_is_of_an_attribute() -> None:
    with refused("lower(…)", "takes an attribute", "'text'"):
        lower("text")  # type: ignore[call-overload]


# -- two entities side by side -------------------------------------------------------------------


class Crowded(Table, name="crowded"): ...


class Resident(Entity, table=Crowded):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    email: Attr[str] = attr()
    primary = key("HOUSE" / name, "ROOM" / number)
    by_email = unique("EMAIL" / email)


@pytest.mark.parametrize(
    "case",
    ["same shape", "literal against number", "free text against literal", "free against number"],
)
def test_a_key_that_could_be_another_entitys_is_refused(case: str) -> None:
    with refused("Guest.primary", "PK=", "Resident.primary", "HOUSE#{name}", "its own literal"):
        if case == "same shape":

            class Guest(Entity, table=Crowded):
                who: Attr[str] = attr()
                bed: Attr[int] = attr(pad=3)
                primary = key("HOUSE" / who, "ROOM" / bed)

        elif case == "literal against number":

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                primary = key("HOUSE#hall", "ROOM#007")

        elif case == "free text against literal":

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                who: Attr[str] = attr()
                what: Attr[str] = attr()
                primary = key("HOUSE" / who, what / "007")

        else:

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                who: Attr[str] = attr()
                bed: Attr[str] = attr()
                primary = key("HOUSE" / who, "ROOM" / bed)


def test_a_key_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Letter.primary", "Resident.by_email", "EMAIL#{email}", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("EMAIL" / to, "EMAIL" / to.again)


def test_a_sentinel_that_could_be_anothers_key_is_refused() -> None:
    with refused("Letter.by_house", "Resident.primary", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("LETTER" / to, "LETTER")
            by_house = unique("HOUSE" / to, "ROOM#007")


def test_a_sentinel_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Letter.by_email", "Resident.by_email", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("LETTER" / to, "LETTER")
            by_email = unique("EMAIL" / to)


def test_a_sentinel_that_could_be_its_own_entitys_key_is_refused() -> None:
    """No two different values give the same key; a sentinel would overwrite an entity."""

    class Shop(Table): ...

    with refused("Customer.by_email", "Customer.primary", "its own literal"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("CUST" / email, "PROFILE")


def test_two_sentinels_of_one_entity_with_one_key_are_refused() -> None:
    """An email that is another's name would be taken."""

    class Shop(Table): ...

    with refused("Customer.by_", "NAME#{", "its own literal"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            nick: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("NAME" / email)
            by_nick = unique("NAME" / nick)


def test_keys_of_different_length_or_literals_live_side_by_side() -> None:
    class Shop(Table): ...

    class Order(Entity, table=Shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order)

    class Item(Entity, table=Shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        item: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item)

    class Note(Entity, table=Shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        note: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order / "NOTE" / note)

    class Profile(Entity, table=Shop):
        customer: Attr[str] = attr()
        primary = key("CUST" / customer, "PROFILE")

    entities = [entity.name for entity in Shop.__table__.entities]
    assert entities == ["Order", "Item", "Note", "Profile"]


def test_two_entities_of_one_type_name_are_refused() -> None:
    class Shop(Table, name="shop"): ...

    class Order(Entity, table=Shop, type_name="O"):
        order: Attr[str] = attr()
        primary = key("ORDER" / order, "ORDER")

    with refused("Offer", "Shop", "'O'", "type_name=…"):

        class Offer(Entity, table=Shop, type_name="O"):
            offer: Attr[str] = attr()
            primary = key("OFFER" / offer, "OFFER")


def test_a_sentinel_of_an_entitys_type_is_refused() -> None:
    """It would be read as that entity."""

    class Shop(Table): ...

    with refused("Customer", "already has items of type 'Customer'", "type_name=…"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("EMAIL" / email, type_name="Customer")


def test_a_refused_entity_leaves_its_table_as_it_was() -> None:
    class Shop(Table): ...

    for literal in ("", "ORDER"):
        try:

            class Order(Entity, table=Shop):
                order: Attr[str] = attr()
                primary = key(literal / order, "ORDER")

        except DeclarationError:
            assert Shop.__table__.entities == []
    assert [entity.name for entity in Shop.__table__.entities] == ["Order"]


# -- indexes -------------------------------------------------------------------------------------


def test_an_index_of_another_table_is_refused() -> None:
    class Market(Table):
        stalls = GSI("GSI1PK", "GSI1SK")

    class Shop(Table, name="shop"):
        listed = GSI("GSI1PK", "GSI1SK")

    with refused("Order.listing", "'stalls'", "not an index of shop", "it has listed"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            listing = index(Market.stalls, "ORDERS", "ORDER" / order)


def test_an_index_needs_its_sort_key() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    with refused("Order.listing", "listed has a sort key, 'GSI1SK'", "give a second path"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            listing = index(Shop.listed, "ORDERS" / order)


def test_an_index_without_a_sort_key_takes_none() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK")

    with refused("Order.listing", "listed has no sort key", "leave the second path out"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            listing = index(Shop.listed, "ORDERS", "ORDER" / order)


def test_two_places_in_one_index_are_refused() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    with refused("Order.second", "'GSI1PK'", "Order.first", "one place in an index"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            first = index(Shop.listed, "ORDERS", "ORDER" / order)
            second = index(Shop.listed, "OTHERS", "ORDER" / order)


def test_an_index_key_that_is_the_tables_own_cannot_be_another() -> None:
    class Shop(Table):
        reverse = GSI("SK", "PK")

    with refused("Order.back", "'SK'", "the table's own key", "ORDER#{order}", "OTHER#{order}"):

        class Order(Entity, table=Shop):
            customer: Attr[str] = attr()
            order: Attr[str] = attr()
            primary = key("CUST" / customer, "ORDER" / order)
            back = index(Shop.reverse, "OTHER" / order, "CUST" / customer)


def test_an_index_key_that_is_the_tables_own_cannot_be_another_in_the_sort_key() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "PK")

    with refused("Order.listing", "'PK'", "the table's own key", "CUST#{customer}"):

        class Order(Entity, table=Shop):
            customer: Attr[str] = attr()
            order: Attr[str] = attr()
            primary = key("CUST" / customer, "ORDER" / order)
            listing = index(Shop.listed, "ORDERS", "ORDER" / order)


def test_an_index_key_that_is_the_type_attribute_cannot_be_another_text() -> None:
    """The library writes the type there: a query for another text would find nothing."""

    class Market(Table, type_attribute="tp"):
        id_lookup = GSI("id", "tp")

    with refused("Order.by_id", "id_lookup is the type", "'Order'", "leave the second path out"):

        class Order(Entity, table=Market):
            order: Attr[str] = attr(name="id")
            primary = key("ORDER" / order, "ORDER")
            by_id = index(Market.id_lookup, order, "SOMETHING")


def test_a_local_index_is_declared_by_the_primary_key() -> None:
    class Shop(Table):
        by_name = LSI("NAME")

    local: Any = Shop.by_name
    with refused("Order.named", "primary.local(…)"):

        class Order(Entity, table=Shop):
            customer: Attr[str] = attr()
            order: Attr[str] = attr()
            primary = key("CUST" / customer, "ORDER" / order)
            named = index(local, "CUST" / customer, "NAME" / order)


def test_a_local_index_of_another_partition_is_refused() -> None:
    class Shop(Table):
        by_name = LSI("NAME")

    local: Any = Shop.by_name
    with refused("Order.named"):

        class Order(Entity, table=Shop):
            customer: Attr[str] = attr()
            order: Attr[str] = attr()
            primary = key("CUST" / customer, "ORDER" / order)
            named = index(local, "ELSE" / customer, "NAME" / order)


def test_a_global_index_is_no_local_one() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    wrong: Any = Shop.listed
    with refused("Order.named", "index("):

        class Order(Entity, table=Shop):
            customer: Attr[str] = attr()
            order: Attr[str] = attr()
            primary = key("CUST" / customer, "ORDER" / order)
            named = primary.local(wrong, "NAME" / order)


def test_a_table_without_a_sort_key_has_no_local_indexes() -> None:
    with refused("shop.by_name", "without a sort key"):

        class Shop(Table, name="shop", sk=None):
            by_name = LSI("NAME")


def test_a_table_without_a_sort_key_has_nothing_to_swap() -> None:
    class Shop(Table, sk=None):
        reverse = GSI("GSI1PK", "PK")

    with refused("Order.back", "sort key"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order)
            back = primary.swapped(Shop.reverse)


def test_an_index_key_has_one_type_for_all_entities() -> None:
    """DynamoDB declares it once; a put of the other type would be refused."""

    class Shop(Table):
        by_number = GSI("number")

    class Order(Entity, table=Shop):
        number: Attr[int] = attr()
        primary = key("ORDER" / number, "ORDER")
        numbered = index(Shop.by_number, number)

    with refused("Offer", "'number'"):

        class Offer(Entity, table=Shop):
            number: Attr[str] = attr()
            primary = key("OFFER" / number, "OFFER")
            numbered = index(Shop.by_number, number)


def test_an_attribute_under_an_index_keys_name_has_its_type() -> None:
    """DynamoDB takes one type for `GSI1PK`, whether or not an index was meant."""

    class Shop(Table, name="typed"):
        listed = GSI("GSI1PK")

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        number: Attr[int] = attr(name="GSI1PK")
        primary = key("ORDER" / order, "ORDER")

    db = connect(":memory:", Shop)
    made = db.run(create(Order(order="1", number=5)))
    assert db.run(Order.primary("1")) == made
    with refused("Offer", "'GSI1PK'", "type N", "S here"):

        class Offer(Entity, table=Shop):
            offer: Attr[str] = attr()
            primary = key("OFFER" / offer, "OFFER")
            listing = index(Shop.listed, "OFFER" / offer)


def test_a_condition_on_another_classs_attribute_is_refused() -> None:
    class Shop(Table):
        listed = GSI("GSI1PK", "GSI1SK")

    class Customer(Entity, table=Shop):
        city: Attr[str] = attr()
        primary = key("CUST" / city, "CUST")

    with refused("Order.listing", "city"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            listing = index(Shop.listed, "X", "ORDER" / order, when=Customer.city == "Rome")


# -- unique values and histories -----------------------------------------------------------------


def test_a_unique_value_needs_an_attribute() -> None:
    class Shop(Table): ...

    nothing: Any = "SETTINGS"
    with refused("Order.only", "unique() needs an attribute"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            only: Any = unique(nothing)


def test_a_sentinel_keeps_attributes_of_its_entity() -> None:
    class Shop(Table): ...

    class Other(Entity):
        colour: Attr[str] = attr()

    kept: Any = Other.colour
    with refused("Order.by_name", "colour", "not an attribute of Order"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            name: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")
            by_name = unique("NAME" / name, keep=(kept,))


def test_a_sentinel_that_does_not_keep_the_key_is_not_looked_up() -> None:
    """It keeps the value unique; what it stands for, it does not say."""

    class Shop(Table, name="kept"): ...

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("ORDER" / order, "ORDER")
        by_name = unique("NAME" / name, keep=(name,))

    db = connect(":memory:", Shop)
    db.run(create(Order(order="O1", name="n")))
    with pytest.raises(UniqueViolation):
        db.run(create(Order(order="O2", name="n")))
    with refused("Order.by_name", "does not keep order", "keep it"):
        Order.by_name("n")


class Recorded(Table, name="recorded"): ...


class Event(Entity, table=Recorded):
    order: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    old: Attr[Status | None] = attr()
    new: Attr[Status] = attr()
    primary = key("ORDER" / order, "EVENT" / number)


def test_a_history_needs_an_entity_of_its_table() -> None:
    class Shop(Table, name="shop"): ...

    with refused("Order.changes", "Event", "not an entity of shop"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            status: Attr[Status] = attr()
            primary = key("ORDER" / order, "ORDER")
            changes = history(status, Event, new=Event.new)

    with refused("Offer.changes", "str", "not an entity of shop"):

        class Offer(Entity, table=Shop):
            offer: Attr[str] = attr()
            status: Attr[Status] = attr()
            primary = key("OFFER" / offer, "OFFER")
            changes = history(status, str, new=Event.new)  # type: ignore[misc]


def test_a_history_is_of_an_attribute_of_its_entity() -> None:
    class Other(Entity):
        status: Attr[Status] = attr()

    inherited: Any = vars(Other)["status"]
    with refused("Order.changes", "status", "not an attribute of Order"):

        class Order(Entity, table=Recorded):
            order: Attr[str] = attr()
            number: Attr[int] = version()
            primary = key("ORDER" / order, "ORDER")
            changes = history(inherited, Event, new=Event.new, version=Event.number)


def test_a_history_of_versions_needs_a_version() -> None:
    with refused("Order.changes", "Order has no version()"):

        class Order(Entity, table=Recorded):
            order: Attr[str] = attr()
            status: Attr[Status] = attr()
            primary = key("ORDER" / order, "ORDER")
            changes = history(status, Event, new=Event.new, version=Event.number)


def test_a_history_fills_every_attribute_of_its_event() -> None:
    with refused("Order.changes", "Event.new gets no value", "attribute of Order"):

        class Order(Entity, table=Recorded):
            order: Attr[str] = attr()
            status: Attr[Status] = attr()
            count: Attr[int] = version()
            primary = key("ORDER" / order, "ORDER")
            changes = history(status, Event, version=Event.number)


def test_a_history_tells_attributes_of_its_event_only() -> None:
    class Note(Entity, table=Recorded):
        note: Attr[str] = attr()
        remark: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")

    with refused("Order.changes", "Note.remark", "Event"):

        class Order(Entity, table=Recorded):
            order: Attr[str] = attr()
            status: Attr[Status] = attr()
            count: Attr[int] = version()
            primary = key("ORDER" / order, "ORDER")
            changes = history(  # type: ignore[misc]
                status, Event, new=Event.new, version=Event.number, reason=Note.remark
            )


# -- tables --------------------------------------------------------------------------------------


def test_a_table_is_subclassed() -> None:
    with refused("Order", "table=", "not a subclass of Table"):

        class Order(Entity, table=Table):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")


def test_something_that_is_no_table_is_refused() -> None:
    wrong: Any = dict
    with refused("Order", "dict", "not a subclass of Table"):

        class Order(Entity, table=wrong):
            order: Attr[str] = attr()
            primary = key("ORDER" / order, "ORDER")


def test_a_table_is_not_made() -> None:
    class Shop(Table): ...

    with pytest.raises(TypeError, match=r"Shop is a declaration; connect\(target, Shop\)"):
        Shop()


def test_two_indexes_of_one_name_are_refused() -> None:
    with refused("shop", "two indexes", "'listed'"):

        class Shop(Table, name="shop"):
            first = GSI("GSI1PK", name="listed")
            second = GSI("GSI2PK", name="listed")


def test_a_table_holds_indexes_and_nothing_else() -> None:
    with refused("Shop.size", "5", "GSI(…), LSI(…) and Tenancy(…)"):

        class Shop(Table):
            size = 5


def test_the_two_keys_of_a_table_have_two_names() -> None:
    with refused("Shop", "both 'id'"):

        class Shop(Table, name="shop", pk="id", sk="id"): ...


@pytest.mark.parametrize("name", ["PK", "SK"])
def test_the_type_attribute_is_no_key_of_the_table(name: str) -> None:
    """The type would overwrite the key."""
    with refused("Shop", repr(name), "is a key", "cannot hold the type"):

        class Shop(Table, name="shop", type_attribute=name): ...


def test_the_two_keys_of_an_index_have_two_names() -> None:
    with refused("listed", "'GSI1PK'"):

        class Shop(Table):
            listed = GSI("GSI1PK", "GSI1PK")


@pytest.mark.parametrize("name", ["t", "a b", "größe", "x" * 256])
def test_a_name_that_dynamodb_takes_for_no_table_is_refused(name: str) -> None:
    with refused(name):

        class Shop(Table, name=name): ...


@pytest.mark.parametrize("name", ["i", "a b"])
def test_a_name_that_dynamodb_takes_for_no_index_is_refused(name: str) -> None:
    with refused(name):

        class Shop(Table, name="shop"):
            listed = GSI("GSI1PK", name=name)


# -- tenancy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shard", ["U", "U#{user}", "U#{user_id}#{user_id}", "{user_id}#{shop}"])
@pytest.mark.parametrize("access", ["write", "read"])
def test_a_shard_holds_its_tenant_once_and_nothing_else(shard: str, access: str) -> None:
    patterns: dict[str, Any] = {access: (shard,)}
    with refused("Tenancy('user_id')", repr(shard), "{user_id} once"):
        Tenancy("user_id", **patterns)


@pytest.mark.parametrize("access", ["write", "read"])
def test_shards_are_a_tuple_and_no_text(access: str) -> None:
    shards: dict[str, Any] = {access: "U#{user_id}"}
    with refused("Tenancy('user_id')", f"{access}= takes a tuple: ('U#{{user_id}}',)"):
        Tenancy("user_id", **shards)


def test_a_tenant_has_shards() -> None:
    with refused("Tenancy('user_id')", "no shards", "write=, read="):
        Tenancy("user_id")


# -- abstract entities ---------------------------------------------------------------------------


class Dated(Entity):
    """What several entities have in common."""

    created_at: Attr[datetime] = created_at(name="createdAt")
    updated_at: Attr[datetime] = updated_at(name="updatedAt")


class Owned(Entity):
    owner: Attr[str] = attr(name="ownerId", doc="Whose it is.")
    note: Attr[str] = attr(default="none")


OWNER: Attr[str] = vars(Owned)["owner"]


class Mixing(Table, name="mixing"): ...


class Document(Dated, Owned, table=Mixing):
    document: Attr[str] = attr()
    primary = key("OWNER" / OWNER, "DOC" / document)


class Picture(Owned, table=Mixing):
    picture: Attr[str] = attr()
    primary = key("OWNER" / OWNER, "PIC" / picture)


def test_an_entity_without_a_table_is_not_made() -> None:
    with pytest.raises(TypeError, match="Owned is abstract: it has no table"):
        Owned(owner="ann")


def test_attributes_of_abstract_entities_are_their_childrens() -> None:
    document = Document(owner="ann", document="D1")
    db = connect(":memory:", Mixing)
    db.run(create(document))
    db.run(create(Picture(owner="ann", picture="P1", note="x")))
    assert db.run(Document.primary("ann", "D1")) == document
    stored = {item["SK"]["S"]: item for item in raw(db, Mixing)}
    assert set(stored["DOC#D1"]) == {
        "PK",
        "SK",
        "type",
        "createdAt",
        "updatedAt",
        "ownerId",
        "note",
        "document",
    }
    assert stored["DOC#D1"]["note"] == {"S": "none"}
    assert stored["PIC#P1"]["PK"] == {"S": "OWNER#ann"}


def test_a_child_overrides_an_attribute_of_its_abstract_parent() -> None:
    class Shop(Table, name="overriding"): ...

    class Thing(Owned, table=Shop):
        thing: Attr[str] = attr()
        note: Attr[str] = attr(name="remark")
        primary = key("THING" / thing, "THING")

    assert Thing.__entity__.attributes["note"].stored == "remark"
    assert Thing.__entity__.attributes["note"].default is None


def test_a_child_of_an_entity_with_a_table_keeps_what_its_parent_declared_or_is_refused() -> None:
    class Shop(Table, name="subclassing"): ...

    class Order(Entity, table=Shop):
        order: Attr[str] = attr(name="orderId")
        note: Attr[str] = attr(default="none")
        primary = key("ORDER" / order, "ORDER")

    try:

        class Gift(Order, table=Shop):
            gift: Attr[str] = attr()
            primary = key("GIFT" / gift, "GIFT")

    except DeclarationError as refusal:
        assert "Gift" in str(refusal)  # noqa: PT017
        assert "Order" in str(refusal)  # noqa: PT017
        return
    assert Gift.__entity__.attributes["order"].stored == "orderId"
    assert Gift(order="O1", gift="G1").note == "none"


# -- what is allowed -----------------------------------------------------------------------------


def test_names_of_keys_and_of_the_type_are_free() -> None:
    class Market(Table, name="market", pk="pk", sk="sk", type_attribute="tp"): ...

    class Stall(Entity, table=Market, type_name="S"):
        stall: Attr[str] = attr(name="id")
        primary = key("S" / stall, "S" / stall.again)

    db = connect(":memory:", Market)
    db.run(create(Stall(stall="1")))
    assert raw(db, Market) == [
        {"pk": {"S": "S#1"}, "sk": {"S": "S#1"}, "tp": {"S": "S"}, "id": {"S": "1"}}
    ]


def test_a_table_may_have_no_sort_key() -> None:
    class Settings(Table, name="settings", pk="id", sk=None, type_attribute=None): ...

    class Setting(Entity, table=Settings):
        name: Attr[str] = attr()
        value: Attr[int] = attr()
        primary = key("SETTING" / name)

    db = connect(":memory:", Settings)
    made = Setting(name="x", value=1)
    db.run(create(made))
    assert db.run(Setting.primary("x")) == made
    assert raw(db, Settings) == [
        {"id": {"S": "SETTING#x"}, "name": {"S": "x"}, "value": {"N": "1"}}
    ]


def test_without_a_type_attribute_entities_are_known_by_their_keys() -> None:
    class Plain(Table, name="plain", type_attribute=None): ...

    class Order(Entity, table=Plain):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order)

    class Item(Entity, table=Plain):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        item: Attr[int] = attr(pad=2)
        primary = key("CUST" / customer, "ORDER" / order / item)

    db = connect(":memory:", Plain)
    orders = [Order(customer="C", order=order) for order in ("1", "10", "2")]
    items = [Item(customer="C", order="1", item=number) for number in (1, 2)]
    for entity in (*orders, *items):
        db.run(create(entity))
    assert all(set(item) <= {"PK", "SK", "customer", "order", "item"} for item in raw(db, Plain))
    assert db.run(Order.primary.within("C")) == orders
    assert db.run(Item.primary.within("C")) == items
    assert db.run(Order.primary.within("C").count()) == 3


def test_keys_may_be_attributes_of_their_own_type() -> None:
    class Readings(Table, name="readings", pk="sensor", sk="at", type_attribute=None): ...

    class Reading(Entity, table=Readings):
        sensor: Attr[bytes] = attr()
        at: Attr[int] = attr()
        value: Attr[Decimal] = attr()
        primary = key(sensor, at)

    definitions = definition(Readings.__table__, "readings")["AttributeDefinitions"]
    assert {each["AttributeName"]: each["AttributeType"] for each in definitions} == {
        "sensor": "B",
        "at": "N",
    }
    db = connect(":memory:", Readings)
    made = [Reading(sensor=b"\x00#", at=at, value=Decimal("1.5")) for at in (-10, -9, 9, 10)]
    for reading in made:
        db.run(put(reading))
    assert db.run(Reading.primary.within(b"\x00#")) == made
    assert db.run(Reading.primary(b"\x00#", -9)) == made[1]
    assert db.run(Reading.primary.within(b"\x00#").gte(-9)) == made[1:]
    assert set(raw(db, Readings)[0]) == {"sensor", "at", "value"}


def test_an_index_may_use_the_tables_own_partition_key() -> None:
    class Shop(Table, name="reusing"):
        by_date = GSI("PK", "GSI1SK")

    class Order(Entity, table=Shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        on: Attr[date] = attr()
        primary = key("CUST" / customer, "ORDER" / order)
        dated = index(Shop.by_date, "CUST" / customer, "ON" / on)

    db = connect(":memory:", Shop)
    late = Order(customer="C", order="1", on=date(2026, 2, 1))
    early = Order(customer="C", order="2", on=date(2026, 1, 1))
    db.run(create(late))
    db.run(create(early))
    assert db.run(Order.dated("C")) == [early, late]
    assert {tuple(sorted(item)) for item in raw(db, Shop)} == {
        ("GSI1SK", "PK", "SK", "customer", "on", "order", "type")
    }


def test_the_tables_keys_may_be_swapped_in_an_index() -> None:
    class Market(Table, name="swapping", pk="pk", sk="sk"):
        reverse = GSI("sk", "pk")

    class Visit(Entity, table=Market):
        user: Attr[str] = attr()
        stall: Attr[str] = attr()
        primary = key("U" / user, "S" / stall)
        visitors = primary.swapped(Market.reverse)

    db = connect(":memory:", Market)
    visits = [Visit(user=user, stall="1") for user in ("a", "b")]
    for visit in (*visits, Visit(user="a", stall="10")):
        db.run(create(visit))
    assert db.run(Visit.visitors("1")) == visits
    assert {tuple(sorted(item)) for item in raw(db, Market)} == {
        ("pk", "sk", "stall", "type", "user")
    }


def test_a_local_index_has_the_partition_of_the_primary_key() -> None:
    class Shop(Table, name="local"):
        by_name = LSI("NAME", name="by_name_index")

    class Product(Entity, table=Shop):
        brand: Attr[str] = attr()
        sku: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("BRAND" / brand, "SKU" / sku)
        named = primary.local(Shop.by_name, "NAME" / name)

    db = connect(":memory:", Shop)
    b, a = Product(brand="x", sku="1", name="b"), Product(brand="x", sku="2", name="a")
    db.run(create(b))
    db.run(create(a))
    assert db.run(Product.named("x")) == [a, b]
    assert {item["NAME"]["S"] for item in raw(db, Shop)} == {"NAME#a", "NAME#b"}


def test_an_index_of_an_attribute_and_the_type_is_natural() -> None:
    class Market(Table, name="lookup", pk="pk", sk="sk", type_attribute="tp"):
        id_lookup = GSI("id", "tp")

    class Order(Entity, table=Market, type_name="O"):
        user: Attr[str] = attr()
        order: Attr[str] = attr(name="id")
        primary = key("U" / user, "O" / order)
        by_id = index(Market.id_lookup, order)

    class Reward(Entity, table=Market, type_name="R"):
        user: Attr[str] = attr()
        reward: Attr[str] = attr(name="id")
        primary = key("U" / user, "R" / reward)
        by_id = index(Market.id_lookup, reward)

    db = connect(":memory:", Market)
    order, reward = Order(user="a", order="1"), Reward(user="a", reward="1")
    db.run(create(order))
    db.run(create(reward))
    assert db.run(Order.by_id("1")) == [order]
    assert db.run(Reward.by_id("1")) == [reward]
    assert {tuple(sorted(item)) for item in raw(db, Market)} == {("id", "pk", "sk", "tp", "user")}


def test_an_entity_is_in_an_index_while_its_condition_holds() -> None:
    class Shop(Table, name="sparse"):
        unpaid = GSI("GSI1PK", "GSI1SK")

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        status: Attr[Status] = attr(default=Status.CREATED)
        due: Attr[date | None] = attr()
        primary = key("ORDER" / order, "ORDER")
        waiting = index(Shop.unpaid, "WAITING", "DUE" / due, when=status == Status.CREATED)

    db = connect(":memory:", Shop)
    waiting = Order(order="1", due=date(2026, 1, 1))
    db.run(create(waiting))
    db.run(create(Order(order="2", due=date(2026, 1, 1), status=Status.PAID)))
    db.run(create(Order(order="3", due=None)))
    assert db.run(Order.waiting()) == [waiting]
    assert sorted(item["PK"]["S"] for item in raw(db, Shop) if "GSI1PK" in item) == ["ORDER#1"]
    assert sorted(item["PK"]["S"] for item in raw(db, Shop) if "GSI1SK" in item) == ["ORDER#1"]


def test_a_condition_cannot_take_an_attribute_out_of_a_natural_index() -> None:
    """An item with an `id` is in the index by `id`; `when=` must not promise otherwise."""

    class Market(Table, name="unconditional"):
        id_lookup = GSI("id")

    try:

        class Order(Entity, table=Market):
            order: Attr[str] = attr(name="id")
            status: Attr[Status] = attr(default=Status.CREATED)
            primary = key("ORDER" / order, "ORDER")
            by_id = index(Market.id_lookup, order, when=status == Status.CREATED)

    except DeclarationError as refusal:
        assert "Order.by_id" in str(refusal)  # noqa: PT017
        return
    db = connect(":memory:", Market)
    db.run(create(Order(order="1", status=Status.PAID)))
    assert db.run(Order.by_id("1")) == []


def test_every_type_of_part_stands_in_one_key() -> None:
    class Wide(Table, name="wide"): ...

    class Row(Entity, table=Wide):
        text: Attr[str] = attr()
        number: Attr[int] = attr(pad=4)
        at: Attr[datetime] = attr()
        on: Attr[date] = attr()
        ident: Attr[UUID] = attr()
        status: Attr[Status] = attr()
        paid: Attr[bool] = attr()
        score: Attr[int] = attr(pad=3)
        primary = key(
            "ROW" / text / year_month(on),
            "N"
            / number
            / at
            / on
            / ident
            / status
            / paid
            / descending(score)
            / epoch_seconds(at)
            / day(at),
        )

    row = Row(
        text="a#b",
        number=7,
        at=datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC),
        on=date(2026, 1, 15),
        ident=UUID(int=1),
        status=Status.PAID,
        paid=True,
        score=7,
    )
    db = connect(":memory:", Wide)
    db.run(create(row))
    (item,) = raw(db, Wide)
    assert item["PK"] == {"S": "ROW#a$!b#2026-01"}
    assert item["SK"]["S"].split("#") == [
        "N",
        "0007",
        "2026-01-15T10:15:30.000000Z",
        "2026-01-15",
        "00000000-0000-0000-0000-000000000001",
        "PAID",
        "true",
        "992",
        "1768472130",
        "2026-01-15",
    ]
    assert db.run(Row.primary.within("a#b", date(2026, 1, 1))) == [row]


def test_what_is_byte_exact_with_the_documents() -> None:
    class Commerce(Table, name="documents"): ...

    class Order(Entity, table=Commerce):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("CUST" / customer, "ORDER" / at / order)

    at = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
    assert Order.primary("C1", at, "O100")._key == {
        "PK": {"S": "CUST#C1"},
        "SK": {"S": "ORDER#2026-01-15T10:15:30.000000Z#O100"},
    }
