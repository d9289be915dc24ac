"""The range that `explain` states holds for items of almost 400 KB, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Page,
    Table,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    connect,
    create,
    delete_all,
    explain,
    index,
    key,
    put,
    root,
    transact,
    transact_get,
    unique,
    update_all,
)
from tablewright.database import Database
from tablewright.observe import RequestEvent
from tablewright.plans import Plan, backfill
from tests.costs import run_within_range
from tests.prepared import prepared

#: How many rows are below the folder; more than fit into one transaction of 4 MB.
COUNT = 12
LARGE = "x" * 380_000


class Drive(Table, name="large_items"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Folder(Entity, table=Drive):
    drive: Attr[str] = attr()
    folder: Attr[str] = attr()
    body: Attr[str] = attr(default="")
    primary = key("DRIVE" / drive, "FOLDER" / folder)


class File(Entity, table=Drive):
    drive: Attr[str] = attr()
    folder: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="open")
    code: Attr[str | None] = attr(default=None)
    body: Attr[str] = attr(default="")
    primary = key("DRIVE" / drive, "FOLDER" / folder / "FILE" / number)
    by_state = index(Drive.by_state, "STATE" / state, "FILE" / number)
    by_code = unique("CODE" / code)


class FolderWithFiles(Aggregate):
    folder: Folder = root()
    files: list[File] = children()


class FolderPage(Aggregate):
    folder: Folder = root()
    files: Page[File] = children()


def file(number: int, **values: Any) -> File:
    return File(drive="d", folder="f", number=number, body=LARGE, **values)


def fill(engine: Engine) -> None:
    db = connect(engine, Drive)
    db.run(create(Folder(drive="d", folder="f", body=LARGE)))
    for number in range(COUNT):
        db.run(put(file(number, code="c" if number == 3 else None)))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Drive)


FILES = File.primary.within("d").eq("f")
WHOLE = FolderWithFiles.of(Folder.primary("d", "f"))
PLANS: dict[str, Callable[[], Plan[Any]]] = {
    "get": lambda: File.primary("d", "f", 1).consistent(),
    "batch_get": lambda: batch_get(File.primary("d", "f", number) for number in range(COUNT)),
    "transact_get": lambda: transact_get(File.primary("d", "f", 1), Folder.primary("d", "f")),
    "query": lambda: FILES,
    "page": lambda: FILES.page_size(5),
    "page above a number": lambda: FILES.gt(0).page_size(1),
    "page below a number": lambda: FILES.lt(9).desc().page_size(1),
    "page of an index above a number": lambda: File.by_state("open").gt(0).page_size(1),
    "page of some attributes": lambda: FILES.select(File.number).page_size(COUNT),
    "segmented scan": lambda: File.scan(reason="a test").segments(3),
    "union": lambda: Folder.primary.within("d").union(File.primary.within("d")).page_size(5),
    "filter": lambda: FILES.filter(File.state == "closed").page_size(1),
    "first": lambda: FILES.desc().first(),
    "first of a filter": lambda: FILES.filter(File.state == "closed").first(),
    "count": FILES.count,
    "by a unique value": lambda: File.by_code("c"),
    "aggregate": lambda: WHOLE,
    "aggregate with a limit": lambda: WHOLE.limit(7),
    "aggregate with a page": lambda: FolderPage.of(Folder.primary("d", "f")).page_size(7),
    "create": lambda: create(file(COUNT, code="d")),
    "put": lambda: put(file(3, state="closed", code="e")),
    "update": lambda: File.primary("d", "f", 1).update(File.state.set("closed")),
    "update of a unique value": lambda: File.primary("d", "f", 3).update(File.code.set("g")),
    "delete": lambda: File.primary("d", "f", 3).delete(),
    "transact": lambda: transact(
        File.primary("d", "f", 1).update(File.state.set("closed")), create(file(COUNT, code="d"))
    ),
    "condition_check": lambda: condition_check(Folder.primary("d", "f")),
    "transact with a condition_check": lambda: transact(
        condition_check(Folder.primary("d", "f")), create(file(COUNT))
    ),
    "upsert": lambda: File.primary("d", "f", 3).upsert(File.code.set("h")),
    "batch_write": lambda: batch_write([Folder.primary("d", "f").delete()]),
    "move": lambda: File.primary("d", "f", 3).update(File.number.set(99)),
    "move with rows below": lambda: Folder.primary("d", "f").update(Folder.folder.set("g")),
    "move to the same key": lambda: Folder.primary("d", "f").update(Folder.folder.set("f")),
    "delete_all of a range": lambda: delete_all(FILES),
    "delete_all of an index": lambda: delete_all(File.by_state("open")),
    "delete_all of an aggregate": lambda: delete_all(WHOLE),
    "update_all": lambda: update_all(FILES, File.state.set("closed")),
    "update_all of an index": lambda: update_all(File.by_state("open"), File.state.set("closed")),
    "scan": lambda: File.scan(reason="a test"),
    "backfill": lambda: backfill(File),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_stays_within_its_range(db: Database, name: str) -> None:
    run_within_range(db, PLANS[name](), items=COUNT + 2)  # the folder, and a sentinel


@pytest.mark.parametrize("name", ["page above a number", "page below a number"])
def test_a_page_beside_an_item_that_is_left_out_is_one_request(db: Database, name: str) -> None:
    events: list[RequestEvent] = []
    (found,) = run_within_range(db, PLANS[name](), events=events)
    assert found.number == (1 if name == "page above a number" else 8)
    assert len(events) == 1


def test_the_last_item_that_is_left_out_ends_the_pages(db: Database) -> None:
    page = db.run(FILES.lt(1).page_size(2))
    assert [found.number for found in page] == [0]
    assert page.next_cursor is None


def test_a_page_of_some_attributes_is_one_request(db: Database) -> None:
    """As one of whole items: it ends with the item that reaches 1 MB."""
    events: list[RequestEvent] = []
    page = run_within_range(db, PLANS["page of some attributes"](), events=events)
    assert page == [(0,), (1,), (2,)]
    assert page.next_cursor is not None
    assert len(events) == 1
    assert len(list(db.iterate(FILES.select(File.number).page_size(COUNT)))) == COUNT


def test_a_page_that_ends_with_the_root_ends_the_aggregate() -> None:
    with connect(":memory:", Drive) as db:
        db.run(create(Folder(drive="d", folder="f", body=LARGE)))
        for number in range(2):
            db.run(put(file(number)))
        found = run_within_range(db, WHOLE.desc())
        assert found is not None
        assert [each.number for each in found.files] == [1, 0]


def test_the_actions_of_a_transaction_have_the_units_of_the_whole(db: Database) -> None:
    shape = explain(PLANS["transact with a condition_check"]())
    (request,) = shape.requests
    assert sum(action.write_units for action in request.steps) == shape.write_units
