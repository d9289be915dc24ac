"""`tablewright api`: a design as an HTTP API. `tablewright mcp` is tested in tests/mcp."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2
import msgspec
import pytest

from tests.commands import mistake, run


def paths_of(file: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = msgspec.json.decode(file.read_bytes())["paths"]
    return found


def test_the_openapi_document_is_written_and_stays_the_same(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    done = run("api", "commerce", "--all", "--openapi", file)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{file}: written ({len(paths_of(file))} paths)\n"
    first = file.read_bytes()
    run("api", "commerce", "--all", "--openapi", file)
    assert file.read_bytes() == first


def test_only_what_is_chosen_is_exposed(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    run("api", "commerce", "--expose", "order_header", "--openapi", file)
    assert list(paths_of(file)) == [
        "/customers/{customer_id}/orders/{order_id}",
        "/health/live",
        "/health/ready",
    ]


@pytest.mark.parametrize("design", ["recipes", "menu"])
def test_variants_of_a_design_have_prefixes(tmp_path: Path, design: str) -> None:
    file = tmp_path / "openapi.json"
    assert run("api", design, "--all", "--openapi", file).returncode == 0
    prefixes = {path.split("/")[1] for path in paths_of(file)} - {"health"}
    expected = {"menu": {"collection", "composite", "document", "joins"}}
    assert prefixes == expected.get(design, {"patterns", "option2"})


def test_a_design_without_routes_needs_a_choice() -> None:
    assert mistake("api", "commerce").endswith(
        "no pattern of commerce declares a route; choose patterns with --expose PATTERN, or all "
        "with --all\n"
    )


def test_an_unknown_pattern_is_refused() -> None:
    line = mistake("api", "commerce", "--expose", "order_heder")
    assert "no pattern 'order_heder'; did you mean 'order_header'" in line


@pytest.mark.slow
def test_a_design_is_served_until_it_is_stopped() -> None:
    command = [sys.executable, "-m", "tablewright", "api", "commerce", "--all", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        url = run.stdout.readline().strip()
        found = httpx2.get(f"{url}/customers/C1", timeout=60)
        assert found.json()["name"] == "Ann Arbor"
        run.terminate()
        run.wait(60)
        assert f"19 patterns of commerce (sample data); {url}/docs shows them" in run.stderr.read()
