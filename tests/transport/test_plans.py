"""The whole path: plans, the remote transport, a real endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    Attr,
    Entity,
    Page,
    Query,
    Table,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    connect,
    connect_async,
    create,
    key,
    put,
    transact,
)
from tablewright.database import AsyncDatabase
from tablewright.designs.catalog import bundled
from tablewright.engine import Engine
from tablewright.errors import TableNotFound, UnknownOperationException, UnsupportedOperation
from tablewright.plan.writes.several import Transaction
from tablewright.server import serving
from tablewright.verify import Check, Design, Raises, verify
from tablewright.verify.contents import Scanner
from tablewright.verify.seeding import load_sample
from tests.transport.conftest import MakeClient
from tests.transport.proxy import Exchange, Proxy, answer, fault, replying


class Diary(Table, name="diary"):
    pass


class Entry(Entity, table=Diary):
    year: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    text: Attr[str] = attr(default="")

    primary = key("YEAR" / year, "ENTRY" / number)


@access_pattern
def write_two(first: Entry, second: Entry) -> Transaction:
    """Two entries, or none."""
    return transact(create(first), create(second))


@pytest.fixture
def url() -> Iterator[str]:
    with Engine(":memory:") as engine, serving(engine) as url:
        yield url


# -- the designs ---------------------------------------------------------------------------------

designs = pytest.mark.parametrize("design", bundled(), ids=lambda design: design.name)


@designs
def test_every_check_of_a_design_passes(design: Design, url: str) -> None:
    with connect(url, *design.tables, create=True) as database:
        results = list(verify(design, database))
    assert results
    assert [(result.check, result.problem) for result in results if not result.ok] == []


@designs
def test_every_check_of_a_design_passes_in_an_event_loop(design: Design, url: str) -> None:
    assert design.checks is not None
    with connect(url, *design.tables, create=True) as database, asyncio.Runner() as runner:
        load_sample(design, database)
        adb = runner.run(connect_async(url, *design.tables))
        for check in design.checks(Scanner(database)):
            _run_check(check, runner, adb)
        runner.run(adb.close())


def _run_check(check: Check, runner: asyncio.Runner, adb: AsyncDatabase) -> None:
    if isinstance(check.expect, Raises):
        with pytest.raises(check.expect.error):
            runner.run(adb.run(check.plan))
        return
    answer: Any = runner.run(adb.run(check.plan))
    results = list(answer) if isinstance(answer, Page) else answer
    for _ in range(check.pages - 1):
        assert isinstance(check.plan, Query)
        answer = runner.run(adb.run(check.plan.after(answer.next_cursor)))
        results += answer
    expected = check.expect() if callable(check.expect) else check.expect
    if expected is not None or not isinstance(check.plan, Transaction):
        assert results == expected, check.name


# -- databases -----------------------------------------------------------------------------------


def test_a_table_is_made_only_when_that_is_asked_for(url: str) -> None:
    with pytest.raises(TableNotFound, match=r"create=True"):
        connect(url, Diary)
    with connect(url, Diary, create=True) as database:
        database.run(put(Entry(year="2026", number=1)))
    with connect(url, Diary) as database:
        assert database.run(Entry.primary("2026", 1)) == Entry(year="2026", number=1)


def test_every_page_of_a_query_is_read(url: str) -> None:
    entries = [Entry(year="2026", number=number, text="x" * 50_000) for number in range(60)]
    with connect(url, Diary, create=True) as database:
        database.run(batch_write(put(entry) for entry in entries))
        assert list(database.iterate(Entry.primary.within("2026"))) == entries
        plans = [Entry.primary("2026", number) for number in range(60)]
        assert database.run(batch_get(plans)) == entries


def test_every_page_of_a_query_is_read_in_an_event_loop(url: str) -> None:
    entries = [Entry(year="2026", number=number) for number in range(60)]

    async def main() -> list[Entry]:
        async with connect_async(url, Diary, create=True) as database:
            await asyncio.gather(*(database.run(create(entry)) for entry in entries))
            return [
                entry async for entry in database.iterate(Entry.primary.within("2026").page_size(7))
            ]

    assert asyncio.run(main()) == entries


def test_a_closed_database_leaves_no_connection_open(proxy: Proxy) -> None:
    with connect(proxy.url, Diary, create=True) as database:
        database.run(put(Entry(year="2026", number=1)))
    assert proxy.wait_until_open(0)


def test_what_was_not_processed_is_sent_again(
    proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    def none_of_it(exchange: Exchange) -> None:
        """Takes none of the batch, and says so."""
        exchange.receive()
        told = {"UnprocessedItems": exchange.json["RequestItems"]}
        exchange.reply(answer(200, told))

    with connect(engine, Diary) as database:
        proxy.script = [none_of_it]
        entries = [Entry(year="2026", number=number) for number in range(10)]
        client().run(batch_write(put(entry) for entry in entries), Diary)
        assert list(database.run(Entry.primary.within("2026"))) == entries
    assert [each.operation for each in proxy.seen] == ["BatchWriteItem"] * 2


# -- what an endpoint does not have --------------------------------------------------------------


def test_an_operation_that_an_endpoint_lacks_is_told_with_the_pattern_that_needs_it(
    proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [replying(fault("UnknownOperationException"))]
    plan = write_two(Entry(year="2026", number=1), Entry(year="2026", number=2))
    with pytest.raises(UnsupportedOperation) as caught:
        client().run(plan, Diary)
    assert str(caught.value) == (
        f"{proxy.url} does not support TransactWriteItems, which write_two needs"
    )
    assert len(proxy.seen) == 1


def test_an_operation_that_an_endpoint_lacks_is_told_to_who_sends_requests(
    client: MakeClient,
) -> None:
    with pytest.raises(UnsupportedOperation, match="does not support MakeCoffee") as caught:
        client().send("MakeCoffee", {})
    assert isinstance(caught.value.__cause__, UnknownOperationException)


def test_connections_are_kept_between_plans(proxy: Proxy, engine: Engine) -> None:
    with connect(engine, Diary), connect(proxy.url, Diary) as database:
        for number in range(20):
            database.run(put(Entry(year="2026", number=number)))
            database.run(Entry.primary("2026", number))
    assert proxy.opened == 1
