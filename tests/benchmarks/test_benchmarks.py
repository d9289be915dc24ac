"""The benchmarks run. What they measure is not asserted here: machines differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.big import items as big_items
from benchmarks.page_calls import page_calls
from benchmarks.peers.libraries.catalog import LIBRARIES
from benchmarks.put_calls import put_item_calls
from tablewright.encoding.items import item_size
from tablewright.engine import Engine

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_a_quick_run_gives_figures_beside_their_limits(tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--output", str(output), "get-item"],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    (figure,) = json.loads(output.read_text())["figures"]
    assert figure["name"] == "GetItem"
    assert figure["ratio"] == figure["value"] / figure["limit"]


def test_a_quick_run_shows_where_the_time_of_a_request_goes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.path", "--quick"],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "| | GetItem | Query of 20 | PutItem |"
    assert {"SQLite", "**server**", "bare server with SQLite"} <= {
        line.split(" | ")[0].removeprefix("| ") for line in lines
    }


def test_a_put_makes_few_python_calls() -> None:
    """A count does not depend on the machine; it was 200 before values were computed once."""
    assert put_item_calls() <= 140


def test_a_page_of_items_makes_few_python_calls() -> None:
    assert page_calls() <= 3000


def test_a_quick_run_compares_the_libraries_that_are_installed(tmp_path: Path) -> None:
    """A library that returned or wrote something else would be missing."""
    output = tmp_path / "peers.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", "--quick", "--output", output, "libraries"],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    result = json.loads(output.read_text())
    found = result["libraries"]
    measured = {library["name"] for library in found["libraries"]}
    missing = dict(each.split(": ", 1) for each in found["missing"])
    assert measured | missing.keys() == {library.name for library in LIBRARIES}
    assert {"tablewright, in process", "tablewright", "tablewright, async"} <= measured
    for reason in missing.values():
        assert reason == "not installed" or reason.startswith("there is no module")
    compared = {figure["limit_is"] for figure in result.get("figures", [])}
    assert compared == {name for name in measured if not name.startswith("tablewright")}


def test_big_tables_are_loaded_and_measured(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "benchmarks.big", "--quick", "--output", str(tmp_path)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    sizes = json.loads((tmp_path / "big.json").read_text())["sizes"]
    assert [size["items"] for size in sizes] == [100, 1000]
    for size in sizes:
        assert min(size["growth"].values()) > 0
        assert {load["what"] for load in size["loads"]} >= {"load", "copy", "copy over HTTP"}
    assert "| get, CPU µs |" in (tmp_path / "big.md").read_text()


def test_the_sample_items_of_big_tables_have_300_bytes_and_are_in_key_order() -> None:
    assert 290 <= item_size(big_items.item(12_345)) <= 310
    with Engine(":memory:") as engine:
        engine.call("CreateTable", big_items.create_request(with_index=True))
        for start in range(0, 100, 25):
            engine.call("BatchWriteItem", big_items.batch_request(range(start, start + 25), 1))
        found = engine.call("Scan", {"TableName": big_items.TABLE})["Items"]
    assert found == [big_items.item(n) for n in big_items.in_key_order(100)]
