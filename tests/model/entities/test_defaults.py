"""Defaults, factories and absent values."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tablewright import GSI, Attr, Table, attr, connect, create, index, put
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tests.model.entities.catalog import Dog, Everything, Managed, Named, order
from tests.new_table import new_table
from tests.things import NamedEntity


def test_defaults_and_factories_give_what_is_not_given() -> None:
    one, other = order(), order()
    assert one.total == Decimal(0)
    assert one.order_id < other.order_id


def test_an_optional_attribute_without_a_default_is_required() -> None:
    """By the constructor, as the checkers say; stored, it may be absent."""
    table = new_table()

    class Optional(NamedEntity, table=table):
        note: Attr[str | None] = attr()
        tags: Attr[set[str]] = attr()

    with pytest.raises(InvalidValue, match=r"Optional\.note has no value; Optional\.tags has no"):
        Optional(name="x")  # type: ignore[call-arg]
    db = connect(":memory:", table)
    made = db.run(create(Optional(name="x", note=None, tags=set())))
    assert db.run(Optional.primary("x")) == made


def test_an_optional_attribute_with_a_default_may_be_left_out() -> None:
    class Optional(NamedEntity, table=new_table()):
        note: Attr[str | None] = attr(default=None)
        tags: Attr[set[str]] = attr(default_factory=set)

    made = Optional(name="x")
    assert made.note is None
    assert made.tags == set()


def test_a_factory_makes_a_value_for_each_entity() -> None:
    one, other = Everything(name="a"), Everything(name="b")
    one.prices.append(Decimal(1))
    one.words.add("x")
    assert other.prices == []
    assert other.words == set()


def test_a_default_that_can_change_is_not_shared() -> None:
    """It is copied, or refused when the class is defined."""
    try:

        class Shared(NamedEntity, table=new_table()):
            tags: Attr[list[str]] = attr(default=[])

    except DeclarationError:
        return
    one, other = Shared(name="a"), Shared(name="b")
    one.tags.append("x")
    assert other.tags == []
    assert Shared(name="c").tags == []


def test_a_default_of_the_wrong_type_is_an_error_at_import() -> None:
    def declare() -> None:
        class Wrong(NamedEntity, table=new_table()):
            size: Attr[int] = attr(default="five")  # type: ignore[arg-type]

    with pytest.raises(DeclarationError, match=r"Wrong\.size"):
        declare()


def test_a_default_and_a_factory_together_are_an_error() -> None:
    with pytest.raises(DeclarationError, match="default or default_factory, not both"):
        attr(default=1, default_factory=int)  # type: ignore[call-overload]


def test_none_where_the_default_is_another_value_comes_back_as_none() -> None:
    table = new_table()

    class Defaulted(NamedEntity, table=table):
        note: Attr[str | None] = attr(default="none given")

    with connect(":memory:", table) as db:
        db.run(put(Defaulted(name="x", note=None)))
        assert db.run(Defaulted.primary("x")) == Defaulted(name="x", note=None)


def test_none_where_the_default_is_another_value_meets_a_condition_on_none() -> None:
    """Absent is the default there, and None is stored as NULL."""
    table = new_table()

    class Defaulted(NamedEntity, table=table):
        note: Attr[str | None] = attr(default="none given")

    with connect(":memory:", table) as db:
        db.run(put(Defaulted(name="x", note=None)))
        db.run(put(Defaulted(name="y")))
        found = db.run(Defaulted.scan(reason="test").filter(Defaulted.note == None))  # noqa: E711
        assert [one.name for one in found] == ["x"]
        found = db.run(Defaulted.scan(reason="test").filter(Defaulted.note != None))  # noqa: E711
        assert [one.name for one in found] == ["y"]


def test_none_is_no_key_of_an_index_so_it_needs_no_other_default() -> None:
    """None would be stored as NULL, which DynamoDB takes for no key."""

    class Listed(Table, name="listed"):
        by_code = GSI("code")

    with pytest.raises(DeclarationError, match=r"Thing.*code"):

        class Thing(NamedEntity, table=Listed):
            code: Attr[str | None] = attr(default="none given")
            coded = index(Listed.by_code, code)


@pytest.mark.parametrize("name", ["version", "made", "written"])
def test_what_the_library_counts_cannot_be_given(name: str) -> None:
    values: dict[str, Any] = {"name": "x", name: 1}
    with pytest.raises(InvalidValue, match=rf"Managed\.{name} is set by the library; leave it out"):
        Managed(**values)


def test_an_entity_that_is_new_has_version_0_and_stamps_of_now() -> None:
    before = datetime.now(UTC)
    made = Managed(name="x")
    assert made.version == 0
    assert before <= made.made <= made.written <= datetime.now(UTC)
    assert made.made.tzinfo is UTC


def test_an_entity_without_a_table_is_abstract() -> None:
    with pytest.raises(TypeError, match="Named is abstract; give it a table"):
        Named(name="x")


def test_an_entity_has_the_attributes_of_the_abstract_one_it_builds_on(db: Database) -> None:
    db.run(create(Dog(name="rex")))
    assert db.run(Dog.primary(1)) == Dog(name="rex")
    with pytest.raises(InvalidValue, match=r"Dog\.name has no value"):
        Dog()  # type: ignore[call-arg]
