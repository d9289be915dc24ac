"""What a change costs, compared with the units that the engine reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright import Engine, connect, create
from tablewright.cost import load_prices
from tablewright.database import Database
from tablewright.design_changes import differences
from tablewright.evolve import ChangeCost, Workload
from tablewright.evolve.estimate import TableLoad, estimate
from tablewright.plan.plan import Context
from tablewright.plans import backfill
from tablewright.transport import Response
from tablewright.transport.targets import open_target
from tests.evolve.designs import ANOTHER_KEY, SECOND_INDEX, UNIQUE, described, design, load_text

ITEMS = 30


def costs(old: str, new: str, folder: Path, load: TableLoad) -> dict[str, ChangeCost]:
    """What each change costs, by its kind."""
    before, after = described(old, folder), described(new, folder)
    workload = Workload(load_prices(), 100, {"shop": load})
    return {
        each.kind.name: estimate(each, before, after, workload)
        for each in differences(before, after)
    }


@pytest.mark.parametrize(
    ("changes", "kind", "reads", "writes"),
    [
        ({"    email": '    note: Attr[str] = attr(default="")\n    email'}, None, 0, 0),
        ({"    email": "    note: Attr[str] = attr()\n    email"}, "required-", 250, 2000),
        (ANOTHER_KEY, "index-key-changed", 250, 3000),
        (SECOND_INDEX, "place-added", 250, 3000),
        (SECOND_INDEX, "index-added", 0, 0),
        (UNIQUE, "unique-added", 1250, 4000),
        ({'key("ORDER" /': 'key("BUY" /'}, "primary-key-changed", 250, 6000),
        ({"    gsi1": '    by_email = GSI("email")\n    gsi1'}, "index-added", 0, 1000),
    ],
)
def test_a_change_of_a_thousand_items_of_one_kb(
    changes: dict[str, str], kind: str | None, reads: int, writes: int, tmp_path: Path
) -> None:
    found = costs(design(), design(changes), tmp_path, TableLoad(1000))
    if kind is None:
        assert not any(found.values())
        return
    (cost,) = (each for name, each in found.items() if name.startswith(kind))
    assert (cost.read_units, cost.write_units) == (reads, writes)
    assert cost.seconds == writes / 100
    assert cost.money == pytest.approx((reads * 0.125 + writes * 0.625) / 1e6)


def test_large_items_cost_more_units(tmp_path: Path) -> None:
    found = costs(design(), design(ANOTHER_KEY), tmp_path, TableLoad(1000, 2500))
    (cost,) = found.values()
    assert (cost.read_units, cost.write_units) == (611, 9000)


@pytest.mark.parametrize("changes", [ANOTHER_KEY, SECOND_INDEX])
def test_a_backfill_writes_the_estimated_units(changes: dict[str, str], tmp_path: Path) -> None:
    (old,) = load_text(design(), tmp_path, "old").tables
    (new,) = load_text(design(changes), tmp_path, "new").tables
    with Engine(tmp_path / "shop.db") as engine:
        with connect(engine, old, update=True) as db:
            order: Any = old.__table__.entities[0].type
            for number in range(ITEMS):
                db.run(create(order(order_id=f"{number}", email=f"{number}@b.c")))
        if changes is SECOND_INDEX:
            connect(engine, new, update=True).close()
        metered = Metered(open_target(engine))
        context = Context({new.__table__: "shop"}, b"")
        Database(metered, context, (new,)).run(backfill(new))
    found = costs(design(), design(changes), tmp_path, TableLoad(ITEMS))
    assert metered.written == sum(each.write_units for each in found.values())


class Metered:
    """A transport that counts the write units of items, without those of the index record."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.written = 0.0

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        response: Response = self._transport.send(
            operation, {**request, "ReturnConsumedCapacity": "TOTAL"}
        )
        if operation == "UpdateItem" and "$tablewright" not in str(request["Key"]):
            consumed = msgspec.json.decode(response.body)["ConsumedCapacity"]
            self.written += consumed["CapacityUnits"]
        return response

    def close(self) -> None:
        self._transport.close()
