"""A wrong declaration is reported with the file and line of the user's code, and the fix."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Query,
    Table,
    Tenancy,
    Update,
    access_pattern,
    attr,
    children,
    history,
    index,
    key,
    root,
)
from tablewright.errors import DeclarationError
from tablewright.formats import lower


class Shop(Table, name="locations"):
    orders = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Shop):
    order_id: Attr[str] = attr()
    note: Attr[str] = attr()
    primary = key("ORDER" / order_id, "ORDER")


@contextmanager
def refused_here(lines: int, *pieces: str) -> Iterator[None]:
    """Expect a DeclarationError whose line is this many lines below the `with` statement."""
    line = sys._getframe(2).f_lineno + lines
    with pytest.raises(DeclarationError) as failure:
        yield
    assert failure.value.location == f"{__file__}:{line}"
    assert str(failure.value) == f"{failure.value.message} ({failure.value.location})"
    for piece in pieces:
        assert piece in failure.value.message


def test_an_attribute() -> None:
    with refused_here(3, "default or default_factory"):

        class Bad(Entity, table=Shop):
            note: Attr[str] = attr(default="", default_factory=str)  # type: ignore[call-overload]


def test_an_entity() -> None:
    with refused_here(2, "Bad has no primary key"):

        class Bad(Entity, table=Shop):
            note: Attr[str] = attr()


def test_a_table() -> None:
    with refused_here(2, "Bad: the partition key and the sort key are both 'PK'"):

        class Bad(Table, name="bad", pk="PK", sk="PK"): ...


def test_a_tenancy() -> None:
    with refused_here(1, "Tenancy('user')"):
        Tenancy("user")


def test_a_format() -> None:
    with refused_here(1, "lower(…) takes an attribute"):
        lower("text")  # type: ignore[arg-type]


def test_a_key_that_is_called_with_too_few_values() -> None:
    with refused_here(1, "Order.primary takes order_id; 0 values were given"):
        Order.primary()  # type: ignore[call-arg]


def test_an_index_that_is_no_index() -> None:
    with refused_here(1, "index() takes a GSI of the table first, such as Shop.orders, not 'x'"):
        index("x", "A")  # type: ignore[call-overload]


def test_a_condition_of_an_index_that_is_no_condition() -> None:
    with refused_here(1, "when takes a condition on attributes"):
        index(Shop.orders, "A", when=True)  # type: ignore[call-overload]


def test_a_pattern_is_located_at_the_line_of_its_body() -> None:
    with refused_here(4, "pattern noted: Order.where(note = {note}) would be a scan"):

        @access_pattern
        def noted(note: str) -> Query[Order]:
            return Order.where(Order.note == note)


def test_a_wrong_value_in_a_pattern_is_located_at_its_line() -> None:
    with refused_here(5, "pattern renamed: Order.note is changed twice in one update"):

        @access_pattern
        def renamed(order_id: str) -> Update[Order]:
            change = Order.note.set("")
            return Order.primary(order_id).update(change, change)


def test_an_error_in_the_returned_plan_is_located_at_the_pattern() -> None:
    with refused_here(2, "pattern since: Order.primary: order_id is 5 of type int"):

        @access_pattern
        def since() -> Query[Order]:
            return Order.primary.within(5)  # type: ignore[arg-type]


def test_any_exception_in_a_pattern_is_located_at_its_line() -> None:
    with refused_here(4, "pattern noted: AttributeError: 'Get' object has no attribute 'filtr'"):

        @access_pattern
        def noted(note: str) -> Query[Order]:
            return Order.primary(note).filtr(note)  # type: ignore[attr-defined,no-any-return]


# -- annotations -----------------------------------------------------------------------------------


def test_the_annotation_of_an_entity() -> None:
    with refused_here(2, "Bad.note: the annotation 'Attr[Txt]' is not valid", "'Txt'"):

        class Bad(Entity, table=Shop):
            note: Attr[Txt] = attr()  # type: ignore[name-defined]  # noqa: F821
            primary = key("BAD", "BAD")


def test_the_annotation_of_an_abstract_entity_is_reported_by_the_entity() -> None:
    class Noted(Entity):
        note: Attr[Nowhere] = attr()  # type: ignore[name-defined]  # noqa: F821

    with refused_here(2, "Bad.note: the annotation 'Attr[Nowhere]'", "define it before"):

        class Bad(Noted, table=Shop):
            primary = key("BAD", "BAD")


def test_the_annotation_of_an_aggregate() -> None:
    with refused_here(2, "Bad.notes: the annotation 'list[Ordr]'", "did you mean 'Order'?"):

        class Bad(Aggregate):
            order: Order = root()
            notes: list[Ordr] = children()  # type: ignore[name-defined]  # noqa: F821


def test_the_annotation_of_an_aggregate_that_is_no_type() -> None:
    with refused_here(2, "Bad.notes: the annotation 'list[1 / 0]' is not valid", "a type"):

        class Bad(Aggregate):
            order: Order = root()
            notes: list[1 / 0] = children()  # type: ignore[valid-type]


def test_the_annotation_of_a_pattern() -> None:
    with refused_here(2, "pattern noted: note: the annotation 'Txt' is not valid", "'Txt'"):

        @access_pattern
        def noted(note: Txt) -> Query[Order]:  # type: ignore[name-defined]  # noqa: F821
            return Order.where(Order.order_id == note)


def test_the_annotation_of_the_event_of_a_history() -> None:
    with refused_here(2, "Event.note: the annotation 'Attr[Txt]' is not valid", "'Txt'"):

        class Event(Entity, table=Shop):
            order_id: Attr[str] = attr()
            note: Attr[Txt] = attr()  # type: ignore[name-defined]  # noqa: F821
            primary = key("ORDER" / order_id, "NOTE")

    with refused_here(2, "Noted.notes: ", "is not an entity of locations"):

        class Noted(Entity, table=Shop):
            order_id: Attr[str] = attr()
            note: Attr[str] = attr()
            primary = key("NOTED" / order_id, "NOTED")
            notes = history(note, Table)
