"""Threads and processes that share a database."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine, connect, create
from tablewright.database import Database
from tablewright.errors import AlreadyExists, ResourceInUseException
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import run
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tests.model.database.shop import Account, Ledger, Shop, engine_of, items, ttl_of

ROOT = Path(__file__).parents[3]


def rows(engine: Engine, name: str = "ledger") -> list[str]:
    return sorted(item["PK"]["S"] for item in items(engine, name))


# -- several at once -------------------------------------------------------------------------------


def test_a_table_that_another_makes_at_the_same_moment_is_taken_as_it_is() -> None:
    """Between our look and our CreateTable, somebody else makes the table."""
    with Engine() as engine, connect(":memory:", Shop) as some:
        local = Local(engine)
        overtaken: list[Database] = []

        def send(operation: str, request: dict[str, Any]) -> Response:
            if operation == "CreateTable" and not overtaken:
                overtaken.append(connect(engine, Shop))
                with pytest.raises(ResourceInUseException):
                    local.send(operation, request)
            return local.send(operation, request)

        run(Provision(Shop.__table__, create=True), some._context, send)
        assert ttl_of(engine, "shop")["TimeToLiveStatus"] == "ENABLED"


@pytest.mark.parametrize("turn", range(12))
def test_threads_that_open_one_new_file_at_once_all_get_the_table(
    tmp_path: Path, turn: int
) -> None:
    """Several rounds: what can go wrong takes a moment to meet."""
    barrier = threading.Barrier(6)

    def open_and_write(number: int) -> None:
        barrier.wait(30)
        with connect(tmp_path / "ledger.db", Ledger) as db:
            db.run(create(Account(account_id=str(number), holder=f"h{number}")))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_and_write, range(6)))
    with connect(tmp_path / "ledger.db", Ledger, create=False) as db:
        assert db.run(Account.scan(reason="test").count()) == 6
        assert engine_of(db).check()


def test_threads_share_one_database_and_lose_no_update(tmp_path: Path) -> None:
    with connect(tmp_path / "ledger.db", Ledger) as db:
        db.run(create(Account(account_id="1", holder="ann")))

        def deposit(_: int) -> None:
            db.run(Account.primary("1").update(Account.balance.increment(1)))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(deposit, range(40)))
        found = db.run(Account.primary("1"))
        assert found is not None
        assert (found.balance, found.version) == (40, 41)


def test_of_threads_that_create_one_entity_exactly_one_succeeds(tmp_path: Path) -> None:
    barrier = threading.Barrier(4)
    with connect(tmp_path / "ledger.db", Ledger) as db:

        def attempt(number: int) -> str:
            barrier.wait(30)
            try:
                db.run(create(Account(account_id="1", holder=f"h{number}")))
            except AlreadyExists:
                return "refused"
            return "created"

        with ThreadPoolExecutor(4) as pool:
            outcomes = sorted(pool.map(attempt, range(4)))
        assert outcomes == ["created", "refused", "refused", "refused"]
        assert len(rows(engine_of(db))) == 2  # the account, and its sentinel


DEPOSIT = """
import sys
from tablewright import connect
from tests.model.database.shop import Account, Ledger

with connect(sys.argv[1], Ledger) as db:
    for _ in range(10):
        db.run(Account.primary("1").update(Account.balance.increment(1)))
"""


@pytest.mark.slow
def test_two_processes_write_one_file_and_lose_no_update(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with connect(file, Ledger) as db:
        db.run(create(Account(account_id="1", holder="ann")))
        command = [sys.executable, "-c", DEPOSIT, str(file)]
        others = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
        assert [other.wait(120) for other in others] == [0, 0]
        found = db.run(Account.primary("1"))
        assert found is not None
        assert (found.balance, found.version) == (20, 21)
        assert engine_of(db).check()
