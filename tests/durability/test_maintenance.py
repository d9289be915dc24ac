"""Work that is done in steps survives kills, and several processes may share it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine, maintenance
from tablewright.errors import ResourceNotFoundException, ValidationException
from tests.durability.orders import everything
from tests.durability.test_kill import child
from tests.durability.test_sharing import RED, adding, table

ROWS = 22  # five steps
CREATE: tuple[str, dict[str, Any]] = ("UpdateTable", adding("colour"))
DELETE: tuple[str, dict[str, Any]] = ("DeleteTable", {"TableName": "shared"})


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 5)
    monkeypatch.setattr(maintenance, "MAX_CHUNK_BYTES", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a table of 22 items."""
    path = tmp_path / "start.db"
    with Engine(path, durability="normal") as engine:
        engine.call("CreateTable", table())
        for number in range(ROWS):
            put(engine, number)
    return path


def put(engine: Engine, number: int, colour: str = "red") -> None:
    item = {"pk": {"S": f"k{number}"}, "colour": {"S": colour}, "note": {"S": "x" * number}}
    engine.call("PutItem", {"TableName": "shared", "Item": item})


def killed(directory: Path, request: tuple[str, dict[str, Any]]) -> Iterator[Engine]:
    """Engines on the files of processes that died while they did the request, and its work."""
    program = ("tests.durability.maintainer", "die", directory, json.dumps(request))
    with child(*program) as process:
        assert process.wait(60) == 0
    files = sorted(directory.glob("[0-9]*.db"), key=lambda file: int(file.stem))
    assert len(files) > 5
    for file in files:
        with Engine(file, durability="normal", background=False) as engine:
            assert engine.check().problems == []
            yield engine
            assert not engine.maintain()
            assert engine.check().problems == []


def index_state(engine: Engine) -> str:
    """CREATING or ACTIVE; nothing if there is no index."""
    described = engine.call("DescribeTable", {"TableName": "shared"})["Table"]
    indexes = described.get("GlobalSecondaryIndexes", [{"IndexStatus": ""}])
    return str(indexes[0]["IndexStatus"])


@pytest.mark.slow
def test_an_index_whose_builder_was_killed_is_finished(path: Path) -> None:
    states = set()
    for engine in killed(path.parent, CREATE):
        states.add(index_state(engine))
        if not index_state(engine):
            engine.call(*CREATE)
        put(engine, 1, "blue")
        put(engine, 1000)
        engine.finish_maintenance()
        assert index_state(engine) == "ACTIVE"
        assert engine.call("Query", RED)["Count"] == ROWS
    assert states == {"", "CREATING", "ACTIVE"}


@pytest.mark.slow
def test_a_table_whose_deletion_was_killed_is_deleted(path: Path) -> None:
    steps = set()
    for engine in killed(path.parent, DELETE):
        if engine.call("ListTables")["TableNames"]:
            engine.call(*DELETE)
        engine.call("CreateTable", table())
        put(engine, 1)
        left = 0
        while engine.maintain():
            left += 1
        steps.add(left)
        assert len(everything(engine, "shared")) == 1
    assert len(steps) > 3  # they died in different steps


@pytest.mark.slow
def test_several_processes_build_one_index_while_another_writes(path: Path) -> None:
    with Engine(path, background=False) as engine, ExitStack() as stack:
        engine.call(*CREATE)
        builders = [
            stack.enter_context(child("tests.durability.maintainer", "finish", path))
            for _ in range(2)
        ]
        for number in range(ROWS):
            put(engine, number, "blue")
            put(engine, 100 + number)
        for builder in builders:
            assert builder.wait(60) == 0
        assert index_state(engine) == "ACTIVE"
        assert engine.call("Query", RED)["Count"] == ROWS
        assert engine.check().problems == []


def test_engines_take_turns_at_one_index(path: Path) -> None:
    with Engine(path, background=False) as one, Engine(path, background=False) as two:
        one.call(*CREATE)
        while one.maintain() and two.maintain():
            assert one.check().problems == []
        assert [index_state(one), index_state(two)] == ["ACTIVE"] * 2
        assert not one.maintain()
        assert not two.maintain()


def test_an_index_built_by_another_engine_is_read_once_it_is_ready(path: Path) -> None:
    with Engine(path, background=False) as engine, Engine(path, background=False) as other:
        assert len(everything(engine, "shared")) == ROWS
        other.call(*CREATE)
        with pytest.raises(ValidationException, match="backfilling"):
            engine.call("Query", RED)
        other.finish_maintenance()
        assert engine.call("Query", RED)["Count"] == ROWS


def test_a_table_deleted_by_another_engine_is_gone_at_once(path: Path) -> None:
    with Engine(path, background=False) as engine, Engine(path, background=False) as other:
        assert len(everything(engine, "shared")) == ROWS
        other.call(*DELETE)
        with pytest.raises(ResourceNotFoundException):
            everything(engine, "shared")
        with pytest.raises(ResourceNotFoundException):
            put(engine, 1)
        other.finish_maintenance()
        assert engine.check().problems == []
