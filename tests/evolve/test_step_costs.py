"""What a plan says that its steps cost is what the engine charges for them."""

from __future__ import annotations

import json
from typing import Any

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    index,
    key,
    migrations,
    put,
    unique,
)
from tablewright.cost import load_prices
from tablewright.evolve.estimate import TableLoad, Workload, estimate_step
from tablewright.migrations import MigrationProgress
from tablewright.transport.targets import Local
from tablewright.transport.transport import Response

ITEMS = 120
#: What steps send for items; the record is read and written with GetItem and UpdateItem.
METERED = {"BatchGetItem", "Scan", "TransactWriteItems"}


class OldShop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi3 = GSI("GSI3PK", "GSI3SK")


class OldOrder(Entity, table=OldShop, type_name="Order"):
    order_id: Attr[str] = attr()
    state: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("ORDER" / order_id, "ORDER")
    by_state = index(OldShop.gsi1, "STATE" / state, number)
    by_number = index(OldShop.gsi3, "NUMBER" / number, order_id)


class Shop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")
    gsi3 = GSI("GSI3PK", "GSI3SK")


class Order(Entity, table=Shop):
    order_id: Attr[str] = attr()
    status: Attr[str] = attr(renamed_from="state")
    email: Attr[str] = attr(fill=lambda item: f"{item['order_id']}@example.com")
    number: Attr[int] = attr(pad=3)
    primary = key("ORDER" / order_id, "ORDER")
    by_status = index(Shop.gsi1, "STATUS" / status, number)
    by_email = index(Shop.gsi2, "EMAIL" / email, number)
    by_number = index(Shop.gsi3, "NUMBER" / number, order_id)
    unique_email = unique("EMAIL" / email)


class Meter:
    """A transport that adds up the units of each step, without those of the record."""

    def __init__(self, engine: Engine) -> None:
        self._inner = Local(engine)
        self.step = ""
        self.reads: dict[str, float] = {}
        self.writes: dict[str, float] = {}

    def begin(self, progress: MigrationProgress) -> None:
        self.step = progress.step.name

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation not in METERED:
            return self._inner.send(operation, request)
        request = {**request, "ReturnConsumedCapacity": "INDEXES"}
        response = self._inner.send(operation, request)
        found = json.loads(response.body)["ConsumedCapacity"]
        units = sum(
            each["CapacityUnits"] for each in (found if isinstance(found, list) else [found])
        )
        used = self.writes if operation == "TransactWriteItems" else self.reads
        used[self.step] = used.get(self.step, 0) + units
        return response

    def close(self) -> None:
        self._inner.close()


def test_the_steps_cost_what_the_plan_says() -> None:
    with Engine(":memory:") as engine:
        db = connect(engine, OldShop)
        for number in range(ITEMS):
            db.run(put(OldOrder(order_id=f"O{number}", state="open", number=number)))
        migrations.baseline(db, OldShop)
        (plan,) = migrations.plan(db, Shop)
        meter = Meter(engine)
        metered: Any = db.through(meter)
        migrations.apply(metered, Shop, progress=meter.begin)
    load = TableLoad(ITEMS, plan.size / (plan.items or 1))
    work = Workload(load_prices(), tables={"shop": load})
    costs = {
        step.name: estimate_step(step, plan.changes, plan.old, plan.new, work, "shop")
        for step in plan.steps
    }
    checks = 4 * 2 * 4  # at most four transactions, each with a check of a record of up to 4 KB
    for name in ("check", "rewrite", "verify"):
        # A page is rounded up, and there are more items and sentinels while it runs.
        assert costs[name].read_units <= meter.reads[name] <= costs[name].read_units * 1.2 + 10
    assert set(meter.writes) == {"rewrite"}
    written = costs["rewrite"].write_units
    assert written == ITEMS * 2 * (1 + 2 + 1 + 1 + 2)
    assert written <= meter.writes["rewrite"] <= written + checks
