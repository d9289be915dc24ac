"""Check that a declaration is refused; read what a table stores.

Invariant: `Shop` has no entities. Refused entities leave their table as it was
(`test_key_collisions.py`), so all tests of refusals share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import pytest

from tablewright import GSI, LSI, Attr, Entity, Table, attr, key
from tablewright.errors import DeclarationError


class Shop(Table, name="shop"):
    listed = GSI("GSI1PK", "GSI1SK")
    reverse = GSI("SK", "PK")
    by_customer = GSI("GSI2PK", "PK")
    flat = GSI("GSI3PK")
    by_name = LSI("NAME")


class Keyed(Entity):
    """Abstract: what an entity needs besides the line that is refused."""

    order: Attr[str] = attr()
    primary = key("ORDER" / order, "ORDER")


class Parts(Entity):
    """Abstract: attributes for the keys that a test declares."""

    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    number: Attr[int] = attr()
    line: Attr[int] = attr(pad=3)
    note: Attr[str | None] = attr()
    at: Attr[datetime] = attr()
    on: Attr[date] = attr()


class Ordered(Parts):
    """Abstract: an order in the partition of its customer."""

    primary = key("CUST" / Parts.customer, "ORDER" / Parts.order)


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
