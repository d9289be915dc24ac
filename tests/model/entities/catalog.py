"""A table with entities of every attribute type."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    created_at,
    index,
    key,
    ttl,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.ids import KSUID, ULID
from tablewright.transport.targets import Local


class Status(Enum):
    OPEN = "open"
    DONE = "done"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Shade(StrEnum):
    DARK = "dark"
    LIGHT = "light"


class City(BaseModel):
    name: str
    code: str | None = None


class Place(BaseModel):
    street: str
    number: int = Field(default=1, ge=0)
    city: City


@dataclass
class Line:
    sku: str
    price: Decimal
    tags: list[str] = field(default_factory=list)


class Catalog(Table, name="catalog"):
    by_key = GSI("KPK", "KSK")


class Everything(Entity, table=Catalog):
    """One attribute of every type."""

    name: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    whole: Attr[int] = attr(default=0)
    exact: Attr[Decimal] = attr(default=Decimal(0))
    real: Attr[float] = attr(default=0.0)
    flag: Attr[bool] = attr(default=False)
    raw: Attr[bytes] = attr(default=b"")
    moment: Attr[datetime] = attr(default=datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC))
    day: Attr[date] = attr(default=date(2026, 1, 15))
    span: Attr[timedelta] = attr(default=timedelta(0))
    uid: Attr[UUID] = attr(default=UUID(int=1))
    status: Attr[Status] = attr(default=Status.OPEN)
    level: Attr[Level] = attr(default=Level.LOW)
    shade: Attr[Shade] = attr(default=Shade.DARK)
    choice: Attr[Literal["yes", "no"]] = attr(default="yes")
    words: Attr[set[str]] = attr(default_factory=set)
    counts: Attr[frozenset[int]] = attr(default_factory=frozenset)
    blobs: Attr[set[bytes]] = attr(default_factory=set)
    prices: Attr[list[Decimal]] = attr(default_factory=list)
    moments: Attr[list[datetime]] = attr(default_factory=list)
    grid: Attr[list[list[int]]] = attr(default_factory=list)
    scores: Attr[dict[str, int]] = attr(default_factory=dict)
    by_uid: Attr[dict[UUID, str]] = attr(default_factory=dict)
    place: Attr[Place | None] = attr(default=None)
    lines: Attr[list[Line]] = attr(default_factory=list)
    line: Attr[Line | None] = attr(default=None)
    places: Attr[dict[str, Place]] = attr(default_factory=dict)
    ksuid: Attr[KSUID | None] = attr(default=None)
    ulid: Attr[ULID | None] = attr(default=None)
    maybe_text: Attr[str | None] = attr(default=None)
    maybe_whole: Attr[int | None] = attr(default=None)
    maybe_moment: Attr[datetime | None] = attr(default=None)
    maybe_words: Attr[set[str] | None] = attr(default=None)
    maybe_list: Attr[list[int] | None] = attr(default=None)
    gone: Attr[datetime | None] = ttl(default=None)

    primary = key("EVERY" / name, "EVERY")


class Order(Entity, table=Catalog):
    """An order of a customer."""

    customer: Attr[str] = attr(name="customerName", doc="Who ordered")
    order_id: Attr[ULID] = attr(default_factory=ULID.new)
    email: Attr[str] = attr()
    total: Attr[Decimal] = attr(default=Decimal(0))
    placed: Attr[datetime | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    primary = key("CUST" / customer, "ORDER" / order_id)


class Event(Entity, table=Catalog):
    stream: Attr[str] = attr()
    event_id: Attr[KSUID] = attr(default_factory=KSUID.new)
    primary = key("STREAM" / stream, "EVENT" / event_id)
    by_key = index(Catalog.by_key, "EVENTS", event_id)


class Managed(Entity, table=Catalog):
    name: Attr[str] = attr()
    size: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    made: Attr[datetime] = created_at()
    written: Attr[datetime] = updated_at()
    primary = key("MANAGED" / name, "MANAGED")


class Blob(Entity, table=Catalog):
    name: Attr[str] = attr()
    content: Attr[bytes] = attr(default=b"")
    primary = key("BLOB" / name, "BLOB")


class Named(Entity):
    """Abstract: for others to build on."""

    name: Attr[str] = attr()


class Dog(Named, table=Catalog):
    tag: Attr[int] = attr(default=1)
    primary = key("DOG" / tag, "DOG")


def engine_of(db: Database) -> Engine:
    assert isinstance(db._transport, Local)
    return db._transport.engine


def order(**more: Any) -> Order:
    return Order(**{"customer": "ann", "email": "ann@example.com"} | more)


AWARE = datetime(2026, 1, 15, 12, 0, tzinfo=timezone(timedelta(hours=2)))


FULL: dict[str, Any] = {
    "name": "x",
    "words": {"a", "b"},
    "prices": [Decimal("1.5")],
    "place": Place(street="Main", city=City(name="Rome")),
    "lines": [Line("sku", Decimal(2), ["t"])],
    "scores": {"a": 1},
    "maybe_moment": AWARE,
}


class Basket(BaseModel):
    owner: str
    first: Order
    others: list[Order] = []
    by_name: dict[str, Order] = {}
    last: Order | None = None
