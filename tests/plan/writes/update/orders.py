"""Orders, jobs and tasks to update, and what the engine stores of them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from tablewright import (
    GSI,
    LSI,
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
from tablewright.formats import day, descending, lower


class Status(StrEnum):
    NEW = "NEW"
    PAID = "PAID"
    SENT = "SENT"


class Orders(Table, name="orders"):
    by_rank = LSI("LSI1SK")
    by_status = GSI("GSI1PK", "GSI1SK")
    by_city = GSI("GSI2PK", "GSI2SK")
    open_orders = GSI("GSI3PK", "GSI3SK")


class Order(Entity, table=Orders):
    customer: Attr[str] = attr(name="customerId")
    number: Attr[int] = attr(pad=4)
    at: Attr[datetime] = attr()
    status: Attr[Status] = attr(default=Status.NEW)
    city: Attr[str | None] = attr(default=None)
    street: Attr[str | None] = attr(default=None)
    rank: Attr[int | None] = attr(pad=3, default=None)
    total: Attr[Decimal] = attr(default=Decimal(0))
    note: Attr[str | None] = attr(default=None)
    tags: Attr[set[str]] = attr(default_factory=set)
    lines: Attr[list[str]] = attr(default_factory=list)

    primary = key("CUST" / customer, "ORDER" / number)
    ranked = primary.local(Orders.by_rank, "RANK" / descending(rank) / number)
    of_status = index(Orders.by_status, "STATUS" / status, "DAY" / day(at) / number)
    of_city = index(
        Orders.by_city,
        "CITY" / lower(city),
        "STREET" / street / status / number,
    )
    open = index(
        Orders.open_orders,
        "OPEN" / customer,
        "AT" / at,
        when=(status != Status.SENT) & (total > Decimal(10)),
    )


class Job(Entity, table=Orders):
    """Versioned, with attributes that have defaults."""

    job_id: Attr[str] = attr()
    queue: Attr[str] = attr(default="low")
    priority: Attr[int] = attr(pad=3, default=1)
    note: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()

    primary = key("JOB" / job_id, "JOB")
    queued = index(Orders.by_status, "QUEUE" / queue, "PRIO" / priority / job_id)


class Task(Entity, table=Orders):
    """Not versioned, with attributes that have defaults, and stamps."""

    task_id: Attr[str] = attr()
    queue: Attr[str] = attr(default="low")
    priority: Attr[int] = attr(pad=3, default=1)
    labels: Attr[set[str]] = attr(default_factory=set)
    steps: Attr[list[str]] = attr(default_factory=list)
    weight: Attr[Annotated[int, Field(ge=0)]] = attr(default=0)
    begins: Attr[datetime | None] = attr(default=None)
    made: Attr[datetime] = created_at()
    changed: Attr[datetime] = updated_at()
    ends: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("TASK" / task_id, "TASK")
    queued = index(Orders.by_status, "TASKS" / queue, "PRIO" / priority / task_id)
    recent = index(Orders.by_city, "RECENT", "AT" / changed)
    hot = index(Orders.open_orders, "HOT", "TASK" / task_id, when=labels.contains("hot"))


AT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)


def item(engine: Engine, key: str = "CUST#C1") -> dict[str, Any]:
    (found,) = (
        item
        for item in engine.call("Scan", {"TableName": "orders"})["Items"]
        if item["PK"]["S"] == key
    )
    return dict(found)


def index_keys(engine: Engine, key: str = "CUST#C1") -> dict[str, str]:
    """The key attributes of all indexes that the item is in."""
    return {
        name: value["S"] for name, value in item(engine, key).items() if name[:3] in ("GSI", "LSI")
    }
