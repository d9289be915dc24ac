"""Every command in docs/command-line.md runs, in order, and prints what the document says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.commands import run
from tests.test_docs import blocks


def test_the_document_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("docs/command-line.md", "console"):
        for line, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            program, *arguments = shlex.split(line)
            assert program == "tablewright"
            done = run(*arguments)
            assert done.returncode == 0, done.stderr
            printed = re.sub(" +$", "", done.stdout, flags=re.MULTILINE)
            assert printed == output, line
