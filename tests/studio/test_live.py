"""Live: changes of tables with a stream, as they come, typed and filtered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from typing import Any
from urllib.parse import quote

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.studio.target import changes
from tablewright.studio.views import live
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tests.studio.conftest import HOSTILE, Browser, Open, create_table

TABLE = "commerce_single_table"
ORDER = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for changes often."""
    for module in (changes, live):
        monkeypatch.setattr(module, "POLL_SECONDS", 0.02)


def enable(engine: Engine, table: str = TABLE, view: str = "NEW_AND_OLD_IMAGES") -> None:
    stream = {"StreamEnabled": True, "StreamViewType": view}
    engine.call("UpdateTable", {"TableName": table, "StreamSpecification": stream})


@pytest.fixture
def sample() -> Engine:
    """The sample data of commerce, with a stream."""
    found = open_workspace(["commerce"]).target
    assert isinstance(found, Engine)
    enable(found)
    return found


def update(engine: Engine, status: str) -> None:
    engine.call(
        "UpdateItem",
        {
            "TableName": TABLE,
            "Key": ORDER,
            "UpdateExpression": "SET #s = :s",
            "ExpressionAttributeNames": {"#s": "status"},
            "ExpressionAttributeValues": {":s": {"S": status}},
        },
    )


@contextmanager
def events(browser: Browser, path: str, **headers: str) -> Iterator[Iterator[dict[str, str]]]:
    """Open a live view and yield its events."""
    connection = browser.connect()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    own = {"Host": browser.host, "Cookie": browser.cookie}
    connection.request("GET", path, headers={**own, **given})
    response = connection.getresponse()
    assert response.headers["Content-Type"] == "text/event-stream"
    try:
        yield read_events(response)
    finally:
        response.close()
        connection.close()


def read_events(response: HTTPResponse) -> Iterator[dict[str, str]]:
    found: dict[str, str] = {}
    for line in response:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            found[name] = value
        elif "event" in found:
            yield found
            found = {}
        else:
            found = {}


def of_kind(found: Iterator[dict[str, str]], kind: str) -> dict[str, str]:
    return next(each for each in found if each["event"] == kind)


# --- changes ------------------------------------------------------------------------------------


def test_a_change_comes_with_what_changed(opened: Open, sample: Engine, design: Design) -> None:
    browser = opened(sample, design)
    with events(browser, "/live/events") as found:
        assert next(found)["event"] == "ready"
        update(sample, "SHIPPED")
        change = of_kind(found, "change")
    assert change["id"] == "1"
    assert ">CustomerOrder</span>" in change["data"]
    assert "<del>PAID</del> → <ins>SHIPPED</ins>" in change["data"]
    assert " updated</td>" in change["data"]
    text = browser.get("/live").text  # without scripts, a page shows the last changes
    assert "<ins>SHIPPED</ins>" in text


def test_every_kind_of_change_is_shown(opened: Open, sample: Engine, design: Design) -> None:
    browser = opened(sample, design)
    browser.get("/live")
    item = sample.call("GetItem", {"TableName": TABLE, "Key": ORDER})["Item"]
    new = {**item, "orderId": {"S": "O1"}, "SK": {"S": "ORDER#O1"}, "version": {"N": "2"}}
    put = {"Put": {"TableName": TABLE, "Item": new}}
    delete = {"Delete": {"TableName": TABLE, "Key": ORDER}}
    sample.call("TransactWriteItems", {"TransactItems": [delete, put]})
    note = {"PK": {"S": "CUST#C1"}, "SK": {"S": "NOTE#1"}}
    sample.call("PutItem", {"TableName": TABLE, "Item": note})
    sample.call("DeleteItem", {"TableName": TABLE, "Key": note})
    text = browser.get("/live").text
    assert " moved</td>" in text
    assert "O101</span></span></del><br>" in text
    assert " created</td>" in text
    assert " deleted</td>" in text
    assert text.count(">unknown</span>") == 2
    assert "not in the design" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("entity=CustomerOrder", 2),
        ("entity=unknown", 1),
        ("kind=updated", 2),
        ("kind=created&entity=CustomerOrder", 0),
        ("q=packed", 2),
        ("q=SHIPPED", 1),
        ("q=note%231", 1),
    ],
)
def test_changes_are_filtered(
    opened: Open, sample: Engine, design: Design, query: str, expected: int
) -> None:
    browser = opened(sample, design)
    browser.get("/live")
    update(sample, "PACKED")
    update(sample, "SHIPPED")
    note = {"PK": {"S": "CUST#C1"}, "SK": {"S": "NOTE#1"}}
    sample.call("PutItem", {"TableName": TABLE, "Item": note})
    body = browser.get(f"/live?{query}").text.partition("<tbody")[2]
    assert body.count("<tr>") == expected
    with events(browser, f"/live/events?{query}&after=0") as found:
        given = []
        for each in found:
            if each["event"] == "ready":
                break
            given.append(each)
    assert len(given) == expected


def test_a_page_that_reconnects_misses_nothing(
    opened: Open, sample: Engine, design: Design
) -> None:
    browser = opened(sample, design)
    with events(browser, "/live/events") as found:
        assert next(found)["event"] == "ready"
        update(sample, "PACKED")
        number = of_kind(found, "change")["id"]
    update(sample, "SHIPPED")
    with events(browser, "/live/events?after=0", Last_Event_ID=number) as found:
        assert "SHIPPED" in of_kind(found, "change")["data"]
    with events(browser, "/live/events?after=0", Last_Event_ID="999999") as found:
        assert next(found)["event"] == "ready"  # of a studio that was started again


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("KEYS_ONLY", "the stream has no item (KEYS_ONLY)"),
        ("OLD_IMAGE", "before: status"),
        ("NEW_IMAGE", "now: status"),
    ],
)
def test_what_a_stream_does_not_have_is_said(
    opened: Open, design: Design, view: str, expected: str
) -> None:
    engine = open_workspace(["commerce"]).target
    assert isinstance(engine, Engine)
    enable(engine, view=view)
    browser = opened(engine, design)
    assert "The stream has only" in browser.get("/live").text
    update(engine, "SHIPPED")
    text = browser.get("/live").text
    assert expected in text
    assert ">CustomerOrder</span>" in text


def test_a_page_shows_a_bounded_number(opened: Open, engine: Engine) -> None:
    create_table(engine, "things")
    enable(engine, "things")
    browser = opened(engine)
    browser.get("/live")
    for start in range(0, 600, 25):
        puts = [{"PutRequest": {"Item": {"id": {"S": str(start + n)}}}} for n in range(25)]
        engine.call("BatchWriteItem", {"RequestItems": {"things": puts}})
    text = browser.get("/live").text
    assert text.partition("<tbody")[2].count("<tr>") == 200
    assert ">599</span>" in text


# --- without a design, without a stream -----------------------------------------------------------


def test_tables_without_a_design_show_their_records(opened: Open, engine: Engine) -> None:
    create_table(engine, "things")
    create_table(engine, "others")
    enable(engine, "things")
    browser = opened(engine)
    assert "started to follow things." in browser.get("/live").text
    item: dict[str, Any] = {"id": {"S": HOSTILE}, HOSTILE: {"S": HOSTILE}}
    engine.call("PutItem", {"TableName": "things", "Item": item})
    with events(browser, "/live/events?after=0") as found:
        row = of_kind(found, "change")["data"]
    for text in (row, browser.get("/live").text, browser.get(f"/live?q={quote(HOSTILE)}").text):
        assert "[U+202E]" in text
        assert "<img" not in text
        assert "\u202e" not in text
        assert "\x07" not in text


def test_a_stream_can_be_enabled(opened: Open, engine: Engine) -> None:
    create_table(engine, "things")
    browser = opened(engine)
    page = browser.get("/live?table=things").text
    assert "Enable the stream" in page
    assert "NEW_AND_OLD_IMAGES" in page
    enabled = browser.post("/live/enable", {"table": "things"})
    assert enabled.headers["Location"] == "/live?table=things"
    assert (
        'data-source="/live/events?after=0&amp;table=things"'
        in browser.get("/live?table=things").text
    )
    assert browser.get("/live?table=nothing").status == 200
    assert browser.post("/live/enable", {"table": "nothing"}).status == 400


def test_a_read_only_target_explains_and_refuses(opened: Open, engine: Engine) -> None:
    create_table(engine, "things")
    with serving(engine) as endpoint:
        browser = opened(endpoint)
        page = browser.get("/live").text
        assert "Enable the stream" not in page
        assert "Start the studio with --write" in page
        assert browser.post("/live/enable", {"table": "things"}).status == 403
        assert browser.get("/live/events").status == 400
    assert (
        "StreamSpecification" not in engine.call("DescribeTable", {"TableName": "things"})["Table"]
    )


def test_all_tables_of_a_design_are_followed(opened: Open) -> None:
    workspace: Workspace = open_workspace(["recipes"])
    assert isinstance(workspace.target, Engine)
    for name in workspace.maps:
        enable(workspace.target, name)
    text = opened(workspace.target, workspace.design).get("/live").text
    assert "started to follow recipes, recipes_option2." in text
    assert '<th scope="col">Table</th>' in text


def test_only_some_live_views_are_open_at_once(opened: Open, sample: Engine) -> None:
    browser = opened(sample)
    with ExitStack() as stack:
        views = [stack.enter_context(events(browser, "/live/events")) for _ in range(9)]
        kinds = [next(view)["event"] for view in views]
    assert sorted(kinds) == ["full", *["ready"] * 8]
