"""How fast a migration writes: units in a second, or a share of the write capacity."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Provisioned,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
)
from tablewright.errors import InvalidValue
from tablewright.plan.migration.revision import Executor, Lease
from tablewright.plan.migration.rewriting import ItemRewrite
from tablewright.plan.migration.sweep import RateLimit
from tablewright.plan.migration.write_rate import WriteRate, read_rate
from tablewright.plan.plan import Request, Wait
from tablewright.table_description import TableDescription
from tablewright.transport.tables import describe_table
from tablewright.values import Item
from tests.plan.migration.migrating import PAIRS, drive, items, migration, stored


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (500, WriteRate(500.0)),
        (0.5, WriteRate(0.5)),
        ("500", WriteRate(500.0)),
        ("25%", WriteRate(share=0.25)),
        (" 12.5 % ", WriteRate(share=0.125)),
        ("100%", WriteRate(share=1.0)),
        ("0.1%", WriteRate(share=0.001)),
    ],
)
def test_a_rate_is_a_number_of_units_or_a_share(given: float | str, expected: WriteRate) -> None:
    assert read_rate(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        *("0%", "150%", "abc", "-5", "0", "", "%", "-5%", "25%%", "25 percent", "nan", "inf"),
        *(0, -5, math.nan, math.inf, True),
    ],
)
def test_anything_else_is_refused_with_the_accepted_forms(given: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        read_rate(given)
    assert str(refused.value).startswith(f"{given!r} is not a rate: give write units per second")
    assert "such as 500" in str(refused.value)
    assert "at most 100%, such as 25%" in str(refused.value)


# -- a share -------------------------------------------------------------------------------------


class Desk(Table, name="desk_rates", billing=Provisioned(read=10, write=40)):
    by_state = GSI("GSI1PK", "GSI1SK", billing=Provisioned(read=10, write=8))
    by_note = GSI("GSI2PK", "GSI2SK", project=("note",), billing=Provisioned(read=10, write=80))


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    state: Attr[str | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    text: Attr[str] = attr(default="")
    primary = key("TICKET" / ticket_id, "TICKET")
    by_state = index(Desk.by_state, "STATE" / state, "TICKET" / ticket_id)
    by_note = index(Desk.by_note, "NOTE" / note, "TICKET" / ticket_id)


def describe(engine: Engine, name: str = "desk_rates") -> TableDescription:
    steps = describe_table(name)
    request = next(steps)
    assert isinstance(request, Request)
    with pytest.raises(StopIteration) as done:
        steps.send(answer_of(engine, request))
    found = done.value.value
    assert isinstance(found, TableDescription)
    return found


def answer_of(engine: Engine, request: Request) -> bytes:
    return msgspec.json.encode(engine.call(request.operation, request.body))


def item_of(ticket: Ticket) -> Item:
    return Ticket.__entity__.encode(vars(ticket))


OPEN = item_of(Ticket(ticket_id="1", state="open"))
NOTED = item_of(Ticket(ticket_id="1", note="x"))
X: dict[str, Any] = {"S": "x"}

CHANGES: dict[str, tuple[Item, dict[str, Any]]] = {
    "another attribute of an item in one": (OPEN, {"text": X}),
    "the same value again": (OPEN, {"text": OPEN["text"]}),
    "another attribute, which is not projected": (NOTED, {"text": X}),
    "a projected attribute": (NOTED, {"note": {"S": "y"}}),
    "a key is added": (NOTED, {"GSI1PK": X, "GSI1SK": X}),
    "half of a key is added": (NOTED, {"GSI1PK": X}),
    "a key is removed": (OPEN, {"GSI1PK": None, "GSI1SK": None}),
    "a key of another value": (OPEN, {"GSI1SK": X}),
    "a key of another type": (OPEN, {"GSI1PK": None, "text": X}),
    "the item is deleted": (OPEN, {}),
    "the item is in none": (item_of(Ticket(ticket_id="1")), {"text": X}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_indexes_that_a_change_writes_to_are_those_that_it_costs(name: str) -> None:
    """The engine reports the units of each index."""
    item, values = CHANGES[name]
    change = ItemRewrite(item, values, [])
    with Engine(":memory:") as engine:
        connect(engine, Desk)
        engine.call("PutItem", {"TableName": "desk_rates", "Item": item})
        found = describe(engine)
        ((kind, action),) = change.actions(Desk.__table__, "desk_rates")[0].items()
        action |= {"ReturnConsumedCapacity": "INDEXES"}
        cost = engine.call(f"{kind}Item", action)["ConsumedCapacity"]
        paid = set(cost.get("GlobalSecondaryIndexes", {}))
    written = {each.name for each in found.global_indexes if change.changes_row_of(each)}
    assert written == paid


@pytest.mark.parametrize(
    ("indexes", "units"), [(None, 2.0), ((), 10.0), (("by_note",), 10.0), (("by_state",), 2.0)]
)
def test_a_share_is_that_of_the_lowest_capacity(indexes: Any, units: float) -> None:
    with Engine(":memory:") as engine:
        connect(engine, Desk)
        assert WriteRate(share=0.25).units_in(describe(engine), indexes) == units
        assert migrations.write_units(engine, Desk, "25%") == 2.0
        assert migrations.write_units(engine, Desk, 70) == 70


def test_a_transaction_waits_for_the_share_of_what_it_writes_to() -> None:
    executor = Executor(Desk.__table__, "desk_rates", 1, Lease("test"))
    with Engine(":memory:") as engine:
        connect(engine, Desk)

        def waits(limit: RateLimit, *changes: ItemRewrite) -> tuple[float, list[str]]:
            """Return for how many units per second a limit waits, and what it requests."""
            steps, seconds, requests = limit.spend(list(changes), executor), 0.0, []
            answer: Any = None
            try:
                while True:
                    step = steps.send(answer)
                    answer = None
                    if isinstance(step, Wait):
                        seconds += step.seconds
                    else:
                        assert isinstance(step, Request)
                        requests.append(step.operation)
                        answer = answer_of(engine, step)
            except StopIteration:
                return round(2 * len(changes) / seconds, 3), requests

        elsewhere = ItemRewrite(NOTED, {"text": X}, [])
        in_index = ItemRewrite(OPEN, {"text": X}, [])
        assert waits(RateLimit("25%"), elsewhere, elsewhere) == (10, ["DescribeTable"])
        assert waits(RateLimit("25%"), elsewhere, in_index) == (2, ["DescribeTable"])
        assert waits(RateLimit(4), in_index) == (4, [])
        limit = RateLimit("50%")
        waits(limit, elsewhere)
        assert waits(limit, elsewhere)[1] == []  # the capacity is not read each time


class OnDemand(Table, name="desk_on_demand"):
    pass


class Note(Entity, table=OnDemand):
    note_id: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")


def test_a_table_on_demand_has_a_share_of_its_maximum_or_none() -> None:
    with Engine(":memory:") as engine:
        db = connect(engine, OnDemand)
        db.run(create(Note(note_id="1")))
        migrations.baseline(engine, OnDemand)
        for command in (migrations.apply, migrations.rollback, migrations.complete):
            with pytest.raises(InvalidValue) as refused:
                command(engine, OnDemand, units_per_second="25%")
        assert str(refused.value) == (
            "the rate 25% is a share of the write capacity, but the capacity of the table "
            "'desk_on_demand' is not limited: it is billed on demand, without a maximum "
            "throughput; give write units per second, such as 500"
        )
        engine.call(
            "UpdateTable",
            {
                "TableName": "desk_on_demand",
                "OnDemandThroughput": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 60},
            },
        )
        assert migrations.write_units(engine, OnDemand, "25%") == 15
        (done,) = migrations.apply(engine, OnDemand, units_per_second="25%")
        assert done.steps == ()


def test_a_wrong_rate_is_refused_before_anything_is_changed() -> None:
    with Engine(":memory:") as engine:
        connect(engine, OnDemand)
        migrations.baseline(engine, OnDemand)
        with pytest.raises(InvalidValue, match="'150%' is not a rate: give write units"):
            migrations.apply(engine, OnDemand, units_per_second="150%")


def test_reserved_values_are_within_the_rate() -> None:
    pair, waits = PAIRS["unique added"], list[float]()
    engine = stored(pair)
    before = len(items(engine))
    drive(migration("apply", pair.new, units_per_second=8, program_seconds=0), engine, waits)
    sentinels = len(items(engine)) - before
    assert sentinels
    # The waits are those of transactions: each takes four units for each sentinel.
    assert sum(waits) >= 0.9 * 4 * sentinels / 8
