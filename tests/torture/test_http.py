from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.durability.opener import table
from tests.server.http import Client
from tests.torture.playing import play
from torture.http import ALL, NAME, PART
from torture.processes import Served, served

pytestmark = pytest.mark.slow

#: Those that send many megabytes, for the whole run.
SLOW = {"stays_in_body", "too_large", "leaves_in_body"}


def test_hostile_clients_leave_a_server_that_works(tmp_path: Path) -> None:
    assert play(PART, 1, tmp_path).counts["attacks"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http") / "http.db") as server:
        with Client(server.url) as client:
            assert client.call("CreateTable", table(NAME)).status == 200
            assert client.call("CreateTable", table("kept")).status == 200
        yield server


@pytest.mark.parametrize(
    "assault", [each for each in ALL if each.__name__ not in SLOW], ids=lambda each: each.__name__
)
def test_a_server_works_after_each_attack(server: Served, assault: Any) -> None:
    logged = len(server.log)
    with Client(server.url) as hostile, Client(server.url) as client:
        tables = client.call("ListTables").json
        with suppress(OSError, EOFError):  # the server may refuse it
            assault(hostile, random.Random(0))
        assert client.call("ListTables").json == tables
    assert "Traceback" not in server.log[logged:]
