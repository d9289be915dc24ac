"""The items view: every table and index of every design, filters, pages, the drawer, exports."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.presentation.values import content
from tablewright.studio.items.reading import PAGE_SIZE
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio.conftest import Browser, Open, create_table
from tests.studio.tables import KEYS, create_keys_table, put

DESIGNS = ["shop", "market", "recipes", "menu", "commerce"]
TABLE = "commerce_single_table"


def text_of(page: str) -> str:
    """The text of a page, without markup."""
    return unescape(re.sub(r"<[^>]*>", "", page))


def scan(workspace: Workspace, table: str, **more: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = workspace.send("Scan", TableName=table, **more)["Items"]
    return items


@pytest.mark.parametrize("design", DESIGNS)
def test_every_collection_of_a_design_shows_its_items(design: str) -> None:
    workspace = open_workspace([design])
    with serving_studio(workspace) as link:
        browser = Browser(link)
        for table in workspace.maps:
            description = workspace.describe(table)
            assert description is not None
            for each in description.collections:
                query = {"index": each.name} if each.name else {}
                found = browser.get(f"/items/{table}?{urlencode(query)}")
                assert found.status == 200
                more = {"IndexName": each.name} if each.name else {}
                items = scan(workspace, table, **more)
                shown = text_of(found.text)
                for item in items[:PAGE_SIZE]:
                    for name in each.keys.names:
                        assert content(item[name]) in shown
                assert f"{len(items[:PAGE_SIZE])} item" in shown
                assert "unknown" not in re.findall(r'class="chip e0">(\w+)', found.text)
    workspace.close()


def test_the_first_table_is_shown(browser: Browser) -> None:
    found = browser.get("/items")
    assert (found.status, found.headers["Location"]) == (303, f"/items/{TABLE}")


def test_the_line_says_what_the_filter_was_and_what_it_read(browser: Browser) -> None:
    query = urlencode({"pk": "CUST#C1", "op": "begins_with", "sk": "ORDER#O101"})
    text = text_of(browser.get(f"/items/{TABLE}?{query}").text)
    assert "Query" in text
    assert "PK = CUST#C1 AND begins_with(SK, ORDER#O101)" in text
    assert "4 of 4 items read, 0.5 read units" in text


def test_explain_says_what_the_filter_would_be_and_reads_nothing(browser: Browser) -> None:
    text = text_of(browser.get(f"/items/{TABLE}?entity=CustomerOrder&plan=1").text)
    assert "Scan" in text
    assert "nothing is read yet" in text
    assert "O101" not in text


def test_a_filter_by_entity_shows_that_entity(browser: Browser) -> None:
    page = browser.get(f"/items/{TABLE}?entity=CustomerProfile").text
    assert re.findall(r'<span class="chip e\d+">(\w+)', page) == ["CustomerProfile"] * 2


def test_a_malformed_filter_keeps_the_input(browser: Browser) -> None:
    found = browser.get(f"/items/{TABLE}?pk=a%22%3Cb%3E&op=%3D")
    assert found.status == 400
    assert "= needs a value for SK" in text_of(found.text)
    assert 'value="a&quot;&lt;b&gt;"' in found.text


@pytest.mark.parametrize("path", ["/items/nothing", f"/items/{TABLE}?index=nothing"])
def test_what_does_not_exist_is_said(browser: Browser, path: str) -> None:
    found = browser.get(path)
    assert found.status == 404
    assert "nothing" in text_of(found.text)


@pytest.fixture
def keys_browser() -> Iterator[tuple[Engine, Browser]]:
    """A target without a design, with a table of many partitions."""
    engine = Engine(":memory:")
    create_keys_table(engine)
    for number in range(PAGE_SIZE * 2 + 7):
        item: dict[str, Any] = {
            "id": {"N": str(number)},
            "at": {"B": "AA=="},
            "rank": {"N": str(number)},
            "text": {"S": f"=t{number}"},
        }
        put(engine, KEYS, item)
    with serving_studio(Workspace(None, engine)) as link:
        yield engine, Browser(link)


def test_next_and_previous_go_through_all_pages(keys_browser: tuple[Engine, Browser]) -> None:
    _, browser = keys_browser
    path, seen, pages = f"/items/{KEYS}", [], []
    while path:
        page = browser.get(path).text
        pages.append(path)
        seen += re.findall(r"=t\d+", page)
        found = re.search(r'href="([^"]*)" rel="next"', page)
        path = unescape(found[1]) if found else ""
    assert len(seen) == len(set(seen)) == PAGE_SIZE * 2 + 7
    assert len(pages) == 3
    back = re.search(r'href="([^"]*)" rel="prev"', browser.get(pages[2]).text)
    assert back is not None
    assert unescape(back[1]) == pages[1]
    first = re.search(r'href="([^"]*)" rel="prev"', browser.get(pages[1]).text)
    assert first is not None
    assert unescape(first[1]) == pages[0]


def test_the_drawer_shows_the_stored_item_and_the_typed_one(browser: Browser) -> None:
    page = browser.get(f"/items/{TABLE}?pk={quote('CUST#C1')}&op=%3D&sk={quote('ORDER#O101')}").text
    link = re.search(r'<a class="kl" id="row0" href="([^"]*)"', page)
    assert link is not None
    found = browser.get(unescape(link[1])).text
    text = text_of(found)
    assert '"status": {"S": "PAID"}' in text
    assert "total=Decimal('39.8')" in text
    assert "in CUST#C1#STATUS#PAID" in text
    assert '<tr class="sel">' in found


def test_an_unknown_item_and_an_undecodable_one_are_shown(
    workspace: Workspace, browser: Browser
) -> None:
    keys = {"PK": {"S": "CUST#C9"}, "SK": {"S": "NOTE#1"}}
    workspace.send("PutItem", TableName=TABLE, Item=keys | {"text": {"S": "hello"}})
    broken = {
        "PK": {"S": "CUST#C9"},
        "SK": {"S": "ORDER#O1"},
        "entityType": {"S": "CustomerOrder"},
        "total": {"S": "many"},
    }
    workspace.send("PutItem", TableName=TABLE, Item=broken)
    page = browser.get(f"/items/{TABLE}?pk={quote('CUST#C9')}").text
    assert '<span class="chip e0">unknown</span>' in page
    assert "1 item the design does not know" in page
    assert "cannot be decoded" in page
    assert "many" in page
    only = text_of(browser.get(f"/items/{TABLE}?entity=-unknown").text)
    assert "NOTE#1" in only
    assert "ORDER#O1" not in only


def test_exports_are_the_items_of_the_page_or_of_all_pages(
    keys_browser: tuple[Engine, Browser],
) -> None:
    engine, browser = keys_browser
    one = browser.get(f"/items/{KEYS}/export?format=json&pages=one")
    assert one.headers["Content-Disposition"] == 'attachment; filename="keys_table.json"'
    assert len(one.text.splitlines()) == PAGE_SIZE
    everything = browser.get(f"/items/{KEYS}/export?format=json&pages=all").text.splitlines()
    items = [json.loads(line)["Item"] for line in everything]
    assert items == engine.call("Scan", {"TableName": KEYS})["Items"]
    table = browser.get(f"/items/{KEYS}/export?format=csv&pages=all&index=local").text
    rows = list(csv.reader(io.StringIO(table)))
    assert rows[0] == ["id", "at", "rank", "other attributes"]
    assert len(rows) == PAGE_SIZE * 2 + 8
    row = csv.reader(io.StringIO(browser.get(f"/items/{KEYS}/export?format=csv&pk=5").text))
    assert list(row)[1] == ["5", "AA==", "5", "'=t5", ""]


class CountingWorkspace(Workspace):
    """A workspace that keeps the requests of its views."""

    requests: list[tuple[str, dict[str, Any]]]

    def send(self, operation: str, **request: Any) -> dict[str, Any]:
        self.requests.append((operation, request))
        return super().send(operation, **request)


def test_the_first_view_of_a_table_is_one_request_of_one_page() -> None:
    engine = Engine(":memory:")
    create_keys_table(engine)
    for number in range(PAGE_SIZE * 3):
        put(engine, KEYS, {"id": {"N": str(number)}, "at": {"B": "AA=="}})
    workspace = CountingWorkspace(None, engine)
    workspace.requests = []
    with serving_studio(workspace) as link:
        text = text_of(Browser(link).get(f"/items/{KEYS}").text)
    assert [operation for operation, _ in workspace.requests] == ["DescribeTable", "Scan"]
    assert workspace.requests[1][1]["Limit"] == PAGE_SIZE
    assert f"{PAGE_SIZE} of {PAGE_SIZE} items read" in text


def cells_of(page: str) -> list[list[str]]:
    """The cells of each row of the grid, without those of partitions."""
    return [
        [text_of(cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page)
        if "<td" in row
    ]


def test_items_of_one_kind_have_a_column_for_each_attribute_also_where_it_is_absent(
    workspace: Workspace, browser: Browser
) -> None:
    key = {"PK": {"S": "CUST#C7"}, "SK": {"S": "PROFILE"}}
    profile = {"entityType": {"S": "CustomerProfile"}, "customerId": {"S": "C7"}}
    more = {"name": {"S": "Eve"}, "points": {"N": "12"}}
    workspace.send("PutItem", TableName=TABLE, Item=key | profile | more)
    page = browser.get(f"/items/{TABLE}?entity=CustomerProfile").text
    head = re.findall(r'<th scope="col" class="at[^"]*">(.*?)</th>', page)
    rows = cells_of(page)
    assert head[-1] == 'points<span class="faint" title="not in the design"> ?</span>'
    assert len({len(row) for row in rows}) == 1
    assert len(rows[0]) == len(head) + 2
    assert {row[-1] for row in rows} == {"12", "—"}
    assert re.search(r'<td class="at num" data-l="points">', page)


def test_an_empty_table_offers_no_filter_to_clear(keys_browser: tuple[Engine, Browser]) -> None:
    engine, browser = keys_browser
    for item in engine.call("Scan", {"TableName": KEYS})["Items"]:
        key = {name: item[name] for name in ("id", "at")}
        engine.call("DeleteItem", {"TableName": KEYS, "Key": key})
    empty = text_of(browser.get(f"/items/{KEYS}").text)
    assert "No items yet" in empty
    assert "Clear the filter" not in empty
    assert "Clear the filter" in text_of(browser.get(f"/items/{KEYS}?pk=1").text)


def test_a_table_offers_what_it_has(opened: Open) -> None:
    """Numbers have no beginning, and a table without indexes has nothing to switch to."""
    engine = Engine(":memory:")
    create_table(engine, "plain")
    create_keys_table(engine)
    browser = opened(engine)
    assert "Table or index" not in browser.get("/items/plain").text
    assert "Table or index" in browser.get(f"/items/{KEYS}").text
    assert 'value="begins_with"' in browser.get(f"/items/{KEYS}").text
    assert 'value="begins_with"' not in browser.get(f"/items/{KEYS}?index=local").text
