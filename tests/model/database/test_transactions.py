"""`transaction()`: its writes are sent when the block ends."""

from __future__ import annotations

import asyncio

import pytest

from tablewright import connect_async, create
from tablewright.database import Database
from tablewright.errors import AlreadyExists, DeclarationError
from tests.model.database.shop import Account, Ledger, Shop, product, shelf
from tests.transports import record_requests


def test_a_transaction_writes_when_its_block_ends(db: Database) -> None:
    recording = record_requests(db)
    with db.transaction() as tx:
        tx.add(create(product(1)))
        tx.add(create(product(2)), create(Account(account_id="1", holder="ann")))
        assert recording.requests == []
    assert recording.operations == ["TransactWriteItems"]
    assert db.run(shelf("A")) == [product(1), product(2)]


def test_a_transaction_that_fails_writes_nothing_and_says_which_write(db: Database) -> None:
    db.run(create(product(2)))
    with (
        pytest.raises(AlreadyExists, match="write 2 of 2, create Product"),
        db.transaction() as tx,
    ):
        tx.add(create(product(1)), create(product(2)))
    assert db.run(shelf("A")) == [product(2)]


def test_an_exception_inside_a_transaction_comes_out_and_nothing_is_written(db: Database) -> None:
    recording = record_requests(db)

    def fail() -> None:
        with db.transaction() as tx:
            tx.add(create(product(1)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert recording.requests == []


def test_an_empty_transaction_does_nothing(db: Database) -> None:
    recording = record_requests(db)
    with db.transaction():
        pass
    assert recording.requests == []


def test_a_transaction_refuses_what_is_not_a_write(db: Database) -> None:
    with (
        pytest.raises(DeclarationError, match=r"transact\(\) takes writes"),
        db.transaction() as tx,
    ):
        tx.add(shelf("A"))  # type: ignore[arg-type]


def test_an_asynchronous_transaction_writes_when_its_block_ends() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Shop, Ledger) as db:
            recording = record_requests(db)
            async with db.transaction() as tx:
                tx.add(create(product(1)), create(Account(account_id="1", holder="ann")))
                assert recording.requests == []
            assert recording.operations == ["TransactWriteItems"]
            assert await db.run(shelf("A")) == [product(1)]

    asyncio.run(main())


def test_an_exception_inside_an_asynchronous_transaction_writes_nothing() -> None:
    async def main() -> None:
        async with connect_async(":memory:", Shop) as db:
            recording = record_requests(db)

            async def fail() -> None:
                async with db.transaction() as tx:
                    tx.add(create(product(1)))
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await fail()
            async with db.transaction():
                pass
            assert recording.requests == []

    asyncio.run(main())
