"""Previews: what is shown is what happens, or nothing happens."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright import Engine
from tablewright.designs import commerce
from tablewright.errors import AlreadyExists, TablewrightError
from tablewright.model.databases.database import Database
from tablewright.studio.markup.preview_parts import verdict
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.applying import apply
from tablewright.studio.writes.preview import Preview, preview
from tablewright.transport import Response
from tablewright.values import Item
from tablewright.verify.contents import Scanner
from tablewright.verify.run import _result_problem
from tests.studio.calls import DESIGNS, EACH_DESIGN, Call, checked_calls, sample_workspace

#: All rows, by the names of the table and the index ("" for the table itself), and the key.
State = dict[tuple[str, str, str], Item]


def state(database: Database) -> State:
    """Return all rows of all tables and indexes."""
    scan, found = Scanner(database), State()
    for table, name in database.table_names.items():
        for index in ("", *table.indexes):
            for item in scan.items(table, index or None):
                found[name, index, repr(table.key(item))] = item
    return found


def changes(before: State, after: State) -> set[str]:
    """Return each row that differs, with what it was and what it is."""
    places = {*before, *after}
    return {
        repr((place, _sorted(before.get(place)), _sorted(after.get(place))))
        for place in places
        if before.get(place) != after.get(place)
    }


def previewed(found: Preview) -> set[str]:
    """Return the rows that a preview says differ, in the same form."""
    rows = []
    for item in found.items:
        key = repr(item.description.key(item.key))
        if item.kind != "same":
            rows.append(((item.table, "", key), item.before, item.after))
        rows += [((item.table, row.index.name, key), row.before, row.after) for row in item.rows]
    return {
        repr((place, _sorted(before), _sorted(after)))
        for place, before, after in rows
        if before != after
    }


def _sorted(item: Item | None) -> Any:
    return None if item is None else sorted(item.items())


def listed_units(found: Preview) -> float:
    """Return the sum of the units of all items, index rows and checks."""
    items = sum(item.units + sum(row.units for row in item.rows) for item in found.items)
    return items + sum(check.units for check in found.checks)


class Meter:
    """Counts the write units that a target reports."""

    def __init__(self, workspace: Workspace) -> None:
        self.transport = workspace.transport
        self.units = 0.0

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        response = self.transport.send(operation, {**request, "ReturnConsumedCapacity": "TOTAL"})
        if "Get" not in operation and operation not in ("Query", "Scan"):
            capacity = msgspec.json.decode(response.body)["ConsumedCapacity"]
            tables = capacity if isinstance(capacity, list) else [capacity]
            self.units += sum(table["CapacityUnits"] for table in tables)
        return response

    def close(self) -> None:
        pass


@pytest.mark.parametrize("name", EACH_DESIGN)
def test_each_check_of_a_design_passes_through_previews(name: str) -> None:
    """Every write of the checks is previewed, applied, and does what was previewed."""
    workspace = sample_workspace(name)
    assert workspace.design is not None
    database = workspace.database()
    written = 0
    for call in checked_calls(workspace.design, database):
        if not call.is_write:
            continue
        before = state(database)
        found = preview(database, call.plan())
        assert state(database) == before, "a preview writes nothing"
        if found.error is None:
            outcome = apply(found, workspace.transport)
            assert outcome.is_applied
            assert outcome.write_units == found.write_units == listed_units(found)
            written += 1
        assert changes(before, state(database)) == (previewed(found) if not found.error else set())
        answer = found.result if found.error is None else found.error
        assert not _result_problem(call.check, answer)
    assert written
    workspace.close()


@cache
def calls_of(name: str) -> list[Call]:
    """Return the write calls of a design's checks on its sample data."""
    workspace = sample_workspace(name)
    assert workspace.design is not None
    database = workspace.database()
    found = []
    for call in checked_calls(workspace.design, database):
        with suppress(TablewrightError):
            database.run(call.plan())
        if call.is_write:
            found.append(call)
    workspace.close()
    return found


def at_one_moment(database: Database) -> Database:
    """Return the database with a clock that stands still."""
    moment = datetime(2027, 1, 1, tzinfo=UTC)
    return database.through(database.transport, clock=lambda: moment)


def damaged(workspace: Workspace, chance: random.Random) -> None:
    """Delete some items and change some attributes, whatever the design says."""
    database = workspace.database()
    for table, name in database.table_names.items():
        for item in Scanner(database).items(table):
            fate = chance.random()
            key = table.key(item)
            if fate < 0.15:
                workspace.send("DeleteItem", TableName=name, Key=key)
            elif fate < 0.3:
                workspace.send(
                    "PutItem", TableName=name, Item={**item, "foreign": {"S": "x" * 999}}
                )


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_a_preview_is_what_running_the_plan_does(name: str, seed: int) -> None:
    """For random states: the same items, index rows, units, result or error."""
    workspace = sample_workspace(name)
    engine = workspace.target
    assert isinstance(engine, Engine)
    damaged(workspace, random.Random(seed))
    database = at_one_moment(workspace.database())
    before = state(database)
    for call in calls_of(name):
        found = preview(database, call.plan())
        meter = Meter(workspace)
        with engine.sandbox():
            error = None
            try:
                at_one_moment(workspace.database(meter)).run(call.plan())
            except TablewrightError as refusal:
                error = refusal
            after = state(database)
        assert type(error) is type(found.error)
        assert changes(before, after) == previewed(found)
        if error is None:
            assert meter.units == found.write_units
        with engine.sandbox():
            if found.error is None:
                assert apply(found, workspace.transport).write_units == found.write_units
                assert changes(before, state(database)) == previewed(found)
    workspace.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_a_change_after_the_preview_prevents_the_write(name: str) -> None:
    """Each touched item is changed in turn: nothing is written, and a new preview is needed."""
    workspace = sample_workspace(name)
    engine = workspace.target
    assert isinstance(engine, Engine)
    database = workspace.database()
    tried = 0
    for call in calls_of(name):
        found = preview(database, call.plan())
        if found.error is not None or not found.is_atomic:
            continue
        for touched in (each for write in found.writes for each in write.touched):
            with engine.sandbox():
                item = {**(touched.before or touched.key), "changed_by_another": {"S": "x"}}
                for attribute, value in (touched.before or {}).items():
                    if attribute not in touched.key and "S" in value:
                        item[attribute] = {"S": value["S"] + "!"}
                        break
                else:
                    if touched.before is not None:
                        continue  # its only attributes are the key: nothing to change
                workspace.send("PutItem", TableName=touched.write.table, Item=item)
                before = state(database)
                assert apply(found, workspace.transport).is_outdated
                assert state(database) == before
                tried += 1
    assert tried
    workspace.close()


def test_a_refused_write_shows_the_units_that_it_is_charged() -> None:
    """DynamoDB charges it for the stored item, but reports nothing."""
    workspace = sample_workspace("commerce")
    database = workspace.database()
    stored = database.run(commerce.customer_profile("C1"))
    assert stored is not None
    found = preview(database, commerce.put_customer_if_absent(stored))
    assert isinstance(found.error, AlreadyExists)
    assert (found.write_units, found.writes) == (1, ())
    assert "charges for the refusal: 1." in str(verdict(found))
    workspace.close()
