"""The benchmarks run. What they measure is not asserted here: machines differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
