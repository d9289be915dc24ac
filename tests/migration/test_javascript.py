"""The guides for users of JavaScript libraries: both halves of each page run, on one table."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine
from tablewright.server import serving
from tests.test_docs import ROOT, blocks

#: `make test-slow` installs the libraries there; if it cannot, it says so.
MODULES = ROOT / ".node" / "node_modules"


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None or not MODULES.is_dir(), reason="the libraries are not installed"
)
@pytest.mark.parametrize("name", ["electrodb", "dynamodb-toolbox"])
def test_a_guide_runs_from_top_to_bottom(name: str, tmp_path: Path) -> None:
    (before,) = blocks(f"docs/migration/{name}.md", "javascript")
    (after,) = blocks(f"docs/migration/{name}.md", "python")
    with closing(Engine(":memory:")) as engine, serving(engine) as url:
        script = tmp_path / "before.mjs"
        script.write_text(before.replace("http://127.0.0.1:8000", url))
        (tmp_path / "node_modules").symlink_to(MODULES)
        done = subprocess.run(
            ["node", script], capture_output=True, text=True, check=False, env=dict(os.environ)
        )
        assert done.stdout == "[ 'O1' ]\n", done.stderr
        names: dict[str, Any] = {}
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(after.replace("http://127.0.0.1:8000", url), names)
        promised = re.findall(r"^print\(.*\)  # (.*)$", after, re.MULTILINE)
        assert printed.getvalue().splitlines() == promised
