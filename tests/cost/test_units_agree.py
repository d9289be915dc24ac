"""The units of a pattern are the same wherever they are shown, and say what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

import pytest

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, transact, version
from tablewright.cost import Consumption, consumption, cost, load_prices, load_rates
from tablewright.database import Database
from tablewright.designs.catalog import bundled, load
from tablewright.errors import AlreadyExists, UniqueViolation
from tablewright.plans import Plan
from tablewright.studio.views.design import show_patterns
from tablewright.studio.web.http import Fields, WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tablewright.verify.trace import ItemReader, Recorder
from tests import commands


class Ledger(Table, name="ledger"): ...


class Entry(Entity, table=Ledger):
    number: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    version: Attr[int] = version()
    primary = key("ENTRY" / number, "ENTRY")


@pytest.mark.parametrize("name", [design.name for design in bundled()])
def test_explain_cost_and_the_studio_show_the_same_units(name: str) -> None:
    design = load(name)
    report = cost(design, rates=load_rates(design), prices=load_prices(None))
    explained = {
        found["label"]: found["calls"]
        for found in json.loads(commands.run("explain", name, "--json").stdout)
    }
    rows = shown_units(design)
    shapes = {found.label: found.shape for found in design.patterns}
    for found in report.patterns:
        assert explained[found.label] == {
            "count": found.calls,
            "read_units": found.read_units,
            "write_units": found.writes,
        }
        assert rows[found.label] == found.show(shapes[found.label])


def shown_units(design: Design) -> dict[str, str]:
    """Return the units of each pattern on the design page of the studio."""
    with Engine(":memory:") as engine:
        request = WebRequest(method="GET", path="/design/patterns", query=Fields([]), headers={})
        page = "".join(show_patterns(Workspace(design, engine), request).content)
    return {
        unescape(href).rpartition("/")[2]: unescape(units)
        for href, units in re.findall(r'<a href="([^"]*)"><code>.*?<span title="([^"]*)"', page)
    }


def test_put_order_consumes_the_mean_of_its_two_checks() -> None:
    printed = " ".join(commands.run("explain", "commerce", "put_order").stdout.split())
    assert "1 read, 7 write (on average over 2 calls in the checks); at most 100 read" in printed
    listed = commands.run("explain", "commerce").stdout
    (row,) = [line.split() for line in listed.splitlines() if line.startswith("put_order ")]
    assert row[-2:] == ["1", "7"]
    assert "Units: on average over the calls in the checks" in listed


@pytest.fixture
def recorded() -> Iterator[tuple[Database, Recorder]]:
    with Engine(":memory:") as engine, connect(engine, Ledger) as database:
        reader = ItemReader(database.transport, database.table_names)
        recorder = Recorder(database.transport, reader)
        yield database.through(recorder), recorder


def refused(recorded: tuple[Database, Recorder], plan: Plan[object]) -> list[Consumption]:
    database, recorder = recorded
    database.run(create(Entry(number="1", text="x" * 1500)))
    recorder.drain()
    with pytest.raises((AlreadyExists, UniqueViolation)):
        database.run(plan)
    return [each for sent in recorder.drain() for each in consumption(sent)]


def test_a_refused_write_is_charged_for_the_stored_item(
    recorded: tuple[Database, Recorder],
) -> None:
    (found,) = refused(recorded, create(Entry(number="1")))
    assert (found.kind, found.units, found.reason) == ("write", 2, "refused: a condition fails")


def test_a_refused_transaction_is_charged_for_all_its_items(
    recorded: tuple[Database, Recorder],
) -> None:
    plan = transact(create(Entry(number="1")), create(Entry(number="2")))
    assert [found.units for found in refused(recorded, plan)] == [4, 2]
