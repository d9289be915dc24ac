"""A program imports what it uses: this keeps imports and the start of the server fast."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.conftest import TABLE
from tests.server.http import Client
from tests.server.test_requests import get, put
from tests.server.test_stopping import served

#: What neither the engine nor the server needs.
HEAVY = {"boto3", "botocore", "pydantic", "pydantic_core", "rich", "typer"}
#: What the engine alone does not need either.
NETWORK = {"asyncio", "httptools", "socket", "ssl"}
#: Slow to import, and needed for rare requests and options only.
RARE = {
    "email",
    "tomllib",
    "tablewright.cli.all_commands",
    "tablewright.engine.access.authorization",
    "tablewright.engine.archives.backups",
    "tablewright.engine.archives.exports",
    "tablewright.engine.archives.imports",
    "tablewright.engine.integrity",
    "tablewright.engine.contributors",
    "tablewright.engine.operations.scan",
    "tablewright.engine.realism",
    "tablewright.engine.access.requested_access",
    "tablewright.model",
    "tablewright.partiql",
    "tablewright.plan",
    "tablewright.policy",
    "tablewright.server.telemetry",
    "tablewright.server.access.credentials",
    "tablewright.server.isolation",
    "tablewright.studio",
    "tablewright.templates",
}


def loaded_after(statement: str) -> set[str]:
    """The modules a fresh interpreter has after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_imports_no_other_module_of_it() -> None:
    loaded = loaded_after("import tablewright")
    assert {name for name in loaded if name.startswith("tablewright.")} == set()


@pytest.mark.parametrize(
    "statement",
    [
        "from tablewright import Entity, Table, access_pattern, attr, create, key, transact",
        "import tablewright.designs.commerce",
    ],
    ids=["model", "design"],
)
def test_a_design_imports_no_target(statement: str) -> None:
    loaded = loaded_after(statement)
    targets = {"tablewright.engine", "tablewright.storage", "tablewright.transport.remote"}
    others = {"asyncio", "httptools", "ssl", "tablewright.cli", "tablewright.policy"}
    assert loaded & (targets | others) == set()


def test_using_an_engine_brings_in_nothing_heavy() -> None:
    use = "from tablewright import Engine; Engine(':memory:').call('ListTables')"
    assert loaded_after(use) & (HEAVY | NETWORK | RARE) == set()


@pytest.mark.parametrize("has_file", [False, True], ids=["memory", "file"])
def test_a_server_imports_what_its_requests_need(tmp_path: Path, has_file: bool) -> None:
    before = "import atexit, sys; atexit.register(lambda: print(*sys.modules))"
    file = [tmp_path / "some.db"] if has_file else []
    query = {
        "TableName": "things",
        "KeyConditionExpression": "k = :k",
        "ExpressionAttributeValues": {":k": {"S": "a"}},
    }
    with served(*file, before=before) as (process, url):
        with Client(url) as client:
            assert client.call("ListTables").status == 200
            assert client.call("CreateTable", TABLE).status == 200
            assert client.call("PutItem", put("a")).status == 200
            assert client.call("GetItem", get("a")).status == 200
            assert client.call("Query", query).json["Count"] == 1
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    loaded = set(output.split())
    assert "tablewright.engine.operations.query" in loaded
    assert loaded & (HEAVY | RARE) == set()
