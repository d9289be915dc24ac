"""The commands with curl in the documentation print what it says."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import pytest

from tests.test_docs import ROOT, blocks

ADDRESS = "http://127.0.0.1:8080"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_menu_is_changed_with_curl() -> None:
    (commands,) = (each for each in blocks("docs/deploying-an-api.md", "console") if "curl" in each)
    command = [sys.executable, "-m", "tablewright", "api", "menu", "--all", "--port", "0"]
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            for line in commands.splitlines():
                if line.startswith("$ "):
                    asked = shlex.split(line.removeprefix("$ ").replace(ADDRESS, url))
                    done = subprocess.run(
                        [*asked, "-sS"], capture_output=True, text=True, check=True
                    )
                    printed += [line, *done.stdout.splitlines()]
        finally:
            server.terminate()
    assert printed == commands.splitlines()
