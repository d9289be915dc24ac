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


#: What opens a target, and runs plans there.
DATABASES = {
    "tablewright.engine",
    "tablewright.model.databases.database",
    "tablewright.plan.migration",
    "tablewright.storage",
    "tablewright.transport.remote",
}
#: Of pydantic, what takes long to import and is needed for some models only.
PYDANTIC_MODELS = {"importlib.metadata", "pydantic.plugin._loader", "pydantic.root_model"}

SHOP = """
from tablewright import Attr, Entity, Table, attr, connect, key
class Shop(Table, name="shop"): pass
class Order(Entity, table=Shop):
    order_id: Attr[str] = attr()
    primary = key("ORDER" / order_id, "ORDER")
"""


def modules_after(program: str) -> dict[str, int]:
    """The modules a fresh interpreter has after a program, with the sizes of our source files."""
    report = """
import os, sys
for name, module in [*sys.modules.items()]:
    ours = name.split(".")[0] == "tablewright"
    print(name, os.path.getsize(module.__file__) if ours else 0)
"""
    command = [sys.executable, "-c", program + report]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: int(size) for name, size in map(str.split, done.stdout.splitlines())}


def loaded_after(program: str) -> set[str]:
    """The modules a fresh interpreter has after a program."""
    return set(modules_after(program))


def test_importing_the_package_imports_no_other_module_of_it() -> None:
    loaded = loaded_after("import tablewright")
    assert {name for name in loaded if name.startswith("tablewright.")} == set()


@pytest.mark.parametrize(
    "statement",
    [
        "from tablewright import Entity, Table, access_pattern, attr, create, key, transact",
        "from tablewright import Entity, Table, connect, connect_async",
        "import tablewright.designs.commerce",
    ],
    ids=["model", "connect", "design"],
)
def test_a_design_imports_no_target(statement: str) -> None:
    loaded = loaded_after(statement)
    others = {"asyncio", "httptools", "ssl", "tablewright.cli", "tablewright.policy"}
    assert loaded & (DATABASES | PYDANTIC_MODELS | others) == set()


def test_a_database_in_a_file_imports_no_network(tmp_path: Path) -> None:
    loaded = loaded_after(f"{SHOP}connect({str(tmp_path / 'shop.db')!r}, Shop).close()")
    assert "tablewright.engine" in loaded
    assert (
        loaded & {"asyncio", "ssl", "tablewright.policy", "tablewright.transport.remote"} == set()
    )


@pytest.mark.parametrize(
    "target", ["'http://127.0.0.1:9'", "Remote.endpoint('http://127.0.0.1:9')"]
)
def test_an_endpoint_imports_no_engine(target: str) -> None:
    open_it = (
        "from tablewright.model.databases.connecting import open_transport\n"
        "from tablewright.transport.remote import Remote\n"
        f"open_transport({target})"
    )
    assert loaded_after(f"{SHOP}{open_it}") & {"apsw", "tablewright.engine"} == set()


#: The most modules of ours, and bytes of their source, that are imported: a twentieth above what
#: it was when the numbers were set. Raise them only for what most programs use.
BUDGETS = {
    "from tablewright import connect, Entity, Table": (134, 1_210_000),
    "import tablewright.designs.commerce": (145, 1_350_000),
    "from tablewright import Engine; Engine(':memory:').call('ListTables')": (70, 568_000),
    f"{SHOP}connect(':memory:', Shop)": (216, 1_975_000),
}


@pytest.mark.parametrize("program", BUDGETS, ids=["names", "design", "engine", "connect"])
def test_an_import_stays_small(program: str) -> None:
    sizes = [size for size in modules_after(program).values() if size]
    modules, size = BUDGETS[program]
    assert len(sizes) <= modules
    assert sum(sizes) <= size


def test_a_list_of_designs_imports_none_of_them() -> None:
    program = "import sys; sys.argv[1:] = ['designs']; from tablewright.cli import main\n"
    quiet = "import io; sys.stdout = io.StringIO()\ntry: main()\nexcept SystemExit: pass\n"
    loaded = loaded_after(f"{program}{quiet}sys.stdout = sys.__stdout__")
    others = {
        "tablewright.cli.sql",
        "tablewright.engine",
        "tablewright.model",
        "tablewright.verify",
    }
    assert "tablewright.cli.first_design" in loaded
    assert loaded & others == set()


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
