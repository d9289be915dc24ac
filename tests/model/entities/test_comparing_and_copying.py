"""Entities are compared, shown and copied by their values."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC
from decimal import Decimal

import pytest

from tablewright import put
from tablewright.database import Database
from tablewright.ids import ULID
from tests.model.entities.catalog import AWARE, FULL, Dog, Everything, Managed, order


def test_entities_are_equal_by_their_values() -> None:
    one = ULID.new()
    assert order(order_id=one) == order(order_id=one)
    assert order(order_id=one) != order(order_id=one, note="x")
    assert order(order_id=one) != {"customer": "ann"}
    assert Dog(name="x") != Managed(name="x")
    assert order(placed=AWARE, order_id=one) == order(placed=AWARE.astimezone(UTC), order_id=one)


def test_an_entity_shows_its_values() -> None:
    shown = repr(order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", total=Decimal("1.5")))
    assert shown == (
        "Order(customer='ann', order_id='01ARZ3NDEKTSV4RRFFQ69G5FAV', email='ann@example.com', "
        "total=Decimal('1.5'), placed=None, note=None)"
    )


def test_entities_change_and_so_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(order())
    with pytest.raises(TypeError, match="unhashable"):
        {order()}


def test_a_copy_is_equal_and_shares_what_is_inside() -> None:
    full = Everything(**FULL)
    copied = copy.copy(full)
    assert copied == full
    assert copied is not full
    assert copied.prices is full.prices
    copied.text = "changed"
    assert full.text == ""


def test_a_deep_copy_is_equal_and_shares_nothing() -> None:
    full = Everything(**FULL)
    copied = copy.deepcopy(full)
    assert copied == full
    copied.prices.append(Decimal(9))
    assert copied.place is not None
    copied.place.street = "Side"
    assert full == Everything(**FULL)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_entity_is_equal(protocol: int) -> None:
    full = Everything(**FULL)
    assert pickle.loads(pickle.dumps(full, protocol)) == full


def test_an_entity_that_was_read_can_be_copied_and_pickled(db: Database) -> None:
    db.run(put(Everything(**FULL)))
    found = db.run(Everything.primary("x"))
    assert found is not None
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found == Everything(**FULL)
