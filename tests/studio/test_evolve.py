"""Evolve: the version of each table, the changes to the design, and how far a migration is."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tablewright import Engine, migrations
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.migrating import version_of
from tablewright.plan.migration.inspecting import Inspect
from tablewright.server import serving
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tests.studio.conftest import Browser, Open
from tests.studio.desk import Desk
from tests.transports import RecordingTransport


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def managed(desk: Desk) -> Desk:
    migrations.baseline(desk.path, desk.table(desk.old))
    return desk


def text_of(page: str) -> str:
    """Return the text of the content of a page."""
    main = page[page.index("<main") : page.index("</main>")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


def test_sample_data_has_nothing_to_compare(browser: Browser) -> None:
    page = browser.get("/evolve")
    assert page.status == 200
    assert "There is nothing to compare" in page.text


def test_a_studio_without_a_design_has_no_such_view(opened: Open, desk: Desk) -> None:
    browser = opened(desk.path)
    assert browser.get("/evolve").status == 404
    assert "/evolve" not in browser.get("/tables").text


def test_a_table_without_a_record_names_the_command_that_writes_one(
    opened: Open, desk: Desk
) -> None:
    page = text_of(opened(desk.path, desk.new).get("/evolve").text)
    assert "desk does not record which version of the design its items are prepared for" in page
    assert f"tablewright migrate baseline new_desk {desk.path}" in page


def test_a_missing_table_leads_to_its_page(opened: Open, design: Design, desk: Desk) -> None:
    page = opened(desk.path, design).get("/evolve").text
    assert 'href="/tables/commerce_single_table"' in page
    assert "the target does not have commerce_single_table" in page


def test_a_table_of_this_version_matches(opened: Open, managed: Desk) -> None:
    page = opened(managed.path, managed.old).get("/evolve").text
    assert '<span class="tag good">matches</span>' in page
    assert "Steps for" not in page
    assert "hx-trigger" not in page[page.index("<main") :]


def test_changes_and_steps_have_the_texts_of_the_commands(opened: Open, managed: Desk) -> None:
    page = text_of(opened(managed.path, managed.new).get("/evolve").text)
    for text in (
        "3 changes",
        "entity Ticket",
        "table desk",
        "status: the attribute is renamed",
        "before: state",
        "after: status",
        "a rewrite of items; without it, the new version cannot read stored items",
        "together no: ",
        "undo until the old attributes are removed",
        "1. check does read all items",
        "2. create-index gsi1 does create the index gsi1, and wait until it is ACTIVE",
        "costs at most 1 read",
        "Programs of the old version can run until the step `await-programs`",
        f"tablewright migrate apply new_desk {managed.path}",
    ):
        assert text in page, text


def test_the_page_writes_nothing_and_has_no_form(opened: Open, managed: Desk) -> None:
    before = Path(managed.path).read_bytes()
    page = opened(managed.path, managed.new, write=False).get("/evolve").text
    main = page[page.index("<main") :]
    assert "<form" not in main
    assert "<button" not in main
    assert Path(managed.path).read_bytes() == before


def test_a_migration_that_is_under_way_is_shown_and_polled(opened: Open, managed: Desk) -> None:
    managed.interrupt(managed.new, "rewrite")
    answer = opened(managed.path, managed.new).get("/evolve").text
    assert 'hx-get="" hx-trigger="every 2s" hx-select="#evolve" hx-target="#evolve"' in answer
    page = text_of(answer)
    assert "migrate apply is under way" in page
    assert "3 of 6 steps done; next: rewrite" in page
    assert "2. create-index gsi1 done" in page
    assert "4. rewrite under way" in page
    assert re.search(r"executor \S+:\d+:", page)
    assert f"tablewright migrate apply new_desk {managed.path}" in page


def test_a_program_of_the_old_version_sees_the_recorded_steps(opened: Open, managed: Desk) -> None:
    managed.interrupt(managed.new, "rewrite")
    page = text_of(opened(managed.path, managed.old).get("/evolve").text)
    assert "is being migrated to another version of the design" in page
    assert "4. rewrite under way" in page


def test_the_end_of_a_migration_names_complete(opened: Open, managed: Desk) -> None:
    browser = opened(managed.path, managed.new)
    migrations.apply(managed.path, managed.table(managed.new))
    answer = browser.get("/evolve").text
    assert '<span class="tag warn">not completed</span>' in answer
    assert f"tablewright migrate complete new_desk {managed.path}" in text_of(answer)
    migrations.complete(managed.path, managed.table(managed.new))
    assert '<span class="tag good">matches</span>' in browser.get("/evolve").text


def test_a_change_that_cannot_be_carried_out_is_shown_with_the_reason(
    opened: Open, managed: Desk
) -> None:
    page = text_of(opened(managed.path, managed.retyped).get("/evolve").text)
    assert "these changes cannot be carried out in the table" in page
    assert "declare another table and copy the items" in page
    assert "migrate apply" not in page


def test_an_item_of_a_version_that_is_not_admitted_cannot_be_edited(
    opened: Open, managed: Desk
) -> None:
    migrations.apply(managed.path, managed.table(managed.new))
    key = urlencode({"pk": "TICKET#1", "sk": "TICKET"})
    answer = opened(managed.path, managed.old).get(f"/item/desk/delete?{key}")
    assert "cannot run together with" in text_of(answer.text)
    assert "Ticket.status: the attribute is renamed" in text_of(answer.text)


def test_a_record_of_a_newer_version_of_the_library_is_shown(opened: Open, managed: Desk) -> None:
    with Engine(managed.path) as engine:
        engine.call(
            "UpdateItem",
            {
                "TableName": "desk",
                "Key": record_key(managed.table(managed.old).__table__),
                "UpdateExpression": "SET #n = :t",
                "ExpressionAttributeNames": {"#n": "$design"},
                "ExpressionAttributeValues": {":t": {"S": "{}"}},
            },
        )
    answer = opened(managed.path, managed.old).get("/evolve")
    assert answer.status == 200
    assert "was written by another version of Tablewright" in answer.text


def test_a_table_takes_three_requests(managed: Desk) -> None:
    workspace = Workspace(managed.new, managed.path)
    recording = RecordingTransport(workspace.transport)
    database = workspace.database(recording)
    database.run(Inspect(version_of(database, managed.table(managed.new))))
    workspace.close()
    assert recording.operations == ["DescribeTable", "GetItem", "DescribeTimeToLive"]


def test_an_endpoint_that_is_lost_is_shown_as_on_other_pages(opened: Open, managed: Desk) -> None:
    with Engine(managed.path) as engine:
        with serving(engine) as address:
            browser = opened(address, managed.new)
            assert "status: the attribute is renamed" in browser.get("/evolve").text
        lost = browser.get("/evolve")
    assert lost.status == 503
    assert "The target cannot be reached." in lost.text
