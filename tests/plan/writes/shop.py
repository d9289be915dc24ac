"""A shop: an order with everything, and a plain entity with parts."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    history,
    index,
    key,
    unique,
    updated_at,
    version,
)


class Shop(Table, name="shop"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_rank = GSI("GSI2PK", "GSI2SK", project=("note",))


class Line(BaseModel):
    text: str
    count: int = 1


class StateChange(Entity, table=Shop):
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    by: Attr[str | None] = attr(default=None)
    primary = key("EVENTS" / order_id, "EVENT" / number)


class Order(Entity, table=Shop):
    """With everything that a write must keep consistent, and with items below it."""

    order_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    note: Attr[str | None] = attr(default=None)
    place: Attr[str | None] = attr(default="home")
    tags: Attr[set[str]] = attr(default_factory=set)
    names: Attr[list[str]] = attr(default_factory=list)
    lines: Attr[dict[str, Line]] = attr(default_factory=dict)
    rank: Attr[int | None] = attr(pad=3, default=None)
    coupon: Attr[str | None] = attr(default=None)
    channel: Attr[str] = attr(default="web", immutable=True)
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("ORDER" / order_id, "ORDER")
    of_state = index(Shop.by_state, "STATE" / state, "ORDER" / order_id)
    by_rank = index(Shop.by_rank, "RANKS", "RANK" / rank)
    by_coupon = unique("COUPON" / coupon)
    states = history(
        state,
        StateChange,
        old=StateChange.old,
        new=StateChange.new,
        version=StateChange.number,
        by=StateChange.by,
    )


class OrderItem(Entity, table=Shop):
    order_id: Attr[str] = attr()
    item: Attr[str] = attr()
    primary = key("ORDER" / order_id, "ORDER#ITEM" / item)


class Plain(Entity, table=Shop):
    """Without a version, and without values that can change in place."""

    group: Attr[str] = attr()
    name: Attr[str] = attr()
    size: Attr[int] = attr(pad=3, default=0)
    note: Attr[str | None] = attr(default=None)
    primary = key("GROUP" / group, "PLAIN" / name)
    of_size = index(Shop.by_state, "PLAINS" / group, "SIZE" / size)


class Part(Entity, table=Shop):
    group: Attr[str] = attr()
    name: Attr[str] = attr()
    part: Attr[str] = attr()
    marks: Attr[list[str]] = attr(default_factory=list)
    primary = key("GROUP" / group, "PLAIN" / name / "PART" / part)
