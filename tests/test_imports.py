"""Importing the package brings in what the engine needs, and nothing that only others need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["asyncio", "boto3", "botocore", "httptools", "pydantic", "rich", "typer"]


def loaded_after(statement: str) -> set[str]:
    """The modules a fresh interpreter has after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["tablewright", "tablewright.engine"])
def test_an_import_brings_in_nothing_heavy(module: str) -> None:
    assert loaded_after(f"import {module}").isdisjoint(HEAVY)


def test_using_an_engine_brings_in_nothing_heavy() -> None:
    use = "from tablewright.engine import Engine; Engine(':memory:').call('ListTables')"
    assert loaded_after(use).isdisjoint(HEAVY)
