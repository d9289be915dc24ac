"""Finding items by their ids, unique values and keys."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.presentation.keys import key_text
from tablewright.presentation.kinds import kind_of
from tablewright.studio.items.finding import MAX_TRIES, search
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio.conftest import Browser, Open, create_table
from tests.studio.tables import KEYS, create_keys_table, put
from tests.studio.test_item import description_of, path_of
from tests.studio.test_items import DESIGNS, scan, text_of

PAGE = "/item/commerce_single_table"


class Counted:
    """Sends requests to a workspace and keeps their operations."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.operations: list[str] = []
        self.tables = {
            table: (description_of(workspace, table), known)
            for table, known in workspace.maps.items()
        }

    def __call__(self, operation: str, **request: Any) -> dict[str, Any]:
        self.operations.append(operation)
        return self.workspace.send(operation, **request)


@pytest.mark.parametrize("design", DESIGNS)
def test_every_item_is_found_by_its_key_without_a_scan(design: str) -> None:
    send = Counted(open_workspace([design]))
    for description, _ in send.tables.values():
        for item in scan(send.workspace, description.name)[:20]:
            send.operations.clear()
            texts = [key_text(value) for value in description.key(item).values()]
            found = search(send, send.tables, " | ".join(texts))
            assert (description, item) in [(tried.description, hit) for tried, hit in found.items]
            assert "Scan" not in send.operations
            assert len(send.operations) <= 2 * MAX_TRIES
    send.workspace.close()


@pytest.mark.parametrize("design", DESIGNS)
def test_every_entity_is_found_by_the_parts_of_its_key(design: str) -> None:
    send = Counted(open_workspace([design]))
    for description, known in send.tables.values():
        for item in scan(send.workspace, description.name)[:20]:
            kind = kind_of(known, item)
            if kind.entity is None or kind.unique is not None:
                continue
            values = kind.entity.values(item)
            names = dict.fromkeys(part.attribute for part in kind.entity.primary.parameters)
            text = " ".join(str(values[name]) for name in names)
            if len(text.split()) == len(names):
                found = search(send, send.tables, text)
                assert description.key(item) in [
                    tried.description.key(hit) for tried, hit in found.items
                ]
    send.workspace.close()


@pytest.mark.parametrize(
    ("design", "text", "path"),
    [
        ("commerce", "C1", f"{PAGE}?pk=CUST%23C1&sk=PROFILE%23C1"),
        ("commerce", " C1  O101 ", f"{PAGE}?pk=CUST%23C1&sk=ORDER%23O101"),
        ("commerce", "CUST#C1/ORDER#O10", f"{PAGE}?pk=CUST%23C1&sk=ORDER%23O10"),
        ("market", "tea-circle", None),
        ("shop", "tester@example.com", None),
    ],
)  # fmt: skip
def test_one_hit_leads_to_the_item(design: str, text: str, path: str | None) -> None:
    workspace = open_workspace([design])
    with serving_studio(workspace) as link:
        found = Browser(link).get(f"/find?q={quote_plus(text)}")
    workspace.close()
    assert found.status == 303
    location = found.headers["Location"]
    assert location == path if path else location.startswith("/item/")


def test_several_hits_are_listed(browser: Browser) -> None:
    text = text_of(browser.get("/find?q=PAID").text)
    assert "3 items" in text
    assert "CustomerOrder by status" in text
    page = browser.get(f"/find?{urlencode({'q': 'CUST#C1'})}").text
    links = re.findall(r'href="(/items/[^"]*)"', page)
    assert all(browser.get(link.replace("&amp;", "&")).status == 200 for link in links)
    assert "16 items" in text_of(page)


def test_a_unique_value_leads_to_what_has_it() -> None:
    workspace = open_workspace(["recipes"])
    description = description_of(workspace, "recipes")
    send = Counted(workspace)
    found = search(send, {"recipes": send.tables["recipes"]}, "vegetables")
    assert found.only is not None
    assert path_of(description, found.only[1]) == "/item/recipes?pk=CATEGORY%231&sk=CATEGORY%231"
    workspace.close()


def test_no_hit_says_what_was_tried_and_what_to_type(browser: Browser) -> None:
    found = browser.get("/find?q=O101")
    text = text_of(found.text)
    assert found.status == 404
    assert "No key or unique value is O101" in text
    assert "GetItem PK = CUST#O101 AND SK = PROFILE#O101" in text
    assert re.search(r"CustomerOrder\s*type\s*customer_id order_id", text)


def test_nothing_typed_shows_what_to_type(browser: Browser) -> None:
    assert "Type the id of an item" in browser.get("/find?q=+").text


def test_a_target_without_a_design_is_searched_by_key() -> None:
    engine = Engine(":memory:")
    create_keys_table(engine)
    for binary in ("AAE=", "AAI="):
        put(engine, KEYS, {"id": {"N": "7"}, "at": {"B": binary}, "a": {"S": "x"}})
    put(engine, KEYS, {"id": {"N": "8"}, "at": {"B": "AA=="}})
    with serving_studio(Workspace(None, engine)) as link:
        browser = Browser(link)
        assert browser.get("/find?q=8").headers["Location"] == f"/item/{KEYS}?pk=8&sk=AA%3D%3D"
        assert browser.get("/find?q=7+AAI%3D").status == 303
        assert "2 items" in text_of(browser.get("/find?q=7").text)
        assert browser.get("/find?q=x").status == 404


def scan_form(page: str) -> dict[str, str]:
    """Return the hidden fields of the form that scans, or continues to."""
    form = page.partition('action="/find/scan"')[2].partition("</form>")[0]
    pairs: list[tuple[str, str]] = re.findall(
        r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form
    )
    return dict(pairs)


def test_what_no_key_has_is_found_by_a_scan_that_states_its_price_first(
    workspace: Workspace, browser: Browser
) -> None:
    operations = Counted(workspace)
    found = browser.get("/find?q=O101")
    assert found.status == 404
    text = text_of(found.text)
    assert re.search(r"Scan commerce_single_table\s*about 20 items, [\d.]+ KB: \d+ read unit", text)
    stepped = browser.post("/find/scan", scan_form(found.text)).text
    assert "pk=CUST%23C1&amp;sk=ORDER%23O101" in stepped
    assert "20 items read" in text_of(stepped)
    assert operations.operations == []


def test_a_scan_ends_a_step_with_what_it_finds_and_continues_on_request(opened: Open) -> None:
    engine = Engine(":memory:")
    create_table(engine, "large", "id")
    for number in range(30):
        item: dict[str, Any] = {"id": {"S": str(number)}, "text": {"S": "x" * 100_000}}
        if number % 10 == 5:
            item["tags"] = {"L": [{"M": {"name": {"S": "needle in it"}}}, {"NS": ["7", "1"]}]}
        put(engine, "large", item)
    browser = opened(engine)
    page, seen, steps = browser.get("/find?q=needle").text, set[str](), 0
    while form := scan_form(page):
        page = browser.post("/find/scan", form).text
        seen |= set(re.findall(r"/item/large\?pk=(\d+)", page))
        steps += 1
    assert seen == {"5", "15", "25"}
    assert steps > 1
    assert "30 items read" in text_of(page)
    nothing = browser.post("/find/scan", {"q": "needl", "table": "large"}).text
    assert "needl" in nothing
    assert "/item/large" not in nothing


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"q": "x", "table": "unknown"}, 404),
        ({"table": "commerce_single_table"}, 404),
        ({"q": "x", "table": "commerce_single_table", "after": "?"}, 400),
        ({"q": "x(", "table": "commerce_single_table", "read": "-1", "units": "nan"}, 200),
    ],
)
def test_an_invalid_form_of_a_scan_is_refused(
    browser: Browser, form: dict[str, str], status: int
) -> None:
    assert browser.post("/find/scan", form).status == status
