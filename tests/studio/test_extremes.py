"""Pages of items as large as DynamoDB allows are small, and say what they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tablewright.presentation.values import middle
from tablewright.studio.markup.parts import json_code
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio import extremes
from tests.studio.conftest import Browser
from tests.studio.test_items import text_of

MOST_BYTES = 150 * 1024
ORDER = f"/item/{extremes.TABLE}?{urlencode({'pk': 'CUST#C1', 'sk': 'ORDER#O101'})}"


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    opened = extremes.workspace()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser(workspace: Workspace) -> Iterator[Browser]:
    with serving_studio(workspace) as link:
        yield Browser(link)


@pytest.mark.parametrize("path", extremes.paths())
def test_no_item_makes_a_page_large(browser: Browser, path: str) -> None:
    found = browser.get(path)
    assert found.status == 200
    assert len(found.text.encode()) <= MOST_BYTES


def test_a_long_value_shows_its_ends_its_size_and_where_it_is(browser: Browser) -> None:
    text = text_of(browser.get(ORDER).text)
    assert middle(extremes.LONG_TEXT, 240) in text
    assert "293.0 KB, open" in text
    value = ORDER.replace("?", "/value?") + "&name=note"
    assert "the first 4,000 characters" in text_of(browser.get(value).text)
    whole = browser.get(value.replace("/value?", "/value/text?"))
    assert whole.text == extremes.LONG_TEXT
    assert whole.headers["Content-Disposition"] == 'attachment; filename="note.txt"'
    assert whole.headers["Content-Type"].startswith("text/plain")


def test_an_attribute_that_is_not_there_has_no_page(browser: Browser) -> None:
    found = browser.get(ORDER.replace("?", "/value?") + "&name=nothing")
    assert found.status == 404
    assert "The item has no attribute nothing" in text_of(found.text)


def test_an_edit_keeps_what_is_too_long_for_the_form(
    workspace: Workspace, browser: Browser
) -> None:
    key = urlencode({"pk": "CUST#C1", "sk": "text"})
    form = text_of(browser.get(f"/item/{extremes.TABLE}/edit?{key}").text)
    assert "Too long to be edited here, and not changed: text." in form
    typed = '{"PK": {"S": "CUST#C1"}, "SK": {"S": "text"}, "more": {"S": "new"}}'
    preview = browser.post(f"/item/{extremes.TABLE}/edit?{key}", {"json": typed}).text
    token = preview.partition('name="~preview" value="')[2].partition('"')[0]
    fields = {"json": typed, "~preview": token}
    assert "Saved" in browser.post(f"/item/{extremes.TABLE}/edit/write?{key}", fields).text
    stored = workspace.send(
        "GetItem",
        TableName=extremes.TABLE,
        Key={"PK": {"S": "CUST#C1"}, "SK": {"S": "text"}},
    )["Item"]
    assert stored["more"] == {"S": "new"}
    assert stored["text"] == {"S": extremes.LONG_TEXT}


def test_json_code_says_how_much_it_leaves_out() -> None:
    shown = text_of(json_code({"L": [{"N": "1"}] * 10_000}))
    assert shown.endswith(" more\n]}")
    assert "… 9," in shown
    assert text_of(json_code({"S": "x" * 401})).count("…") == 1
    assert "…" not in text_of(json_code({"L": [{"N": "1"}] * 100}))
