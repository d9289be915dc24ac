"""The effect of a write is known before it is sent: items, index rows, sentinels and events.

Each write is prepared, and its effects are applied to a copy of the table and its indexes. Then it
is run, and the copy is compared with what is stored.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tablewright import (
    Engine,
    Table,
    connect,
    create,
    delete,
    put,
    update,
)
from tablewright.database import Database
from tablewright.model.databases.provision import definition
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.writes.effect import WriteEffect
from tablewright.plan.writes.write import Write
from tablewright.values import Item
from tests.plan.writes.shop import Order, OrderItem, Shop

NOW = datetime(2026, 1, 1, tzinfo=UTC)

#: The rows of the table (None) and of each index, by their key in the table.
Rows = dict[tuple[str | None, str, str], Item]


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Shop,)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Shop)
    db._context = msgspec.structs.replace(db._context, clock=lambda: NOW)
    order = Order(order_id="a", rank=5, coupon="a@x")
    db.run(create(order))
    db.run(create(OrderItem(order_id="a", item="one")))
    return db


class Effects(Plan[tuple[WriteEffect, ...]]):
    """The effects of a write that is not sent."""

    def __init__(self, write: Write[Any]) -> None:
        self._write = write

    def _steps(self, context: Context) -> Steps[tuple[WriteEffect, ...]]:
        prepared = yield from self._write._prepare(context, 0, alone=True)
        return prepared.effects


def stored(engine: Engine) -> Rows:
    rows: Rows = {}
    for name in (None, "by_state", "by_rank"):
        request = {"TableName": "shop"} | ({} if name is None else {"IndexName": name})
        for item in engine.call("Scan", request)["Items"]:
            rows[name, item["PK"]["S"], item["SK"]["S"]] = item
    return rows


def change(rows: Rows, name: str | None, old: Item | None, new: Item | None) -> None:
    if old is not None:
        assert rows.pop((name, old["PK"]["S"], old["SK"]["S"])) == old
    if new is not None:
        assert (name, new["PK"]["S"], new["SK"]["S"]) not in rows
        rows[name, new["PK"]["S"], new["SK"]["S"]] = new


def existing(db: Database) -> Order:
    order = db.run(Order.primary("a"))
    assert order is not None
    return order


def replaced(db: Database) -> Write[Any]:
    order = existing(db)
    order.state, order.coupon, order.rank = "sold", "b@x", None
    return put(order).audit(by="me")


WRITES: dict[str, Any] = {
    "create": lambda db: create(Order(order_id="b", rank=1, coupon="c@x")),
    "create of an entity in no sparse index": lambda db: create(Order(order_id="b")),
    "put of a new entity": lambda db: put(OrderItem(order_id="c", item="one")),
    "put": replaced,
    "update of an index key": lambda db: update(existing(db), Order.rank.increment(2)),
    "update by key": lambda db: Order.primary("a").update(Order.rank.increment(2)),
    "update that leaves an index and releases a unique value": lambda db: update(
        existing(db), Order.rank.set(None), Order.coupon.set(None)
    ),
    "update of a unique value": lambda db: Order.primary("a").update(Order.coupon.set("b@x")),
    "update with an event": lambda db: (
        Order.primary("a").update(Order.state.set("sold"), Order.note.set("u")).audit(by="me")
    ),
    "update without a change": lambda db: Order.primary("a").update(Order.state.set("new")),
    "move with a row below": lambda db: Order.primary("a").update(
        Order.order_id.set("z"), Order.state.set("sold")
    ),
    "delete": lambda db: delete(existing(db)),
    "delete of a missing item": lambda db: Order.primary("x").delete(),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_effects_of_a_write_are_what_it_changes(
    db: Database, engine: Engine, name: str
) -> None:
    write = WRITES[name](db)
    rows = stored(engine)
    for effect in db.run(Effects(write)):
        change(rows, None, effect.old, effect.new)
        table = definition(effect.entity.table, effect.entity.table.name)
        for declared in table.indexes:
            old, new = (table.index_row(declared, item) for item in (effect.old, effect.new))
            if old != new:
                change(rows, declared.name, old, new)
        for side in effect.side_items:
            change(rows, None, side.old, side.new)
    before = stored(engine)
    db.run(write)
    assert stored(engine) == rows
    assert (rows == before) is (name == "delete of a missing item")


def test_the_effect_of_an_update_that_reads_nothing_has_only_the_keys(
    db: Database,
) -> None:
    order = Order.primary("a")
    (effect,) = db.run(Effects(order.update(Order.rank.set(7))))
    assert effect.old is None
    assert effect.new == {**order._key, "GSI2PK": {"S": "RANKS"}, "GSI2SK": {"S": "RANK#007"}}
