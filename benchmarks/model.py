"""Compare the model with the engine alone: the cost of the model for each request.

The entity is the sample order with three GSIs. The engine gets the same requests that the plans
send, and decodes the responses to Python values.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from statistics import median

from benchmarks import items
from benchmarks.measure import Context, Figure, below, best, judged, take_turns
from benchmarks.reads import draw
from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    index,
    key,
    put,
)
from tablewright.database import Database
from tablewright.formats import day

ROUNDS = 30


class Orders(Table, name="orders", type_attribute="entityType"):
    by_product = GSI("GSI1PK", "GSI1SK")
    by_status = GSI("GSI2PK", "GSI2SK")
    by_day = GSI("GSI3PK", "GSI3SK")


@dataclass
class Address:
    street: str
    city: str
    zip: str


class Order(Entity, table=Orders):
    customer: Attr[int] = attr(pad=7)
    number: Attr[int] = attr(pad=8)
    placed: Attr[datetime] = attr()
    product: Attr[str] = attr()
    status: Attr[str] = attr()
    amount: Attr[Decimal] = attr()
    gift: Attr[bool] = attr()
    tags: Attr[set[str]] = attr()
    address: Attr[Address] = attr()
    note: Attr[str] = attr()

    primary = key("CUSTOMER" / customer, "ORDER" / placed / number)
    by_product = index(Orders.by_product, "PRODUCT" / product, "ORDER" / placed / number)
    by_status = index(Orders.by_status, "STATUS" / status, "ORDER" / placed / number)
    by_day = index(Orders.by_day, "DAY" / day(placed), "ORDER" / placed / number)


@access_pattern
def orders_of_a_customer(customer: int, since: datetime) -> Query[Order]:
    """A customer's orders since a time, newest first."""
    return Order.primary.within(customer).gte(since).desc().page_size(20)


def order(n: int, count: int) -> Order:
    """Return sample item `n` as an entity."""
    sample = items.item(n, count)
    return Order(
        customer=n // items.PARTITION,
        number=n,
        placed=placed(n),
        product=sample["GSI1PK"]["S"],
        status=items.STATES[n % 5],
        amount=Decimal(sample["amount"]["N"]),
        gift=sample["gift"]["BOOL"],
        tags=set(sample["tags"]["SS"]),
        address=Address(street=f"{n % 300} Harbour Road", city="Hamburg", zip="20457"),
        note=sample["note"]["S"],
    )


def placed(n: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n * 977)


def model(context: Context) -> list[Figure]:
    """Measure reads, writes, plans and definitions."""
    return [*_reads(context), _create(context), _plan(context), _definitions(context)]


def _reads(context: Context) -> Iterator[Figure]:
    count = context.size(2000, 600)
    with _filled(context, count) as database:
        engine = database._transport.engine  # type: ignore[attr-defined]
        ns = draw(context.size(6000, 600), count)
        gets = [Order.primary(n // items.PARTITION, placed(n), n) for n in ns]
        ours, theirs = take_turns(
            context,
            "get",
            (database.run, gets),
            (
                partial(engine.call, "GetItem"),
                [{"TableName": "orders", "Key": plan._key} for plan in gets],
            ),
            rounds=ROUNDS,
        )
        yield judged(
            "db.run(get)", "µs", ours, limit=theirs, limit_is="Engine GetItem", at_most=1.5
        )
        pages = [Order.primary.within(n // items.PARTITION) for n in ns[: context.size(1800, 90)]]
        requests = [plan._request(database._context)[0].body for plan in pages]
        assert len(database.run(pages[0])) == items.PARTITION
        ours, theirs = take_turns(
            context,
            "page",
            (database.run, pages),
            (partial(engine.call, "Query"), requests),
            rounds=ROUNDS,
        )
        yield judged(
            "db.run(page of 20)", "µs", ours, limit=theirs, limit_is="Engine Query", at_most=1.7
        )


def _create(context: Context) -> Figure:
    count, calls = context.size(2000, 300), context.size(1200, 160)
    with _filled(context, count) as database:
        engine = database._transport.engine  # type: ignore[attr-defined]
        # Alternate numbers: otherwise one side would append to the indexes, which costs SQLite
        # less, and the other would insert before that.
        creates = [create(order(n, count)) for n in range(count, count + 2 * calls, 2)]
        puts = [
            {
                "TableName": "orders",
                "Item": Order.__entity__.encode(vars(order(n, count))),
                "ConditionExpression": "attribute_not_exists(#0)",
                "ExpressionAttributeNames": {"#0": "PK"},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
            for n in range(count + 1, count + 2 * calls, 2)
        ]
        ours, theirs = take_turns(
            context,
            "create",
            (database.run, creates),
            (partial(engine.call, "PutItem"), puts),
            rounds=ROUNDS,
        )
    return judged(
        "db.run(create), 3 GSIs", "µs", ours, limit=theirs, limit_is="Engine PutItem", at_most=1.4
    )


def _plan(context: Context) -> Figure:
    moment = placed(7)
    calls = context.size(20_000, 500)
    took = best(
        context, "plan", lambda n: orders_of_a_customer(n, moment), [n % 500 for n in range(calls)]
    )
    return below("a plan from a pattern", "µs", took, goal=5)


DEFINITIONS = """
from datetime import datetime
from time import process_time
from tablewright import *
start = process_time()
class Wide(Table, name="wide"):
    one = GSI("GSI1PK", "GSI1SK")
    two = GSI("GSI2PK", "GSI2SK")
for n in range(50):
    class Thing(Entity, table=Wide, type_name=f"Thing{n}"):
        owner: Attr[str] = attr()
        thing_id: Attr[str] = attr()
        kind: Attr[str] = attr()
        made: Attr[datetime] = attr()
        size: Attr[int] = attr(pad=6)
        note: Attr[str | None] = attr(default=None)
        primary = key(f"OWNER{n}" / owner, "THING" / thing_id)
        by_kind = index(Wide.one, f"KIND{n}" / kind, "AT" / made)
        by_size = index(Wide.two, f"KIND{n}" / kind, "SIZE" / size)
    @access_pattern
    def get(owner: str, thing_id: str) -> Get[Thing]:
        return Thing.primary(owner, thing_id)
    @access_pattern
    def recent(kind: str, since: datetime) -> Query[Thing]:
        return Thing.by_kind(kind).gte(since).desc()
    @access_pattern
    def largest(kind: str) -> Query[Thing]:
        return Thing.by_size(kind).desc().page_size(10)
    @access_pattern
    def rename(owner: str, thing_id: str, kind: str) -> Update[Thing]:
        return Thing.primary(owner, thing_id).update(Thing.kind.set(kind))
print(process_time() - start)
"""


def _definitions(context: Context) -> Figure:
    took = [
        float(subprocess.check_output((sys.executable, "-c", DEFINITIONS)))
        for _ in context.track("definitions", range(context.size(3, 1)))
    ]
    return below(
        "50 entities, 200 patterns", "s", median(took), goal=0.5, note="imports not counted"
    )


@contextmanager
def _filled(context: Context, count: int) -> Iterator[Database]:
    path = context.folder / f"model-{count}.db"
    with Engine(path, durability="normal") as engine:
        database = connect(engine, Orders)
        for n in context.track("fill", range(count)):
            database.run(put(order(n, count)))
        yield database
