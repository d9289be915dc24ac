"""The asynchronous database does what the synchronous one does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablewright import (
    Engine,
    batch_get,
    batch_write,
    condition_check,
    connect,
    connect_async,
    create,
    delete,
    put,
    transact,
)
from tablewright.errors import (
    DeclarationError,
    InvalidValue,
    StoreClosed,
    TableMismatch,
    TableNotFound,
    TablewrightError,
)
from tablewright.plans import Plan
from tests.model.database.shop import (
    Account,
    Empty,
    Ledger,
    Product,
    Shop,
    engine_of,
    items,
    product,
    shelf,
    ttl_of,
)
from tests.transports import record_requests

# -- asynchronously --------------------------------------------------------------------------------


def test_an_asynchronous_database_makes_its_tables_and_closes() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Shop, Ledger) as db:
            assert engine_of(db).call("ListTables") == {"TableNames": ["ledger", "shop"]}
            assert ttl_of(engine_of(db), "shop")["AttributeName"] == "expires"
            assert repr(db) == "AsyncDatabase(shop, ledger)"
        with pytest.raises(StoreClosed):
            await db.run(shelf("A"))

    asyncio.run(main())


def test_a_connection_can_be_awaited_or_entered_or_run_as_a_coroutine() -> None:
    async def main() -> None:
        db = await connect_async(":memory:", Shop)
        await db.close()
        async with await connect_async(":memory:", Shop) as db:
            assert await db.run(shelf("A")) == []
        first, second = await asyncio.gather(
            connect_async(":memory:", Shop),
            asyncio.create_task(connect_async(":memory:", Shop)),
        )
        for each in first, second:
            await each.close()

    asyncio.run(main())
    db = asyncio.run(connect_async(":memory:", Shop))
    assert repr(db) == "AsyncDatabase(shop)"
    asyncio.run(db.close())


def test_a_connection_closes_its_database_after_an_error_in_the_block() -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            async with connect_async(":memory:", Shop) as db:
                raise ZeroDivisionError
        with pytest.raises(StoreClosed):
            await db.run(shelf("A"))

    asyncio.run(main())


def test_an_asynchronous_connection_refuses_as_the_other_does(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(TableNotFound):
            await connect_async(tmp_path / "shop.db", Shop, create=False)
        with pytest.raises(InvalidValue):
            await connect_async(tmp_path / "shop.db")
        with pytest.raises(DeclarationError):
            await connect_async(tmp_path / "shop.db", Empty)
        with Engine() as engine:
            connect(engine, Ledger, table_name="shop")
            with pytest.raises(TableMismatch):
                await connect_async(engine, Shop)
            assert engine.call("ListTables") == {"TableNames": ["shop"]}

    asyncio.run(main())


def test_fifty_writes_at_once_are_all_done() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Shop) as db:
            written = await asyncio.gather(*(db.run(create(product(n))) for n in range(50)))
            assert written == [product(n) for n in range(50)]
            found = [found async for found in db.iterate(shelf("A").page_size(20))]
            assert sorted(found, key=lambda p: int(p.product_id[1:])) == written
            assert engine_of(db).check()

    asyncio.run(main())


def test_fifty_deposits_at_once_into_a_versioned_account_are_all_counted() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Ledger) as db:
            await db.run(create(Account(account_id="1", holder="ann")))
            deposit = Account.primary("1").update(Account.balance.increment(1))
            await asyncio.gather(*(db.run(deposit) for _ in range(50)))
            found = await db.run(Account.primary("1"))
            assert found is not None
            assert (found.balance, found.version) == (50, 51)

    asyncio.run(main())


def test_iterate_is_lazy_in_an_event_loop_too() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Shop) as db:
            for number in range(5):
                await db.run(create(product(number)))
            recording = record_requests(db)
            each = db.iterate(shelf("A").page_size(2))
            assert recording.requests == []
            assert await anext(each) == product(0)
            assert len(recording.requests) == 1
            assert [found async for found in each] == [product(n) for n in range(1, 5)]
            assert len(recording.requests) == 3

    asyncio.run(main())


def test_a_write_does_not_block_the_event_loop(tmp_path: Path) -> None:
    """The file is locked for as long as the loop needs to say so."""

    async def main() -> None:
        async with connect_async(tmp_path / "shop.db", Shop) as db:
            other = apsw.Connection(str(tmp_path / "shop.db"))
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(db.run(create(product(1))))
            for _ in range(100):
                await asyncio.sleep(0)
            assert not writing.done()
            assert await db.run(shelf("A")) == []
            other.execute("ROLLBACK")
            other.close()
            assert await writing == product(1)
            assert await db.run(shelf("A")) == [product(1)]

    asyncio.run(main())


# -- both ------------------------------------------------------------------------------------------


ANN, BOB = "ann", "bob"


def account(number: int, holder: str, **more: Any) -> Account:
    return Account(account_id=str(number), holder=holder, **more)


#: Plans, run one after the other; a plan is made when its turn comes.
PLANS: dict[str, list[Callable[[], Plan[Any]]]] = {
    "get": [
        lambda: create(product(1)),
        lambda: Product.primary("A", "P1"),
        lambda: Product.primary("A", "P1").consistent(),
        lambda: Product.primary("A", "none"),
    ],
    "batch": [
        lambda: batch_write(put(product(n)) for n in range(60)),
        lambda: batch_get(Product.primary("A", f"P{n}") for n in (7, 99, 3, 7)),
        lambda: batch_write([*(delete(product(n)) for n in range(30)), put(product(99))]),
        lambda: shelf("A").count(),
        lambda: batch_write([put(product(1)), delete(product(1))]),
    ],
    "query": [
        lambda: batch_write(put(product(n, rank=n % 2)) for n in range(9)),
        lambda: shelf("A"),
        lambda: shelf("A").page_size(2),
        lambda: shelf("A").desc().first(),
        lambda: shelf("A").filter(Product.rank == 1),
        lambda: shelf("A").select(Product.product_id, Product.rank),
        lambda: Product.named("A").begins_with("Title 3"),
        lambda: Product.newest().gte(datetime(2026, 1, 1, tzinfo=UTC)).count(),
        lambda: Product.where(Product.shelf == "A", Product.product_id == "P3"),
        lambda: Product.scan(reason="test").filter(Product.rank == 0),
        lambda: shelf("A").after("no cursor at all"),
        lambda: Product.by_rank(1),  # its index holds not enough of it
    ],
    "write": [
        lambda: create(account(1, ANN)),
        lambda: create(account(1, BOB)),
        lambda: create(account(2, ANN)),
        lambda: put(account(1, ANN)),
        lambda: Account.by_holder(ANN),
        lambda: Account.primary("1").update(Account.holder.set(BOB), Account.balance.increment(5)),
        lambda: Account.by_holder(ANN),
        lambda: Account.by_holder(BOB),
        lambda: Account.primary("1").update(Account.account_id.set("9")),
        lambda: Account.primary("9").update(Account.balance.set(1)).condition(Account.version == 1),
        lambda: (
            Account.primary("9").update(Account.balance.set(1)).condition(Account.balance > 100)
        ),
        lambda: Account.primary("1").update(Account.balance.set(1)),
        lambda: Account.primary("9").delete(),
        lambda: Account.primary("9").delete(),
        lambda: Account.scan(reason="test"),
    ],
    "transaction": [
        lambda: create(product(1)),
        lambda: transact(create(account(1, ANN)), condition_check(Product.primary("A", "P1"))),
        lambda: transact(create(account(2, BOB)), condition_check(Product.primary("A", "P2"))),
        lambda: transact(create(account(3, ANN)), create(product(3))),
        lambda: transact(create(product(4)), create(product(4))),
        lambda: Account.scan(reason="test"),
        lambda: shelf("A"),
    ],
}


Outcome = tuple[str, Any]


def told(error: TablewrightError) -> Outcome:
    return type(error).__name__, (
        getattr(error, "message", str(error)),
        getattr(error, "current", None),
    )


def in_turn(plans: list[Callable[[], Plan[Any]]]) -> tuple[list[Outcome], list[Any]]:
    outcomes: list[Outcome] = []
    with connect(":memory:", Shop, Ledger, cursor_secret="secret") as db:
        for make in plans:
            try:
                outcomes.append(("result", db.run(make())))
            except TablewrightError as error:
                outcomes.append(told(error))
        return outcomes, [items(engine_of(db), name) for name in ("shop", "ledger")]


async def in_a_loop(plans: list[Callable[[], Plan[Any]]]) -> tuple[list[Outcome], list[Any]]:
    outcomes: list[Outcome] = []
    async with connect_async(":memory:", Shop, Ledger, cursor_secret="secret") as db:
        for make in plans:
            try:
                outcomes.append(("result", await db.run(make())))
            except TablewrightError as error:
                outcomes.append(told(error))
        return outcomes, [items(engine_of(db), name) for name in ("shop", "ledger")]


@pytest.mark.parametrize("plans", PLANS.values(), ids=PLANS)
def test_both_drivers_give_the_same_results_errors_and_items(
    plans: list[Callable[[], Plan[Any]]],
) -> None:
    assert in_turn(plans) == asyncio.run(in_a_loop(plans))


def test_the_plans_that_both_drivers_run_are_refused_where_they_should_be() -> None:
    """So that the comparison above compares something."""
    refused = {name: [kind for kind, _ in in_turn(plans)[0]] for name, plans in PLANS.items()}
    errors = {name: [kind for kind in kinds if kind != "result"] for name, kinds in refused.items()}
    assert errors == {
        "get": [],
        "batch": ["InvalidValue"],
        "query": ["InvalidCursor", "DeclarationError"],
        "write": [
            "AlreadyExists",
            "UniqueViolation",
            "VersionConflict",
            "VersionConflict",
            "ConditionFailed",
            "NotFound",
        ],
        "transaction": ["NotFound", "UniqueViolation", "InvalidValue"],
    }


def test_both_drivers_send_the_same_requests() -> None:
    def send() -> list[Any]:
        with connect(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            for make in PLANS["write"]:
                try:
                    db.run(make())
                except TablewrightError:
                    continue
            return recording.requests

    async def send_async() -> list[Any]:
        async with connect_async(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            for make in PLANS["write"]:
                try:
                    await db.run(make())
                except TablewrightError:
                    continue
            return recording.requests

    assert send() == asyncio.run(send_async())


def test_a_synchronous_and_an_asynchronous_database_share_a_file_and_its_cursors(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        file = tmp_path / "shop.db"
        with connect(file, Shop, cursor_secret="secret") as db:
            async with connect_async(file, Shop, cursor_secret="secret") as other:
                for number in range(4):
                    await other.run(create(product(number)))
                page = db.run(shelf("A").page_size(2))
                following = await other.run(shelf("A").page_size(2).after(page.next_cursor))
                assert [*page, *following] == [product(number) for number in range(4)]

    asyncio.run(main())
