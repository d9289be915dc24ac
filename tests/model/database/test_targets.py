"""What a database connects to, and what it refuses as a target or a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from tablewright import Engine, connect, connect_async, create
from tablewright.database import Database
from tablewright.errors import InvalidValue, StoreClosed, TableNotFound
from tests.model.database.shop import Ledger, Product, Shop, items, product, shelf

# -- where to --------------------------------------------------------------------------------------


def test_a_database_in_memory_is_its_own() -> None:
    with connect(":memory:", Shop) as one, connect(":memory:", Shop) as other:
        one.run(create(product(1)))
        assert one.run(shelf("A")) == [product(1)]
        assert other.run(shelf("A")) == []


@pytest.mark.parametrize("spelling", [str, Path])
def test_a_database_in_a_file_is_there_the_next_time(
    tmp_path: Path, spelling: Callable[[Path], str | Path]
) -> None:
    with connect(spelling(tmp_path / "shop.db"), Shop) as db:
        db.run(create(product(1)))
    with connect(spelling(tmp_path / "shop.db"), Shop) as db:
        assert db.run(shelf("A")) == [product(1)]


def test_an_engine_that_is_open_stays_open_when_the_database_is_closed() -> None:
    with Engine() as engine:
        with connect(engine, Shop) as db:
            db.run(create(product(1)))
        assert len(items(engine)) == 1
        assert connect(engine, Shop).run(shelf("A")) == [product(1)]


def test_an_engine_stays_open_when_the_connection_fails() -> None:
    with Engine() as engine:
        with pytest.raises(TableNotFound):
            connect(engine, Shop, create=False)
        assert engine.call("ListTables") == {"TableNames": []}


def test_with_closes_the_database() -> None:
    with connect(":memory:", Shop) as db:
        pass
    with pytest.raises(StoreClosed):
        db.run(shelf("A"))


def test_with_closes_the_database_when_its_block_fails() -> None:
    with pytest.raises(ZeroDivisionError), connect(":memory:", Shop) as db:
        raise ZeroDivisionError
    with pytest.raises(StoreClosed):
        db.run(shelf("A"))


def test_closing_twice_is_no_error() -> None:
    db = connect(":memory:", Shop)
    db.close()
    db.close()
    with pytest.raises(StoreClosed):
        db.run(shelf("A"))


def test_what_is_neither_a_path_nor_an_engine_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"'ftp://host' is not a target"):
        connect("ftp://host", Shop)


@pytest.mark.parametrize(
    "target", ["localhost:8000", "memory:", "http:/localhost:8000", "dynamodb:/eu-west-1"]
)
def test_a_mistyped_target_creates_no_file(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidValue, match=f"'{target}' is not a target; use ':memory:', a file"):
        connect(target, Shop)
    assert not list(tmp_path.iterdir())


def test_a_path_may_have_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connect(Path("shop:1"), Shop).close()
    connect("./shop:2", Shop).close()
    assert {"shop:1", "shop:2"} <= {file.name for file in tmp_path.iterdir()}


def test_a_database_shows_the_names_of_its_tables() -> None:
    with connect(":memory:", Shop, Ledger) as db:
        assert repr(db) == "Database(shop, ledger)"


# -- what is no target, and no plan ----------------------------------------------------------------


@pytest.mark.parametrize("target", [None, 5, object(), b":memory:", "", Shop, {"path": "x"}])
def test_an_object_that_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises(
        InvalidValue, match=r"is not a valid target; use ':memory:', a file, an Engine"
    ):
        connect(target, Shop)
    with pytest.raises(InvalidValue, match=r"is not a valid target"):
        asyncio.run(connect_async(target, Shop))


def test_a_client_of_boto3_is_no_target() -> None:
    client: Any = boto3.client(
        "dynamodb", "eu-west-1", aws_access_key_id="any", aws_secret_access_key="any"
    )
    with pytest.raises(InvalidValue, match=r"is not a valid target; .* dynamodb://region"):
        connect(client, Shop)


async def run_async(plan: Any) -> None:
    async with connect_async(":memory:", Shop) as db:
        await db.run(plan)


async def each_async(plan: Any) -> None:
    async with connect_async(":memory:", Shop) as db:
        async for _ in db.iterate(plan):
            pass


NO_PLANS = [None, Product, product(1), Product.primary, "shelf", [Product.primary("b", "1")]]


@pytest.mark.parametrize("wrong", NO_PLANS)
def test_what_is_no_plan_is_not_run(db: Database, wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=r"run\(\) takes a plan, such as"):
        db.run(wrong)
    with pytest.raises(InvalidValue, match=r"run\(\) takes a plan, such as"):
        asyncio.run(run_async(wrong))


@pytest.mark.parametrize("wrong", [*NO_PLANS, create(product(1))])
def test_what_is_no_query_has_no_pages(db: Database, wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=r"iterate\(\) takes a query, such as"):
        next(db.iterate(wrong))
    with pytest.raises(InvalidValue, match=r"iterate\(\) takes a query, such as"):
        asyncio.run(each_async(wrong))


def test_a_pattern_that_was_not_called_is_not_run(db: Database) -> None:
    uncalled: Any = shelf
    with pytest.raises(InvalidValue, match=r"shelf is a pattern; call it and .*: shelf\(…\)"):
        db.run(uncalled)
    with pytest.raises(InvalidValue, match=r"shelf is a pattern; call it"):
        next(db.iterate(uncalled))
