"""A required attribute is added to a design: no read leaves out items without it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tablewright import (
    Engine,
    Page,
    batch_get,
    connect,
    connect_async,
    create,
    delete_all,
    put,
    transact_get,
    update_all,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, UnreadableItem
from tablewright.fastapi import DatabaseDep, add_exception_handlers, lifespan
from tablewright.server import serving
from tablewright.studio.markup.result_parts import result_tree
from tablewright.studio.patterns.running import run as run_in_studio
from tests.commands import run
from tests.fastapi.desk import TestClient
from tests.plan.reads.unreadable import version1
from tests.plan.reads.unreadable.version2 import (
    Comment,
    Desk,
    DeskWithTickets,
    Helpdesk,
    Ticket,
    tickets,
)

DESIGN = Path(__file__).parent / "version2.py"
REASON = "Ticket.owner: the stored item has no 'owner'"
KEYS = [{"PK": {"S": "DESK#d"}, "SK": {"S": f"TICKET#00{number}"}} for number in (1, 2, 3)]
NEW = Ticket(desk="d", number=9, owner="ann")


def store(target: Any) -> None:
    """Store three tickets of the first version, then one of the second."""
    with connect(target, version1.Helpdesk) as old:
        for number in (1, 2, 3):
            old.run(create(version1.Ticket(desk="d", number=number)))
    with connect(target, Helpdesk) as new:
        new.run(create(Desk(desk="d")))
        new.run(create(NEW))


@pytest.fixture(params=["memory", "file", "http"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    place = ":memory:" if request.param == "memory" else tmp_path / "helpdesk.db"
    with Engine(place) as engine:
        store(engine)
        if request.param != "http":
            yield connect(engine, Helpdesk)
        else:
            with serving(engine) as url, connect(url, Helpdesk) as remote:
                yield remote


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Engine(tmp_path / "helpdesk.db") as engine:
        store(engine)
    return tmp_path / "helpdesk.db"


READS: list[Any] = [
    tickets("d"),
    Ticket.primary.within("d").page_size(1),
    Ticket.by_status("open"),
    Ticket.by_status("open").select(Ticket.owner),
    Ticket.by_status("open").union(Comment.by_status("open")),
    Ticket.scan(reason="test"),
    Ticket.scan(reason="test").segments(2),
    Ticket.by_status("open").first(),
    Ticket.primary("d", 1),
    batch_get([Ticket.primary("d", 9), Ticket.primary("d", 1)]),
    transact_get(Ticket.primary("d", 9), Ticket.primary("d", 1)),
    DeskWithTickets.of(Desk.primary("d")),
    update_all(Ticket.primary.within("d"), Ticket.status.set("done")),
    delete_all(Ticket.by_status("open")),
]


@pytest.mark.parametrize("plan", READS, ids=str)
def test_every_read_of_an_old_item_raises(plan: Any, db: Database) -> None:
    with pytest.raises(UnreadableItem) as raised:
        db.run(plan)
    error = raised.value
    assert (error.reason, error.key in KEYS) == (REASON, True)
    assert str(error).startswith(f'{REASON} (the item with PK="DESK#d", SK="TICKET#00')


@pytest.mark.parametrize("plan", READS[8:], ids=str)
def test_what_has_no_pages_has_no_cursor(plan: Any, db: Database) -> None:
    with pytest.raises(UnreadableItem) as raised:
        db.run(plan)
    assert (raised.value.cursor, raised.value.results) == (None, [])


def test_a_query_continues_behind_each_item(db: Database) -> None:
    plan = tickets("d")
    for key in KEYS:
        with pytest.raises(UnreadableItem) as raised:
            db.run(plan)
        assert raised.value.key == key
        assert "DESK" not in str(raised.value.cursor)
        plan = plan.after(raised.value.cursor)
    assert list(db.run(plan)) == [NEW]


def test_iterate_returns_what_comes_before_and_raises(db: Database) -> None:
    found: list[Ticket] = []
    with pytest.raises(UnreadableItem) as raised:
        found += db.iterate(Ticket.primary.within("d").desc())
    assert raised.value.key == KEYS[2]
    everything = db.iterate(Ticket.primary.within("d").desc())
    assert next(everything) == NEW
    with pytest.raises(UnreadableItem):
        next(everything)


def test_iterate_in_an_event_loop_does_the_same(file: Path) -> None:
    async def first() -> list[Ticket]:
        found: list[Ticket] = []
        async with connect_async(file, Helpdesk) as db:
            everything = db.iterate(Ticket.primary.within("d").desc())
            found.append(await anext(everything))
            with pytest.raises(UnreadableItem):
                await anext(everything)
        return found

    assert asyncio.run(first()) == [NEW]


def test_skipping_reports_what_it_leaves_out(db: Database) -> None:
    page = db.run(tickets("d").skip_unreadable())
    assert (list(page), [error.key for error in page.unreadable]) == ([NEW], KEYS)
    assert list(db.iterate(tickets("d").skip_unreadable().page_size(2))) == [NEW]
    assert db.run(Ticket.by_status("open").skip_unreadable().first()) == NEW


QUERIES: list[Any] = [
    tickets("d"),
    Ticket.by_status("open"),
    Ticket.by_status("open").page_size(1),
    Ticket.scan(reason="test"),
    Ticket.scan(reason="test").segments(2),
]


@pytest.mark.parametrize("plan", QUERIES, ids=str)
def test_a_count_is_of_stored_items_or_of_those_that_can_be_decoded(
    plan: Any, db: Database
) -> None:
    assert db.run(plan.count()) == 4
    assert db.run(plan.skip_unreadable().count()) == 1
    assert db.run(plan.skip_unreadable().limit(1).count()) == 1


def test_a_first_result_can_be_looked_for_behind_the_item(db: Database) -> None:
    plan = Ticket.by_status("open")
    for _ in KEYS:
        with pytest.raises(UnreadableItem) as raised:
            db.run(plan.first())
        plan = plan.after(raised.value.cursor)
    assert db.run(plan.first()) == NEW


def test_a_unique_value_of_an_item_that_cannot_be_decoded_raises(file: Path) -> None:
    with Engine(file) as engine:
        db = connect(engine, Helpdesk)
        db.run(put(Ticket(desk="d", number=5, owner="ann", code="x")))
        item_key = KEYS[0] | {"SK": {"S": "TICKET#005"}}
        removal = {"UpdateExpression": "REMOVE #0", "ExpressionAttributeNames": {"#0": "owner"}}
        engine.call("UpdateItem", {"TableName": "helpdesk", "Key": item_key} | removal)
        with pytest.raises(UnreadableItem) as raised:
            db.run(Ticket.by_code("x"))
        assert raised.value.key == item_key


@pytest.mark.parametrize("write", [delete_all, lambda q: update_all(q, Ticket.status.set("x"))])
def test_a_write_of_a_range_cannot_skip(write: Any) -> None:
    with pytest.raises(DeclarationError, match=r"takes none with skip_unreadable\(\)"):
        write(Ticket.primary.within("d").skip_unreadable())


def test_an_aggregate_without_a_page_cannot_skip() -> None:
    with pytest.raises(
        DeclarationError, match=r"skip_unreadable\(\) needs a member that is a page"
    ):
        DeskWithTickets.of(Desk.primary("d")).skip_unreadable()


def test_a_row_of_no_entity_in_an_aggregate_raises(file: Path) -> None:
    with Engine(file) as engine:
        for each in KEYS:
            engine.call("DeleteItem", {"TableName": "helpdesk", "Key": each})
        db = connect(engine, Helpdesk)
        plan = DeskWithTickets.of(Desk.primary("d"))
        unknown = {"PK": {"S": "DESK#d"}, "SK": {"S": "TICKET#1#x"}}
        other = unknown | {"type": {"S": "Later"}, "SK": {"S": "TICKET#2#x"}}
        for item in (other, {"PK": {"S": "DESK#d"}, "SK": {"S": "SETTINGS"}}):
            engine.call("PutItem", {"TableName": "helpdesk", "Item": item})
        found = db.run(plan)
        assert found is not None
        assert found.tickets == [NEW]
        engine.call("PutItem", {"TableName": "helpdesk", "Item": unknown})
        for read in (plan, delete_all(Ticket.primary.within("d"))):
            with pytest.raises(UnreadableItem) as raised:
                db.run(read)
            assert raised.value.key == unknown


def test_fastapi_responds_with_500_and_without_the_key(file: Path) -> None:
    app = FastAPI(lifespan=lifespan(file, Helpdesk))
    add_exception_handlers(app)

    @app.get("/tickets")
    async def list_tickets(db: DatabaseDep) -> Page[Ticket]:
        return await db.run(tickets("d"))

    @app.get("/readable")
    async def list_readable(db: DatabaseDep) -> Page[Ticket]:
        return await db.run(tickets("d").skip_unreadable())

    with TestClient(app, raise_server_exceptions=False) as client:
        failed = client.get("/tickets")
        assert (failed.status_code, failed.json()["status"]) == (500, 500)
        assert "TICKET" not in failed.text
        readable = client.get("/readable").json()
        assert [each["number"] for each in readable["items"]] == [9]


def test_the_command_line_shows_the_items_and_fails(file: Path) -> None:
    command = ("patterns", DESIGN, file, "tickets", "desk=d", "--json")
    first = run(*command)
    assert (first.returncode, first.stdout) == (1, "")
    assert REASON in first.stderr
    assert '"SK":{"S":"TICKET#001"}' in first.stderr
    assert "--cursor" in first.stderr
    everything = run(*command, "--all")
    assert everything.returncode == 1
    assert [json.loads(line)["number"] for line in everything.stdout.splitlines()] == [9]
    assert everything.stderr.count(REASON) == 3
    alone = run("patterns", DESIGN, file, "ticket", "desk=d", "number=1")
    assert alone.returncode == 1
    assert '"SK":{"S":"TICKET#001"}' in alone.stderr


@pytest.mark.parametrize("command", [("query", "PK=DESK#d"), ("scan",)])
def test_a_list_of_stored_items_shows_each_reason(command: tuple[str, ...], file: Path) -> None:
    verb, *condition = command
    done = run(verb, file, "helpdesk", *condition, "--design", DESIGN)
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    assert "Ticket, as stored (3)" in shown
    assert shown.count(REASON) == 3


def test_the_studio_shows_a_page_with_the_reasons(file: Path) -> None:
    with connect(file, Helpdesk) as db:
        ran = run_in_studio(db, tickets("d"))
    assert (ran.error, list(ran.result)) == (None, [NEW])
    assert result_tree(ran.result).count("Ticket.owner: the stored item has no") == 3
