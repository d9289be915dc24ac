"""Nothing but update=True enables TTL, a stream or an index on a table that exists."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    connect_async,
    index,
    key,
    put,
    ttl,
)
from tablewright.backoff import Backoff
from tablewright.designs.catalog import load
from tablewright.errors import TableMismatch
from tablewright.model.databases import provision
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import Context, run
from tablewright.publish.infrastructure import cloudformation
from tablewright.server import serving
from tablewright.templates import create_tables, read_tables
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tests import commands

DESIGN = """
from datetime import UTC, datetime
from tablewright import GSI, Attr, Entity, Table, attr, index, key, ttl

class Sessions(Table, name="sessions", stream="KEYS_ONLY"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Session(Entity, table=Sessions):
    session_id: Attr[str] = attr()
    expires: Attr[datetime] = ttl()
    primary = key("SESSION" / session_id, "SESSION")
    all = index(Sessions.gsi1, "SESSIONS", session_id)

def sample():
    return [Session(session_id="2", expires=datetime(2050, 1, 1, tzinfo=UTC))]
"""


class First(Table, name="sessions"):
    """The table has neither TTL nor an index nor a stream."""


class FirstSession(Entity, table=First, type_name="Session"):
    session_id: Attr[str] = attr()
    expires: Attr[int] = attr()
    primary = key("SESSION" / session_id, "SESSION")


class Sessions(Table, name="sessions", stream="KEYS_ONLY"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Session(Entity, table=Sessions):
    session_id: Attr[str] = attr()
    expires: Attr[datetime] = ttl()
    primary = key("SESSION" / session_id, "SESSION")
    all = index(Sessions.gsi1, "SESSIONS", session_id)


EXPIRED = FirstSession(session_id="1", expires=1_000_000_000)
MISSING = (
    "the table 'sessions' differs from its declaration, Sessions:\n"
    "  stream: declared KEYS_ONLY, found none; connect(…, update=True) adds it\n"
    "  index gsi1: declared but missing; connect(…, update=True) adds it\n"
    "  TTL: declared expires, found none; connect(…, update=True) adds it"
)


@contextmanager
def stored(kind: str, folder: Path) -> Iterator[Any]:
    """Store an expired item; at the end it must be there, in the same table."""
    file = str(folder / "sessions.db") if kind == "file" else ":memory:"
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(file))
        connect(engine, First, update=True).run(put(EXPIRED))
        before = state(engine)
        if kind == "file":
            engine.close()
            yield file
            engine = stack.enter_context(Engine(file))
        else:
            yield engine if kind == "memory" else stack.enter_context(serving(engine))
        assert state(engine) == before
        assert engine.expire() == 0
        assert connect(engine, First).run(FirstSession.primary("1")) == EXPIRED


@pytest.fixture(params=["memory", "file", "endpoint"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with stored(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=["file", "endpoint"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with stored(request.param, tmp_path) as found:
        yield found


def state(engine: Engine) -> list[Any]:
    named = {"TableName": "sessions"}
    found = engine.call("DescribeTable", named)["Table"]
    members = ("GlobalSecondaryIndexes", "StreamSpecification", "LatestStreamArn")
    return [engine.call("DescribeTimeToLive", named), *map(found.get, members)]


@pytest.mark.parametrize("create", [None, True, False])
def test_connect_reports_what_the_table_lacks(target: Any, create: bool | None) -> None:
    with pytest.raises(TableMismatch) as refused:
        connect(target, Sessions, create=create)
    assert str(refused.value) == MISSING


def test_connect_async_reports_what_the_table_lacks(target: Any) -> None:
    async def main() -> None:
        async with connect_async(target, Sessions, create=True):
            pass

    with pytest.raises(TableMismatch) as refused:
        asyncio.run(main())
    assert str(refused.value) == MISSING


def source(folder: Path) -> Path:
    """Return a file with a table that has TTL, an index and a stream."""
    file = folder / "source.db"
    with connect(file, Sessions):
        pass
    return file


COMMANDS: dict[str, Callable[[Path, Any], list[Any]]] = {
    "seed": lambda design, target: ["seed", design, target],
    "verify": lambda design, target: ["verify", design, target],
    "create-tables": lambda design, target: ["create-tables", design, target],
    "copy": lambda design, target: ["copy", source(design.parent), target],
    "backfill": lambda design, target: ["backfill", design, target],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_changes_a_table_that_exists(command: str, address: str, tmp_path: Path) -> None:
    design = tmp_path / "sessions.py"
    design.write_text(DESIGN)
    done = commands.run(*COMMANDS[command](design, address))
    if command in ("seed", "create-table"):
        assert "TTL: declared expires, found none; connect(…, update=True) adds it" in done.stderr
    else:
        assert "Usage" not in done.stderr


def test_load_does_not_change_a_table_that_exists(address: str, tmp_path: Path) -> None:
    assert commands.run("dump", source(tmp_path), tmp_path / "dump").returncode == 0
    commands.run("load", tmp_path / "dump", address)


def test_a_template_does_not_change_a_table_that_exists(tmp_path: Path) -> None:
    (tmp_path / "sessions.py").write_text(DESIGN)
    template = tmp_path / "template.json"
    template.write_text(json.dumps(cloudformation(load(str(tmp_path / "sessions.py")))))
    with stored("memory", tmp_path) as engine:
        (outcome,) = create_tables(engine, read_tables(template))
        assert any(line.startswith("TTL: declared expires") for line in outcome.differences)


class Stopping(Local):
    """A process that stops when it has created the table."""

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateTimeToLive":
            raise KeyboardInterrupt
        return super().send(operation, request)


def test_a_table_that_another_process_just_creates_is_no_mismatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other process has created the table, but not enabled its TTL yet."""
    monkeypatch.setattr(provision, "TTL_FOLLOWS", Backoff(attempts=3, first=0.0, longest=0.0))
    table = Sessions.__table__
    context = Context(names={table: table.name}, secret=b"")
    with Engine() as engine:
        creating = Provision(table, create=True)
        with pytest.raises(KeyboardInterrupt):
            run(creating, context, Stopping(engine).send)

        specification = {"AttributeName": "expires", "Enabled": True}
        remaining = [{"TableName": "sessions", "TimeToLiveSpecification": specification}]

        def send(operation: str, request: dict[str, Any]) -> Response:
            answer = Local(engine).send(operation, request)
            if operation == "DescribeTimeToLive" and remaining:
                engine.call("UpdateTimeToLive", remaining.pop())
            return answer

        run(creating, context, send)


def test_a_table_whose_creation_was_interrupted_gets_its_ttl_with_update(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provision, "TTL_FOLLOWS", Backoff(attempts=3, first=0.0, longest=0.0))
    table = Sessions.__table__
    with Engine() as engine:
        context = Context(names={table: table.name}, secret=b"")
        with pytest.raises(KeyboardInterrupt):
            run(Provision(table, create=True), context, Stopping(engine).send)
        for create in (None, True):
            with pytest.raises(TableMismatch, match="TTL: declared expires, found none; connect"):
                connect(engine, Sessions, create=create)
        connect(engine, Sessions, update=True)
        connect(engine, Sessions)
