"""The generated key writer of an entity composes what its keys compose one by one."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import GSI, Attr, Entity, Table, attr, index, key
from tablewright.errors import InvalidValue
from tablewright.formats import day, lower
from tablewright.values import Item


class State(StrEnum):
    OPEN = "open"
    PAID = "paid"


class Shop(Table, name="shop"):
    one = GSI("GSI1PK", "GSI1SK")
    two = GSI("GSI2PK", "GSI2SK")
    three = GSI("GSI3PK", "GSI3SK")
    four = GSI("GSI4PK", "GSI4SK")
    five = GSI("maker", "GSI5SK")


class Order(Entity, table=Shop):
    customer: Attr[int] = attr(pad=3)
    placed: Attr[datetime] = attr()
    state: Attr[State] = attr()
    name: Attr[str | None] = attr(default=None)
    maker: Attr[str | None] = attr(default=None)
    primary = key("100%" / customer, "AT" / placed)
    by_name = index(Shop.one, "NAME" / name, "AT" / placed)
    by_day = index(Shop.two, "DAY" / day(placed), "NAME" / lower(name))
    of_name = index(Shop.three, "NAME" / name, "NAME" / name.again, when=state == State.OPEN)
    open = index(Shop.four, "OPEN" / customer, "AT" / placed, when=state == State.OPEN)
    paid = index(Shop.four, "PAID" / customer, "NAME" / name, when=state == State.PAID)
    by_maker = index(Shop.five, maker, "AT" / placed / customer)


def one_by_one(values: dict[str, Any]) -> Item:
    entity = Order.__entity__
    composed: Item = dict(entity.primary.compose(values) or {})
    for each in entity.index_keys:
        composed |= each.compose(values) or {}
    return composed


TEXTS = st.none() | st.text("aB#$!%", min_size=1, max_size=3)


@given(
    customer=st.integers(0, 999),
    placed=st.datetimes(timezones=st.just(UTC)),
    state=st.sampled_from(State),
    name=TEXTS,
    maker=TEXTS,
)
def test_all_keys_are_composed(**values: Any) -> None:
    item = Order.__entity__.encode(values)
    expected = one_by_one(values)
    assert {name: item.get(name) for name in expected} == expected
    assert {name for name in item if name.startswith(("PK", "SK", "GSI"))} == expected.keys()


def test_a_primary_key_needs_every_part() -> None:
    values = {"customer": None, "placed": datetime(2026, 1, 1, tzinfo=UTC), "state": State.OPEN}
    with pytest.raises(InvalidValue, match=r"Order\.primary: customer is None"):
        Order.__entity__.encode({**values, "name": None, "maker": None})
