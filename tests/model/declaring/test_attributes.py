"""Attributes: names, types and the attributes that the library maintains."""

from __future__ import annotations

from datetime import date, datetime
from types import new_class
from typing import Annotated, Any

import pytest
from pydantic import Field

from tablewright import (
    Attr,
    Entity,
    attr,
    connect,
    create,
    created_at,
    index,
    key,
    ttl,
    updated_at,
    version,
)
from tablewright.errors import DeclarationError, InvalidValue
from tests.model.declaring.declarations import Keyed, Shop, refused
from tests.new_table import new_table
from tests.things import NamedEntity

# -- attributes ------------------------------------------------------------------------------------


def test_an_attribute_needs_an_annotation() -> None:
    with refused("Order.note", "not annotated", "note: Attr[…] = attr(…)"):

        class Order(Keyed, table=Shop):
            note = attr()


def test_an_annotation_without_attr_is_refused() -> None:
    with refused("Order.note: str", "write note: Attr[str] = attr()", "note: ClassVar[str]"):

        class Order(Keyed, table=Shop):
            note: str = attr()


def test_a_value_instead_of_attr_is_refused() -> None:
    with refused("Order.note = 5 is not a declaration", "write note: Attr[…] = attr(default=5)"):

        class Order(Keyed, table=Shop):
            note: Attr[int] = 5  # type: ignore[assignment]


def test_attr_without_a_type_and_inside_of_annotated_is_refused() -> None:
    with refused("Order.order: Attr has no type; write order: Attr[str] = attr()", __file__):

        class Order(Entity, table=Shop):
            order: Attr = attr()  # type: ignore[type-arg]
            primary = key("ORDER" / order, "ORDER")

    with refused("write order: Attr[Annotated[…]] = attr()", __file__):

        class Gift(Entity, table=Shop):
            order: Annotated[Attr[str], "x"] = attr()
            primary = key("ORDER" / order, "ORDER")


class Bare:
    note: str


class Assigned:
    note: str = attr()


class Limited:
    limit: int = 10
    _cached: Unknown  # type: ignore[name-defined]  # noqa: F821
    note: Attr[str] = attr()


@pytest.mark.parametrize("mixin", [Bare, Assigned])
def test_an_annotation_without_attr_is_refused_in_a_class_that_is_no_entity(mixin: type) -> None:
    with refused("Order.note: str", "write note: Attr[str] = attr()", "note: ClassVar[str]"):

        class Order(Keyed, mixin, table=Shop): ...  # type: ignore[misc]


def test_a_class_that_is_no_entity_may_have_variables_and_attributes() -> None:
    class Order(Keyed, Limited, table=new_table()): ...

    assert list(Order.__entity__.attributes) == ["note", "order"]
    assert Order.limit == 10


def test_an_annotation_of_an_unknown_type_is_refused() -> None:
    with refused("Order.note", "'Attr[Nothing]'", "is not valid", "Nothing"):

        class Order(Keyed, table=Shop):
            note: Attr[Nothing] = attr()  # type: ignore[name-defined]  # noqa: F821


def test_a_type_that_cannot_be_stored_is_refused() -> None:
    class Opaque: ...

    with refused("Order.note", "Opaque", "cannot be stored", "use a dataclass"):

        class Order(Keyed, table=Shop):
            note: Attr[Opaque] = attr()


def test_an_attribute_may_have_the_name_of_its_type() -> None:
    """`date: Attr[date]`: in the body of the class, `date` is the attribute."""

    shop = new_table("dates")

    class Order(Keyed, table=shop):
        date: Attr[date] = attr()

    db = connect(":memory:", shop)
    made: Any = Order(order="1", date=date(2026, 1, 5))
    db.run(create(made))
    assert db.run(Order.primary("1")) == made
    with pytest.raises(InvalidValue, match=r"Order\.date"):
        Order(order="2", date="tomorrow")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["where", "scan", "_hidden"])
def test_a_name_of_the_library_is_reserved(name: str) -> None:
    with refused(f"Order.{name}", "is reserved", f"attr(name={name!r})"):
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

    order = attr()
    order.name = "order"
    body = {
        "__module__": __name__,
        "__annotations__": {"order": "Attr[str]", name: "Attr[str]"},
        "order": order,
        name: attr(),
        "primary": key("ORDER" / order, "ORDER"),
    }
    return new_class("Order", (Entity,), {"table": new_table()}, lambda space: space.update(body))


@pytest.mark.parametrize("name", ["where", "scan"])
def test_a_key_with_a_name_of_the_library_is_refused(name: str) -> None:
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
    with refused("Order.second", "Order.first", "'n'"):

        class Order(Keyed, table=Shop):
            first: Attr[str] = attr(name="n")
            second: Attr[str] = attr(name="n")


def test_an_attribute_stored_under_anothers_python_name_is_refused() -> None:
    with refused("Order.second", "Order.first", "'first'"):

        class Order(Keyed, table=Shop):
            first: Attr[str] = attr()
            second: Attr[str] = attr(name="first")


@pytest.mark.parametrize("stored", ["type", "entityType"])
def test_an_attribute_stored_as_the_type_attribute_is_refused(stored: str) -> None:
    with refused("Order.kind", repr(stored), "type attribute", "attr(name=…)"):

        class Order(Keyed, table=new_table(type_attribute=stored)):
            kind: Attr[str] = attr(name=stored)


def test_an_attribute_stored_under_a_composed_keys_name_is_refused() -> None:
    with refused("Order.primary", "'PK'", "Order.order", "attr(name=…)"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr(name="PK")
            primary = key("ORDER" / order, "ORDER")


def test_an_attribute_stored_under_a_composed_index_keys_name_is_refused() -> None:
    with refused("Order.listing", "'GSI1SK'", "Order.note", "attr(name=…)"):

        class Order(Keyed, table=Shop):
            note: Attr[str] = attr(name="GSI1SK")
            listing = index(Shop.listed, "ORDERS", "ORDER" / Keyed.order)


def test_a_default_and_a_factory_are_one_too_many() -> None:
    with refused("attr()", "default or default_factory"):
        attr(default=1, default_factory=int)  # type: ignore[call-overload]


def test_a_width_of_no_digits_is_refused() -> None:
    with refused("attr(pad=0)", "at least 1"):
        attr(pad=0)


# -- attributes that the library keeps -------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "wrong", "right"),
    [
        (version, str, "Attr[int]"),
        (version, int | None, "Attr[int]"),
        (created_at, date, "Attr[datetime]"),
        (updated_at, str, "Attr[datetime]"),
        (ttl, int, "Attr[datetime] or Attr[datetime | None]"),
    ],
)
def test_an_attribute_that_the_library_keeps_has_its_type(
    role: Any, wrong: Any, right: str
) -> None:
    with refused("Order.kept", f"{role.__name__}()", right):

        class Order(Keyed, table=Shop):
            kept: Attr[wrong] = role()


def test_two_entities_with_two_ttl_attributes_are_refused() -> None:
    shop = new_table()

    class Basket(Keyed, table=shop):
        ends: Attr[datetime | None] = ttl(name="expires")

    with refused("Token.ends", "'ends'", "Basket", "'expires'", "one TTL attribute"):

        class Token(NamedEntity, table=shop):
            ends: Attr[datetime] = ttl()


def test_one_entity_with_two_ttl_attributes_is_refused() -> None:
    with refused("Basket.stops", "already has a ttl()", "remove one"):

        class Basket(Keyed, table=Shop):
            ends: Attr[datetime] = ttl()
            stops: Attr[datetime] = ttl()


@pytest.mark.parametrize(("role", "kind"), [("version", int), ("created_at", datetime)])
def test_an_entity_with_two_attributes_of_one_role_is_refused(role: str, kind: type) -> None:
    make: Any = {"version": version, "created_at": created_at}[role]

    with refused("Order", f"{role}()"):

        class Order(Keyed, table=Shop):
            first: Attr[kind] = make()  # type: ignore[valid-type]
            second: Attr[kind] = make()  # type: ignore[valid-type]


def test_only_numbers_are_padded() -> None:
    with refused("Order.order", "attr(pad=4)", "an int"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr(pad=4)
            primary = key("ORDER" / order, "ORDER")


def test_an_error_in_a_format_has_one_location() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Order(Entity, table=Shop):
            weight: Attr[float] = attr()
            primary = key("ORDER", "WEIGHT" / weight)

    assert str(caught.value).count(caught.value.location) == 1


def test_a_field_of_pydantic_as_the_value_of_an_attribute_is_refused() -> None:
    with refused("write size: Attr[Annotated[…, Field(…)]] = attr()", "test_attributes.py:"):

        class Note(Entity, table=new_table()):
            note: Attr[str] = attr()
            size: Attr[int] = Field(ge=0)
            primary = key("NOTE" / note, "NOTE")
