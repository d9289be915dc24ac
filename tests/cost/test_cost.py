"""`tablewright cost`: the units and the monthly price of the patterns of a design."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tablewright import Engine, Provisioned, access_pattern, connect
from tablewright.cost import (
    CostReport,
    Rates,
    compare,
    cost,
    load_prices,
    load_rates,
    pattern_calls,
    units_of,
)
from tablewright.cost.prices import DEFAULT_PRICES
from tablewright.cost.sizes import measure
from tablewright.designs.catalog import bundled, load
from tablewright.errors import DeclarationError
from tablewright.plans import Get
from tablewright.publish.cost_text import comparison_markdown, markdown, notes, short_names
from tablewright.server import serving
from tablewright.verify import Design, trace
from tests import commands
from tests.publish.test_infrastructure import PROVISIONED
from tests.things import Thing

DESIGN = '''"""Notes."""
from collections.abc import Iterator

from tablewright import GSI, Attr, Entity, Table, access_pattern, attr, create, index, key, unique
from tablewright.plans import Create, Get, Update
from tablewright.verify import Check, changed


class Notes(Table, name="notes"):
    by_topic = GSI("GSI1PK", "GSI1SK", project={project})


class Note(Entity, table=Notes):
    number: Attr[str] = attr()
    topic: Attr[str] = attr()
    text: Attr[str] = attr()

    primary = key("NOTE" / number, "NOTE")
    of_topic = index(Notes.by_topic, "TOPIC" / topic, "NOTE" / number)
    by_text = unique("TEXT" / text)


@access_pattern(rate=10)
def note(number: str) -> Get[Note]:
    return Note.primary(number)


@access_pattern(rate=2)
def add(note: Note) -> Create[Note]:
    return create(note)


@access_pattern
def retitle(number: str, text: str) -> Update[Note]:
    return Note.primary(number).update(Note.text.set(text))


@access_pattern
def move(number: str, topic: str) -> Update[Note]:
    return Note.primary(number).update(Note.topic.set(topic))


def sample() -> list[Note]:
    return [Note(number="1", topic="a", text="x")]


def checks(stored) -> Iterator[Check]:
    (first,) = stored(Note)
    yield Check("get", note("1"), first)
    second = Note(number="2", topic="a", text="y" * {length})
    yield Check("add", add(second), second)
    yield Check("retitle", retitle("1", "z"), lambda: changed(first, text="z"))
'''


def write_design(*, project: str = '"KEYS_ONLY"', length: int = 1) -> None:
    text = DESIGN.replace("{project}", project).replace("{length}", str(length))
    Path("notes.py").write_text(text)


def costs(*arguments: str) -> dict[str, Any]:
    """Return the patterns of `cost notes.py --json` by name."""
    done = commands.run("cost", "notes.py", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return {found["pattern"]: found for found in json.loads(done.stdout)["patterns"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


#: The checks of menu, four designs in one, take longer.
DESIGNS = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.name == "menu" else [])
    for each in bundled()
]


def commerce(rates: Rates | None = None) -> CostReport:
    return cost(load("commerce"), rates=rates or Rates({}, {}), prices=load_prices())


# -- units ---------------------------------------------------------------------------------------


def test_the_units_of_an_update_tell_its_index_writes_its_history_and_the_transaction() -> None:
    found = {each.pattern: each for each in commerce().patterns}["update_order_status"]
    assert (found.read_units, found.write_units, found.index_units) == (1, 4, 10)
    parts = {(part.entity, part.index): part for part in found.parts if part.kind == "write"}
    own, event = parts["CustomerOrder", None], parts["OrderStatusEvent", None]
    assert (own.units, own.factor, own.reason) == (2, 2, "the item changes")
    assert (event.units, event.reason) == (2, "event of a history")
    writes = {index: (part.items, part.units) for (_, index), part in parts.items() if part.items}
    assert writes == {
        None: (1, 2),
        "gsi_customer_orders": (1, 2),
        "gsi_status_orders": (2, 4),
        "gsi_customer_status_orders": (2, 4),
    }
    changed = parts["CustomerOrder", "gsi_status_orders"].reason
    assert changed == "its key changes (GSI2PK): one row is deleted, one is put"


@pytest.mark.parametrize("design", DESIGNS)
def test_every_pattern_of_a_bundled_design_is_measured(design: Design) -> None:
    found = cost(design, rates=Rates({}, {}), prices=load_prices())
    assert [each.label for each in found.patterns] == [each.label for each in design.patterns]
    assert {each.source for each in found.patterns} == {"checks"}
    assert all(each.read_units + each.write_units > 0 for each in found.patterns)


def test_a_design_without_checks_is_estimated() -> None:
    write_design()
    Path("notes.py").write_text(Path("notes.py").read_text().partition("def sample")[0])
    assert {found["source"] for found in costs().values()} == {"estimate"}


def test_a_sentinel_is_written_in_the_transaction_of_its_entity() -> None:
    write_design()
    parts = costs()["add"]["parts"]
    sentinels = [part for part in parts if part["entity"] == "sentinel" and not part["index"]]
    assert [(part["units"], part["factor"]) for part in sentinels] == [(2, 2)]


def test_an_index_is_written_only_if_it_projects_what_changes() -> None:
    write_design()
    assert costs()["retitle"]["index_units"] == 0
    write_design(project='"ALL"')
    assert costs()["retitle"]["index_units"] == 2


def test_a_pattern_that_no_check_calls_is_estimated() -> None:
    write_design()
    assert {name: found["source"] for name, found in costs().items()} == {
        "note": "checks",
        "add": "checks",
        "retitle": "checks",
        "move": "estimate",
    }
    printed = commands.run("cost", "notes.py").stdout
    assert "~ an estimate for items of a typical size: no check calls the pattern" in printed


def test_a_check_that_does_not_run_is_reported() -> None:
    write_design()
    text = Path("notes.py").read_text().replace('note("1"), first', "add(first), first")
    Path("notes.py").write_text(text)
    done = commands.run("cost", "notes.py")
    assert done.returncode == 2
    assert "the check 'get' fails" in done.stderr


def test_results_are_not_compared() -> None:
    write_design()
    expected = commands.run("cost", "notes.py").stdout
    text = Path("notes.py").read_text().replace('note("1"), first', 'note("1"), 7')
    Path("notes.py").write_text(text)
    assert commands.run("cost", "notes.py").stdout == expected


def test_sample_data_that_cannot_be_stored_are_reported() -> None:
    write_design()
    text = Path("notes.py").read_text()
    Path("notes.py").write_text(text.replace('text="x")]', 'text="")]'))
    done = commands.run("cost", "notes.py")
    assert (done.returncode, "the sample data cannot be stored" in done.stderr) == (2, True)


def large_note() -> dict[str, Any]:
    """Return a note of three blocks."""
    put = {"PK": "NOTE#9", "SK": "NOTE", "number": "9", "topic": "a", "text": "w" * 9000}
    put |= {"GSI1PK": "TOPIC#a", "GSI1SK": "NOTE#9", "type": "Note"}
    return {name: {"S": value} for name, value in put.items()}


def test_sizes_are_measured_on_a_target() -> None:
    write_design(length=900)
    assert commands.run("seed", "notes.py", "notes.db").returncode == 0
    with Engine("notes.db") as engine:
        engine.call("PutItem", {"TableName": "notes", "Item": large_note()})
    found = costs("notes.db")
    assert costs()["note"]["read_units"] == 0.5
    assert found["note"]["read_units"] == (0.5 + 1.5) / 2  # of 1 and of 3 blocks
    done = commands.run("cost", "notes.py", "missing.db")
    assert (done.returncode, "missing.db: no such file" in done.stderr) == (2, True)


def test_sizes_are_measured_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    write_design(length=900)
    with Engine() as engine, serving(engine) as url:
        done = commands.run("cost", "notes.py", url)
        assert done.returncode == 2
        assert f"{url} has no table 'notes'" in done.stderr
        assert commands.run("seed", "notes.py", url).returncode == 0
        before = costs(url)
        engine.call("PutItem", {"TableName": "notes", "Item": large_note()})
        items = engine.call("DescribeTable", {"TableName": "notes"})["Table"]["ItemCount"]
        found = costs(url)
        assert engine.call("DescribeTable", {"TableName": "notes"})["Table"]["ItemCount"] == items
    assert before["note"]["read_units"] == 0.5
    assert found["note"]["read_units"] == (0.5 + 1.5) / 2
    done = commands.run("cost", "notes.py", url)
    assert (done.returncode, url.removeprefix("http://") in done.stderr) == (2, True)


def test_the_storage_of_measured_tables_has_their_number_of_items() -> None:
    write_design()
    assert commands.run("seed", "notes.py", "notes.db").returncode == 0
    with Engine("notes.db") as engine:
        engine.call("PutItem", {"TableName": "notes", "Item": large_note()})
    done = commands.run("cost", "notes.py", "--json", "notes.db")
    storage = json.loads(done.stdout)["storage"]
    rows = {(each["index"], each["entity"]): each["items"] for each in storage}
    assert rows == {(None, "Note"): 2, (None, "sentinel"): 1, ("by_topic", "Note"): 2}


def test_an_empty_target_leaves_the_sizes_of_the_checks() -> None:
    write_design()
    with Engine("notes.db") as engine:
        module = load("notes.py")
        with connect(engine, *module.tables):
            pass
    assert costs("notes.db") == costs()


# -- money ---------------------------------------------------------------------------------------


def test_a_month_on_demand_has_730_hours() -> None:
    label = {each.name: each.label for each in load("commerce").patterns}["update_order_status"]
    found = commerce(Rates({label: 2}, {}))
    units = 2 * 730 * 3600  # calls
    assert found.on_demand_month == pytest.approx(units * (1 * 0.125 + 14 * 0.625) / 1e6)


def test_provisioned_capacity_is_that_of_each_table_and_index() -> None:
    label = {each.name: each.label for each in load("commerce").patterns}["update_order_status"]
    found = {each.place.index: each for each in commerce(Rates({label: 7}, {})).capacity}
    assert (found[None].reads, found[None].writes) == (7, 28)
    assert found[None].capacity == Provisioned(read=10, write=40)  # 70 % used
    assert found[None].provisioned_month == pytest.approx(730 * (10 * 0.00013 + 40 * 0.00065))
    assert found["gsi_status_orders"].writes == 28
    assert found["gsi_status_orders"].capacity == Provisioned(read=1, write=40)


def test_a_table_with_declared_capacity_costs_that_capacity() -> None:
    write_design()
    usual = json.loads(commands.run("cost", "notes.py", "--json").stdout)
    text = Path("notes.py").read_text().replace("import GSI,", "import GSI, Provisioned,")
    text = text.replace('name="notes"', 'name="notes", billing=Provisioned(read=8, write=3)')
    text = text.replace("project=", "billing=Provisioned(read=2, write=9), project=")
    Path("notes.py").write_text(text)
    found = json.loads(commands.run("cost", "notes.py", "--json").stdout)
    table, index = found["capacity"]
    assert (table["capacity"], index["capacity"]) == (
        {"read": 8, "write": 3},
        {"read": 2, "write": 9},
    )
    month = 730 * (10 * 0.00013 + 12 * 0.00065)
    assert found["provisioned_month"] == pytest.approx(month)
    assert found["month"] == pytest.approx(month + found["storage_month"])
    assert found["on_demand_month"] == usual["on_demand_month"]
    assert usual["month"] == pytest.approx(usual["on_demand_month"] + usual["storage_month"])
    printed = " ".join(commands.run("cost", "notes.py").stdout.split())
    assert "Provisioned: USD 6.64 a month, with the declared capacity" in printed
    assert "Together: USD 6.64 a month, each table as it is declared." in printed
    assert "Warning: notes needs 5 read and 8 write units per second, and its declared" in printed


def test_declared_capacity_has_a_price_without_rates() -> None:
    report = cost(PROVISIONED, rates=Rates({}, {}), prices=load_prices())
    lines = list(notes(report))
    assert "| pattern |" not in markdown(report)
    assert [line.partition(":")[0] for line in lines] == [
        "Provisioned",
        "Storage",
        "Together",
        "Prices",
        "paid declares no access patterns, so no units are known.",
    ]


def test_storage_has_100_bytes_more_for_each_item_and_index_row() -> None:
    write_design()
    Path("rates.toml").write_text("[items]\nNote = 1000\n")
    done = commands.run("cost", "notes.py", "--json", "--rates", "rates.toml")
    note, sentinel, index = json.loads(done.stdout)["storage"]
    assert (note["items"], sentinel["items"], index["items"]) == (1000, 1000, 1000)
    assert (sentinel["entity"], index["index"]) == ("sentinel", "by_topic")
    row = sum(map(len, ("PK", "NOTE#1", "SK", "NOTE", "GSI1PK", "TOPIC#a", "GSI1SK", "NOTE#1")))
    assert index["size"] == 1000 * (row + 100)


def test_measured_items_stand_for_all_items_of_a_table() -> None:
    table = load("commerce").tables[0].__table__
    keys = [{"PK": {"S": f"CUST#{n}"}, "SK": {"S": f"PROFILE#{n}"}} for n in range(4)]
    found = measure({table: (keys, 1000)})
    assert found.counts == {(table.name, "CustomerProfile"): 1000}


def test_rates_are_declared_and_replaced_by_a_file() -> None:
    write_design()
    assert {name: found["rate"] for name, found in costs().items()} == {
        "note": 10,
        "add": 2,
        "retitle": None,
        "move": None,
    }
    Path("rates.toml").write_text("note = 0.5\nretitle = 3\n")
    replaced = costs("--rates", "rates.toml")
    assert [replaced[name]["rate"] for name in ("note", "add", "retitle")] == [0.5, 2, 3]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("noet = 1", "has no pattern 'noet'; did you mean 'note'?"),
        ("note = -1", "note = -1 must be a number, 0 or more"),
        ("note = 'many'", "note = 'many' must be a number, 0 or more"),
        ("items = 3", "[items] is for the number of items"),
        ("[items]\nNotes = 3", "has no entity 'Notes'; did you mean 'Note'?"),
        ("note = ", "Invalid value"),
    ],
)
def test_a_wrong_file_of_rates_is_refused(text: str, problem: str) -> None:
    write_design()
    Path("rates.toml").write_text(text)
    done = commands.run("cost", "notes.py", "--rates", "rates.toml")
    assert done.returncode == 2
    assert "rates.toml" in done.stderr
    assert problem in " ".join(done.stderr.split())


def test_prices_are_replaced_by_a_file() -> None:
    write_design()
    text = DEFAULT_PRICES.read_text()
    Path("prices.toml").write_text(text.replace("0.125", "0.25").replace('"USD"', '"EUR"'))
    usual, dearer = costs(), costs("--prices", "prices.toml")
    assert dearer["note"]["month"] == 2 * usual["note"]["month"]
    assert "EUR/month" in commands.run("cost", "notes.py", "--prices", "prices.toml").stdout
    Path("prices.toml").write_text("title = 'x'")
    done = commands.run("cost", "notes.py", "--prices", "prices.toml")
    assert (done.returncode, "prices.toml: " in done.stderr) == (2, True)


def test_prices_that_are_not_confirmed_are_marked() -> None:
    write_design()
    printed = " ".join(commands.run("cost", "notes.py").stdout.split())
    assert "On demand: USD 21.35 a month (prices of 2026-01)." in printed
    assert printed.count(", not confirmed)") == 2  # provisioned capacity and storage
    text = DEFAULT_PRICES.read_text().replace("confirmed = false", "")
    Path("prices.toml").write_text(text.replace("2026-08", "2026-11"))
    own = " ".join(commands.run("cost", "notes.py", "--prices", "prices.toml").stdout.split())
    assert "not confirmed" not in own
    assert "(price of 2026-11)" in own


def test_a_rate_must_not_be_negative() -> None:
    with pytest.raises(DeclarationError, match="rate=-1 must be the number of calls"):

        @access_pattern(rate=-1)
        def thing(number: str) -> Get[Thing]:
            return Thing.primary(number)


def test_a_pattern_may_be_named_with_its_module() -> None:
    design = load("commerce")
    Path("rates.toml").write_text('"commerce.customer_profile" = 4\n')
    rates = load_rates(design, Path("rates.toml"))
    assert [*rates.calls.values()] == [4]


# -- output --------------------------------------------------------------------------------------


def test_the_table_fits_80_columns() -> None:
    printed = commands.run("cost", "shop", "--details").stdout
    assert max(map(len, printed.splitlines())) <= 80
    assert "\x1b" not in printed


def test_patterns_with_one_name_are_shown_with_their_module() -> None:
    labels = ["menu.joins.rename", "menu.items.rename", "menu.items.add", "rename"]
    assert short_names(labels) == {
        "menu.joins.rename": "joins.rename",
        "menu.items.rename": "items.rename",
        "menu.items.add": "add",
        "rename": "rename",
    }


def test_without_rates_there_is_no_price() -> None:
    printed = " ".join(commands.run("cost", "commerce").stdout.split())
    assert "No pattern has a rate, so there is no price: use @access_pattern(rate=…)" in printed


def test_json_and_markdown_exclude_each_other() -> None:
    done = commands.run("cost", "commerce", "--json", "--markdown")
    assert (done.returncode, "choose one" in done.stderr) == (2, True)


def test_markdown_has_the_table_and_the_reasons() -> None:
    printed = commands.run("cost", "commerce", "--markdown").stdout
    assert "| `update_order_status` |  | 1 | 4 | 10 |  |" in printed
    assert "- `update_order_status`: 4 units in gsi_status_orders, 2 writes: its key" in printed


# -- a comparison with another revision ----------------------------------------------------------


def test_a_change_of_a_projection_shows_in_the_difference() -> None:
    write_design()
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *command], check=True)
    write_design(project='"ALL"')
    Path("rates.toml").write_text("retitle = 1\n")
    done = commands.run("cost", "notes.py", "--diff", "HEAD", "--rates", "rates.toml")
    assert done.stdout.splitlines() == [
        "pattern  read  write  index      USD/month",
        "retitle     1      6  0 → 2  10.18 → 13.47",
        "",
        "On demand: USD 31.54 → 34.82 a month (+3.28).",
        "Provisioned: USD 13.29 → 14.71 a month (+1.42).",
        "Storage: USD 0.00 → 0.00 a month (+0.00).",
        "Together, each table as it is declared: USD 31.54 → 34.82 a month (+3.28).",
        "Both with the rates, numbers of items and prices of now.",
    ]
    done = commands.run("cost", "notes.py", "--diff", "v7")
    assert (done.returncode, "v7 is no revision" in done.stderr) == (2, True)


def test_new_and_removed_patterns_show_in_the_difference() -> None:
    whole = commerce()
    first, second, *others = whole.patterns
    before = replace(whole, patterns=(first, *others))
    after = replace(whole, patterns=(second, *others))
    text = comparison_markdown(compare(before, after, "v1"))
    assert "| `+ order_header` | 0.5 |" in text
    assert "| `- customer_profile` | 0.5 |" in text


def test_both_revisions_are_priced_with_the_rates_of_now() -> None:
    whole = commerce()
    rates = Rates({whole.patterns[0].label: 3}, {"CustomerOrder": 10**9})
    found = compare(whole, commerce(rates), "v1")
    assert found.patterns == ()
    for before, after in (
        found.on_demand_month,
        found.provisioned_month,
        found.storage_month,
        found.month,
    ):
        assert before == pytest.approx(after)
        assert before > 0.1
    assert "No pattern differs from v1." in comparison_markdown(found)


def test_calls_that_a_check_expects_to_be_refused_are_counted_apart() -> None:
    design = load("market")
    calls = pattern_calls(design, trace(design))
    calls = [call for call in calls if call.pattern.endswith(".place_order")]
    assert sorted(call.is_refused for call in calls) == [False, True, True]
    found = units_of(design, calls)[calls[0].pattern]
    assert found.calls == 1
    assert found.refused is not None
    assert found.refused.calls == 2
    assert 0 < found.refused.write_units < found.writes
    printed = commands.run("cost", "market", "--details").stdout
    assert "on average over 2 refused calls in the checks" in " ".join(printed.split())
