"""The benchmarks run. What they measure is not asserted here: machines differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


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


def test_the_clients_that_are_compared_give_equal_objects(tmp_path: Path) -> None:
    """The benchmark itself checks it, of each client, before it measures."""
    for module in ("aiodynamo", "aiohttp", "pydynox", "pynamodb"):
        pytest.importorskip(module, reason="the clients come with `make bench`")
    output = tmp_path / "bench.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--output", str(output), "clients"],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    figures = json.loads(output.read_text())["figures"]
    compared = {figure["limit_is"].rpartition(" ")[0] for figure in figures}
    assert compared == {"boto3 client", "boto3 resource", "PynamoDB", "pydynox", "aiodynamo"}
