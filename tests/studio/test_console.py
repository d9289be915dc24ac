"""The console: statements are explained, run page by page, and previewed if they write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.errors import ValidationException
from tablewright.partiql.printing import format_value
from tablewright.server import serving
from tablewright.studio.target.statements import preview, similar_patterns
from tablewright.studio.workspace import ReadOnly, ReadOnlyTarget, Workspace
from tablewright.transport.targets import Local
from tablewright.verify import Design
from tests.studio.conftest import HOSTILE, Browser, Open, create_table

TABLE = "commerce_single_table"
ORDER = "PK = 'CUST#C1' AND SK = 'ORDER#O101'"


def console(statement: str, **query: str) -> str:
    rest = "".join(f"&{name}={quote(value)}" for name, value in query.items())
    return f"/console?statement={quote(statement)}{rest}"


def confirmed(text: str) -> dict[str, str]:
    """Return the fields of the form that runs what a preview shows."""
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', text))
    assert found.keys() == {"statement", "seen"}
    return found


def fill(engine: Engine, name: str, count: int, size: int = 0) -> None:
    create_table(engine, name)
    for start in range(0, count, 25):
        puts = [
            {"PutRequest": {"Item": {"id": {"S": f"{start + n:05}"}, "n": {"N": f"{start + n}"},
                                     "x": {"S": "x" * size}}}}
            for n in range(25)
        ]  # fmt: skip
        engine.call("BatchWriteItem", {"RequestItems": {name: puts}})


# --- explain ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            f"SELECT * FROM {TABLE} WHERE PK = 'CUST#C1'",
            ["<b>Query</b>", "0.5 to 1 read for a page"],
        ),
        (f"SELECT * FROM {TABLE} WHERE {ORDER}", ["<b>GetItem</b>", "0.5 read"]),
        (f"SELECT * FROM {TABLE} WHERE total > 5", ["<b>Scan</b>", "everything is read"]),
        (
            f"SELECT * FROM {TABLE}.gsi_status_orders WHERE GSI2PK = 'STATUS#PAID' AND total > 5",
            ["gsi_status_orders", "total &gt; 5", "9 items"],
        ),
        (f"DELETE FROM {TABLE} WHERE {ORDER}", ["<b>DeleteItem</b>", "about 1 write"]),
    ],
)
def test_a_statement_is_explained_before_it_runs(
    browser: Browser, statement: str, expected: list[str]
) -> None:
    page = browser.get(console(statement))
    assert page.status == 200
    for text in expected:
        assert text in page.text
    assert "Run shows a page" in page.text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELEKT", "ValidationException: Statement wasn't well formed"),
        ("SELECT * FROM comerce_single_table", "did you mean 'commerce_single_table'?"),
        (f"SELECT * FROM {TABLE}.nothing", "has no index 'nothing'; "),
        (f"UPDATE {TABLE} SET a = 1 WHERE PK = 'CUST#C1'", "ValidationException"),
        (f"SELECT * FROM {TABLE} WHERE PK = ?", "parameters"),
        (f"EXISTS(SELECT * FROM {TABLE} WHERE {ORDER} AND total > 5)", "it cannot run alone"),
    ],
)
def test_a_mistake_is_explained_and_the_statement_is_kept(
    browser: Browser, statement: str, expected: str
) -> None:
    page = browser.get(console(statement, run="1"))
    assert page.status == 400
    text = unescape(page.text)
    assert expected in text
    assert f"\n{statement}</textarea>" in text


@pytest.mark.parametrize(
    ("condition", "patterns"),
    [
        ("PK = 'CUST#C1' AND SK = 'ORDER#O101'", ["order_header"]),
        (
            "PK = 'CUST#C1' AND begins_with(SK, 'ORDER_STATUS')",
            ["status_history"],
        ),
        ("PK = 'NOTE#1' AND SK = 'x'", []),
        ("total > 5", []),
    ],
)
def test_patterns_with_the_key_of_a_statement_are_named(
    workspace: Workspace, condition: str, patterns: list[str]
) -> None:
    found = similar_patterns(workspace, f"SELECT * FROM {TABLE} WHERE {condition}")
    assert [pattern.name for pattern in found] == patterns


def test_patterns_of_an_index_are_named(browser: Browser) -> None:
    statement = f"SELECT * FROM {TABLE}.gsi_status_orders WHERE GSI2PK = 'STATUS#PAID'"
    text = browser.get(console(statement)).text
    assert 'href="/patterns/tablewright.designs.commerce.orders_by_status"' in text
    assert "a Scan takes 0.5" in text


def test_the_empty_console_offers_a_statement(browser: Browser, opened: Open) -> None:
    assert f"SELECT * FROM {TABLE}</textarea>" in browser.get("/console").text
    with Engine(":memory:") as engine:
        assert opened(engine).get("/console").status == 200


# --- reading ------------------------------------------------------------------------------------


def test_items_are_shown_with_their_entities(browser: Browser) -> None:
    text = browser.get(console(f"SELECT * FROM {TABLE} WHERE PK = 'CUST#C1'", run="1")).text
    assert text.count(">CustomerOrder</span>") == 6
    assert "0.5 read units" in text
    projected = browser.get(console(f"SELECT total FROM {TABLE} WHERE {ORDER}", run="1")).text
    assert "39.8" in projected
    assert "CustomerOrder" not in projected


def test_pages_follow_each_other(opened: Open, engine: Engine) -> None:
    fill(engine, "things", 250)
    browser = opened(engine)
    found: list[str] = []
    path: str | None = console("SELECT id FROM things", run="1")
    pages = 0
    while path is not None:
        text = browser.get(path).text
        found += re.findall(r"\b\d{5}\b", text.partition("<tbody>")[2])
        link = re.search(r'href="([^"]+)" rel="next"', text)
        path = unescape(link[1]) if link else None
        pages += 1
    assert pages == 3
    assert sorted(set(found)) == [f"{n:05}" for n in range(250)]


def test_a_page_without_matches_leads_on(opened: Open, engine: Engine) -> None:
    fill(engine, "things", 1025)
    text = opened(engine).get(console("SELECT * FROM things WHERE n < 0", run="1")).text
    assert "None of this page matches" in text
    assert 'rel="next"' in text


def test_a_large_scan_asks_first(opened: Open, engine: Engine) -> None:
    fill(engine, "things", 25, size=50_000)
    browser = opened(engine)
    statement = "SELECT id FROM things"
    asked = browser.get(console(statement, run="1")).text
    assert "This statement reads all of things, page by page: 25 items, 1.2 MB" in asked
    assert "<tbody>" not in asked
    assert "<tbody>" in browser.get(console(statement, run="1", confirm="scan")).text
    path = f"/console/export?statement={quote(statement)}"
    assert browser.get(path).status == 303
    assert len(browser.get(f"{path}&confirm=scan").text.splitlines()) == 25
    key = "SELECT id FROM things WHERE id = '00001'"
    assert "<tbody>" in browser.get(console(key, run="1")).text


def test_the_result_is_exported_with_all_pages(opened: Open, engine: Engine) -> None:
    fill(engine, "things", 250)
    path = f"/console/export?statement={quote('SELECT id FROM things WHERE n < 200')}"
    browser = opened(engine)
    assert len(browser.get(path).text.splitlines()) == 200
    assert browser.get(f"{path}&format=csv").text.splitlines()[0] == "id,other attributes"
    assert browser.get(f"{path}&format=xml").status == 400
    delete = quote("DELETE FROM things WHERE id = '00001'")
    assert browser.get(f"/console/export?statement={delete}").status == 400
    assert engine.call("Scan", {"TableName": "things", "Select": "COUNT"})["Count"] == 250


# --- completion ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "SEL", ["SELECT"]),
        ("SELECT * FROM ", "comm", [TABLE]),
        ("SELECT * FROM ", f"{TABLE}.gsi_st", [f"{TABLE}.gsi_status_orders"]),
        (f"SELECT * FROM {TABLE} WHERE ", "GSI2", ["GSI2PK", "GSI2SK"]),
        (f"SELECT * FROM {TABLE} WHERE ", "tot", ["total"]),
        ("SELECT * FROM missing WHERE ", "tot", []),
    ],
)
def test_words_are_completed(browser: Browser, before: str, word: str, expected: list[str]) -> None:
    answer = browser.get(f"/console/complete?before={quote(before)}&word={quote(word)}")
    assert json.loads(answer.text) == expected
    assert answer.headers["Content-Type"] == "application/json"


# --- writing ------------------------------------------------------------------------------------


def test_a_write_is_previewed_then_run(browser: Browser, workspace: Workspace) -> None:
    statement = f"UPDATE {TABLE} SET status = 'SHIPPED' WHERE {ORDER}"
    page = browser.get(console(statement, run="1"))
    text = unescape(page.text)
    assert "<del>PAID</del>" in text
    assert "<ins>SHIPPED</ins>" in text
    assert "the attributes of CustomerOrder give STATUS#SHIPPED" in text
    assert "the version of CustomerOrder is not increased" in text
    key = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}
    item = workspace.send("GetItem", TableName=TABLE, Key=key)["Item"]
    assert item["status"] == {"S": "PAID"}
    done = browser.post("/console", confirmed(text))
    assert (done.status, "<h2>Done</h2>" in done.text) == (200, True)
    item = workspace.send("GetItem", TableName=TABLE, Key=key)["Item"]
    assert item["status"] == {"S": "SHIPPED"}


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        (f"DELETE FROM {TABLE} WHERE PK = 'CUST#C1' AND SK = 'none'", "there is no such item"),
        (f"UPDATE {TABLE} SET status = 'PAID' WHERE {ORDER}", "attributes stay as they are"),
    ],
)
def test_a_preview_says_that_nothing_would_change(
    browser: Browser, statement: str, shown: str
) -> None:
    page = browser.get(console(statement, run="1")).text
    assert "nothing would change" in page
    assert shown in page


def test_an_item_that_changed_since_is_previewed_again(
    browser: Browser, workspace: Workspace
) -> None:
    statement = f"DELETE FROM {TABLE} WHERE {ORDER}"
    first = confirmed(browser.get(console(statement, run="1")).text)
    workspace.send(
        "ExecuteStatement", Statement=f"UPDATE {TABLE} SET status = 'SHIPPED' WHERE {ORDER}"
    )
    again = browser.post("/console", first)
    assert again.status == 409
    assert "<del>SHIPPED</del>" in again.text
    done = browser.post("/console", confirmed(again.text))
    assert "deleted" in done.text


def test_a_statement_runs_character_by_character(opened: Open, engine: Engine) -> None:
    create_table(engine, "hostile")
    browser = opened(engine)
    name = HOSTILE + " + % &amp;"
    statement = f"INSERT INTO hostile\r\n  VALUE {{'id': '{name}'}}"
    page = browser.get(console(statement, run="1")).text
    assert "[U+000D]" not in page
    assert browser.post("/console", confirmed(page)).status == 200
    assert engine.call("Scan", {"TableName": "hostile"})["Items"] == [{"id": {"S": name}}]


def test_an_insert_is_previewed(browser: Browser) -> None:
    new = f"INSERT INTO {TABLE} VALUE {{'PK': 'CUST#C9', 'SK': 'X'}}"
    assert 'title="added"' in browser.get(console(new, run="1")).text
    old = f"INSERT INTO {TABLE} VALUE {{'PK': 'CUST#C1', 'SK': 'ORDER#O101'}}"
    refused = browser.get(console(old, run="1")).text
    assert "this would be refused" in refused
    assert "DuplicateItemException" in refused
    assert "Run it" not in refused


def test_get_never_writes(browser: Browser, workspace: Workspace) -> None:
    before = workspace.send("Scan", TableName=TABLE)
    for confirm in ("write", "scan", "1"):
        browser.get(console(f"DELETE FROM {TABLE} WHERE {ORDER}", run="1", confirm=confirm))
    assert workspace.send("Scan", TableName=TABLE) == before


# --- read-only ----------------------------------------------------------------------------------


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The sample data of commerce behind an endpoint."""
    target = open_workspace(["commerce"]).target
    assert isinstance(target, Engine)
    with serving(target) as url:
        yield url


def test_a_read_only_endpoint_reads_and_refuses_every_write(
    opened: Open, endpoint: str, design: Design
) -> None:
    browser = opened(endpoint, design)
    page = browser.get(console(f"SELECT * FROM {TABLE} WHERE {ORDER}", run="1"))
    assert "CustomerOrder" in page.text
    assert "Statements that write are off" in page.text
    before = browser.get(f"/tables/{TABLE}/export").text
    for statement in (
        f"DELETE FROM {TABLE} WHERE {ORDER}",
        f"/* SELECT */ DELETE FROM {TABLE} WHERE {ORDER}",
        f"UPDATE {TABLE} SET status = 'x' WHERE {ORDER}",
        f"INSERT INTO {TABLE} VALUE {{'PK': 'a', 'SK': 'b'}}",
    ):
        refused = browser.get(console(statement, run="1"))
        assert (refused.status, "Run it" in refused.text) == (400, False)
        fresh = Workspace(design, endpoint, write=True)

        token = preview(fresh, statement).seen
        fresh.close()
        assert browser.post("/console", {"statement": statement, "seen": token}).status == 403
    assert browser.get(f"/tables/{TABLE}/export").text == before


def test_the_transport_decides_by_the_parsed_statement(engine: Engine) -> None:
    create_table(engine, "things")
    transport = ReadOnly(Local(engine))
    select = {"Statement": "-- DELETE\nselect * FROM things"}
    one = {"Statement": "SELECT * FROM things WHERE id = 'a'"}
    delete = {"Statement": "DELETE FROM things WHERE id = 'a'"}
    exists = {"Statement": "EXISTS(SELECT * FROM things WHERE id = 'a')"}
    check = {"TableName": "things", "Key": {"id": {"S": "a"}}, "ConditionExpression": "a = a"}
    transport.send("ExecuteStatement", select)
    transport.send("BatchExecuteStatement", {"Statements": [one]})
    for operation, request in (
        ("ExecuteStatement", delete),
        ("BatchExecuteStatement", {"Statements": [one, delete]}),
        ("ExecuteTransaction", {"TransactStatements": []}),
        ("ExecuteTransaction", {"TransactStatements": [exists]}),
        ("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]}),
        ("BatchExecuteStatement", {"Statements": []}),
    ):
        with pytest.raises(ReadOnlyTarget):
            transport.send(operation, request)
    with pytest.raises(ValidationException):
        transport.send("ExecuteStatement", {"Statement": "SELECT"})


# --- hostile values -----------------------------------------------------------------------------


def test_hostile_statements_and_items_are_text(opened: Open, engine: Engine) -> None:
    create_table(engine, "hostile")
    item = {"id": {"S": HOSTILE}, HOSTILE: {"S": HOSTILE}}
    engine.call("PutItem", {"TableName": "hostile", "Item": item})
    browser = opened(engine)
    texts = [
        browser.get(console(statement, run="1")).text
        for statement in (
            "SELECT * FROM hostile",
            HOSTILE,
            f'SELECT * FROM "{HOSTILE.replace(chr(34), "")}"',
            f"SELECT * FROM hostile WHERE x = '{HOSTILE}'",
            f"DELETE FROM hostile WHERE id = '{HOSTILE}'",
            "</textarea><script>alert(1)</script>",
        )
    ]
    assert "[U+202E]" in texts[0]
    for text in texts:
        assert "<img" not in text
        assert "<script>" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize("name", ["shop", "market", "recipes", "menu", "commerce"])
def test_every_collection_of_each_design_can_be_read(opened: Open, name: str) -> None:
    workspace = open_workspace([name])
    browser = opened(workspace.target, workspace.design)
    for table in workspace.maps:
        description = workspace.describe(table)
        assert description is not None
        for collection in description.collections:
            source = f'"{table}"."{collection.name}"' if collection.name else f'"{table}"'
            page = browser.get(console(f"SELECT * FROM {source}", run="1"))
            assert page.status == 200
            item = workspace.send(
                "Scan",
                TableName=table,
                **({"IndexName": collection.name} if collection.name else {}),
            )["Items"][0]
            condition = " AND ".join(
                f'"{each.name}" = {format_value(item[each.name])}'
                for each in collection.keys.partition
            )
            page = browser.get(console(f"SELECT * FROM {source} WHERE {condition}", run="1"))
            assert (page.status, "<b>Query</b>" in page.text) == (200, True)
            assert 'class="chip e' in page.text
