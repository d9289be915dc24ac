"""Threads and processes that write one file at once lose no update of each other's."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import ConditionalCheckFailedException, TransactionCanceledException
from tests.durability.counter import ADDED, GUARDED, count
from tests.durability.orders import NAME, TABLE, contents
from tests.durability.test_kill import child


def new_engine(where: Path | str) -> Engine:
    engine = Engine(where)
    engine.call("CreateTable", TABLE)
    item = {**GUARDED, "status": {"S": "guarded"}, "total": {"N": "0"}}
    engine.call("PutItem", {"TableName": NAME, "Item": item})
    return engine


def totals(engine: Engine) -> list[str]:
    keys = [ADDED, GUARDED]
    found = [engine.call("GetItem", {"TableName": NAME, "Key": key})["Item"] for key in keys]
    return [item["total"]["N"] for item in found]


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_eight_threads_lose_no_update(where: str, tmp_path: Path) -> None:
    with new_engine(where if where == ":memory:" else tmp_path / where) as engine:
        count(engine, threads=8, turns=15)
        assert totals(engine) == ["120", "120"]
        assert engine.check()


@pytest.mark.slow
def test_two_processes_of_four_threads_lose_no_update(tmp_path: Path) -> None:
    file = tmp_path / "orders.db"
    with new_engine(file) as engine:
        with ExitStack() as stack:
            arguments = ("tests.durability.counter", file, "4", "25")
            processes = [stack.enter_context(child(*arguments)) for _ in range(2)]
            assert [process.wait(120) for process in processes] == [0, 0]
        assert totals(engine) == ["200", "200"]
        assert engine.check()


def test_of_many_that_create_one_item_exactly_one_succeeds(tmp_path: Path) -> None:
    with new_engine(tmp_path / "orders.db") as engine:
        created: list[int] = []
        barrier = threading.Barrier(8)

        def create(number: int) -> None:
            item = {"pk": {"S": "one"}, "sk": {"S": "only"}, "by": {"N": str(number)}}
            barrier.wait(30)
            request = {"TableName": NAME, "Item": item}
            try:
                engine.call(
                    "PutItem", {**request, "ConditionExpression": "attribute_not_exists(pk)"}
                )
            except ConditionalCheckFailedException:
                return
            created.append(number)

        threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert contents(engine)["one/only"]["by"] == {"N": str(*created)}


def test_transfers_between_accounts_keep_their_sum(tmp_path: Path) -> None:
    """A reader that gets both accounts in one transaction never sees half a transfer."""
    accounts: list[dict[str, Any]] = [{"pk": {"S": "account"}, "sk": {"S": sk}} for sk in "ab"]
    with new_engine(tmp_path / "orders.db") as engine:
        for account in accounts:
            item = {**account, "total": {"N": "100"}}
            engine.call("PutItem", {"TableName": NAME, "Item": item})
        sums: set[int] = set()
        stop = threading.Event()

        def change(account: dict[str, Any], by: int) -> dict[str, Any]:
            update = {
                "TableName": NAME,
                "Key": account,
                "UpdateExpression": "ADD #t :by",
                "ConditionExpression": "#t >= :least",
                "ExpressionAttributeNames": {"#t": "total"},
                "ExpressionAttributeValues": {":by": {"N": str(by)}, ":least": {"N": str(-by)}},
            }
            return {"Update": update}

        def transfer(amount: int) -> None:
            source, target = accounts if amount % 2 else accounts[::-1]
            for _ in range(20):
                actions = [change(source, -amount), change(target, amount)]
                try:
                    engine.call("TransactWriteItems", {"TransactItems": actions})
                except TransactionCanceledException:
                    continue  # the account is empty

        def watch() -> None:
            gets = [{"Get": {"TableName": NAME, "Key": account}} for account in accounts]
            while not stop.is_set():
                found = engine.call("TransactGetItems", {"TransactItems": gets})["Responses"]
                sums.add(sum(int(response["Item"]["total"]["N"]) for response in found))

        watcher = threading.Thread(target=watch)
        watcher.start()
        movers = [threading.Thread(target=transfer, args=(amount,)) for amount in (7, 8, 30, 31)]
        for mover in movers:
            mover.start()
        for mover in movers:
            mover.join(60)
        stop.set()
        watcher.join(60)
        assert sums == {200}
        assert engine.check()
