"""An engine answers with the newest state after a call that was interrupted at any point."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import ResourceNotFoundException
from tests.engine.database import item, table_request
from tests.storage.interrupts import every_opcode
from tests.storage.test_interruptions import COMMIT_PATH, READ_PATH

KEY = item(pk="a", sk="1")


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two engines on one file, as two processes have it."""
    path = tmp_path / "shared.db"
    with Engine(path, durability="normal") as one, Engine(path, durability="normal") as other:
        one.call("CreateTable", table_request("things"))
        yield one, other


def put(engine: Engine, number: int) -> None:
    thing = KEY | {"number": {"N": str(number)}}
    engine.call("PutItem", {"TableName": "things", "Item": thing})


def number(engine: Engine) -> int:
    request = {"TableName": "things", "Key": KEY, "ConsistentRead": True}
    return int(engine.call("GetItem", request)["Item"]["number"]["N"])


READS: dict[str, dict[str, Any]] = {
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "things", "Key": KEY}}]},
    "Scan": {"TableName": "things"},
    "GetItem": {"TableName": "missing", "Key": KEY},  # which looks again before it says so
}


@pytest.mark.parametrize("operation", READS)
def test_a_consistent_read_after_an_interrupted_read_sees_the_newest_value(
    engines: tuple[Engine, Engine], operation: str
) -> None:
    one, other = engines

    def read() -> None:
        with suppress(ResourceNotFoundException):
            one.call(operation, READS[operation])

    put(other, 0)
    for opcode in every_opcode(READ_PATH, read):
        put(other, opcode + 1)
        assert number(one) == opcode + 1


def test_a_table_whose_creation_was_interrupted_is_there_or_not_for_everyone(
    engines: tuple[Engine, Engine],
) -> None:
    """What the engine knows of its tables is forgotten when the change is rolled back."""
    one, other = engines
    for opcode in every_opcode(COMMIT_PATH, lambda: one.call("CreateTable", table_request("new"))):
        assert one.call("ListTables") == other.call("ListTables")
        request = {"TableName": "new", "Item": KEY}
        if "new" in other.call("ListTables")["TableNames"]:
            one.call("PutItem", request)
            one.call("DeleteTable", {"TableName": "new"})
        else:
            with pytest.raises(ResourceNotFoundException):
                one.call("PutItem", request)
        put(one, opcode)
        assert number(other) == opcode
    one.call("PutItem", request)
    assert one.check()
