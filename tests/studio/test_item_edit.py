"""Editing and deleting items: previews, what is written, and lost races."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.presentation.kinds import filter_name, kind_of
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio.conftest import Answer, Browser
from tests.studio.form_reader import form_pairs
from tests.studio.tables import KEYS, create_keys_table, put
from tests.studio.test_hostile_items import HOSTILE, assert_harmless
from tests.studio.test_item import description_of, path_of
from tests.studio.test_items import DESIGNS, TABLE, scan, text_of

ORDER = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}
KEY = urlencode({"pk": "CUST#C1", "sk": "ORDER#O101"})
EDIT = f"/item/{TABLE}/edit?{KEY}"
WRITE = f"/item/{TABLE}/edit/write?{KEY}"
DELETE = f"/item/{TABLE}/delete?{KEY}"


def submit(browser: Browser, path: str, pairs: list[tuple[str, str]], **changed: str) -> Answer:
    """Submit a form with some inputs changed; `item_total` is `item.total`."""
    names = {name.replace("_", ".", 1): value for name, value in changed.items()}
    kept = [(name, names.pop(name, value)) for name, value in pairs]
    body = urlencode([*kept, *names.items()])
    return browser.send("POST", path, body, Sec_Fetch_Site="same-origin")


def stored(workspace: Workspace, key: dict[str, Any], table: str = TABLE) -> dict[str, Any]:
    item: dict[str, Any] = workspace.send("GetItem", TableName=table, Key=key).get("Item", {})
    return item


def test_an_edit_writes_what_its_preview_shows(workspace: Workspace, browser: Browser) -> None:
    before = stored(workspace, ORDER)
    form = form_pairs(browser.get(EDIT).text)
    shown = submit(browser, EDIT, form, item_status="FULFILLED")
    assert "nothing is written yet" in shown.text
    assert stored(workspace, ORDER) == before
    done = submit(browser, WRITE, form_pairs(shown.text))
    assert "Saved" in done.text
    after = stored(workspace, ORDER)
    assert {name for name in after if after[name] != before[name]} == {
        *("GSI2PK", "GSI3PK", "status", "version"),
    }
    assert after["GSI2PK"] == {"S": "STATUS#FULFILLED"}
    event = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER_STATUS_EVT#O101#V#0000000002"}}
    assert stored(workspace, event)["toStatus"] == {"S": "FULFILLED"}


def test_a_preview_is_written_once(workspace: Workspace, browser: Browser) -> None:
    shown = submit(browser, EDIT, form_pairs(browser.get(EDIT).text), item_total="7")
    pairs = form_pairs(shown.text)
    assert "Saved" in submit(browser, WRITE, pairs).text
    again = submit(browser, WRITE, pairs)
    assert "Not written" in again.text
    assert stored(workspace, ORDER)["version"] == {"N": "2"}


def test_a_lost_race_shows_a_new_preview_and_keeps_what_others_changed(
    workspace: Workspace, browser: Browser
) -> None:
    shown = submit(browser, EDIT, form_pairs(browser.get(EDIT).text), item_status="CANCELLED")
    workspace.send(
        "UpdateItem",
        TableName=TABLE,
        Key=ORDER,
        UpdateExpression="SET #t = :t, version = :v",
        ExpressionAttributeNames={"#t": "total"},
        ExpressionAttributeValues={":t": {"N": "5"}, ":v": {"N": "9"}},
    )
    lost = submit(browser, WRITE, form_pairs(shown.text))
    assert "Not written" in lost.text
    assert stored(workspace, ORDER)["status"] == {"S": "PAID"}
    pairs = form_pairs(lost.text)
    assert dict(pairs)["item.total"] == "5"
    assert dict(pairs)["item.status"] == "CANCELLED"
    assert "Saved" in submit(browser, WRITE, pairs).text
    after = stored(workspace, ORDER)
    assert (after["total"], after["version"]) == ({"N": "5"}, {"N": "10"})
    assert after["status"] == {"S": "CANCELLED"}


def test_a_form_that_was_changed_after_its_preview_is_not_written(
    workspace: Workspace, browser: Browser
) -> None:
    shown = submit(browser, EDIT, form_pairs(browser.get(EDIT).text), item_total="7")
    other = submit(browser, WRITE, form_pairs(shown.text), item_total="8")
    assert "Not written" in other.text
    assert stored(workspace, ORDER)["total"] == {"N": "39.8"}


def test_a_wrong_value_is_kept_beside_its_problem(workspace: Workspace, browser: Browser) -> None:
    found = submit(browser, EDIT, form_pairs(browser.get(EDIT).text), item_total="many<b>")
    assert found.status == 400
    assert 'value="many&lt;b&gt;"' in found.text
    assert 'aria-invalid="true"' in found.text


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_a_form_that_is_not_changed_changes_nothing(design: str) -> None:
    workspace = open_workspace([design])
    with serving_studio(workspace) as link:
        browser = Browser(link)
        for table, known in workspace.maps.items():
            description = description_of(workspace, table)
            kinds = {filter_name(kind_of(known, item)): item for item in scan(workspace, table)}
            for item in kinds.values():
                path, _, query = path_of(description, item).partition("?")
                page = browser.get(f"{path}/edit?{query}")
                assert page.status == 200
                same = submit(browser, f"{path}/edit?{query}", form_pairs(page.text))
                assert "Nothing has changed" in text_of(same.text)
                assert browser.get(f"{path}/delete?{query}").status == 200
        before = {table: scan(workspace, table) for table in workspace.maps}
        assert before == {table: scan(workspace, table) for table in workspace.maps}
    workspace.close()


def test_a_deletion_removes_the_item_its_rows_and_its_unique_values() -> None:
    workspace = open_workspace(["recipes"])
    category = {"PK": {"S": "CATEGORY#1"}, "SK": {"S": "CATEGORY#1"}}
    name = {"PK": {"S": "CATEGORYNAME#vegetables"}, "SK": {"S": "CATEGORYNAME#vegetables"}}
    path = f"/item/recipes/delete?{urlencode({'pk': 'CATEGORY#1', 'sk': 'CATEGORY#1'})}"
    with serving_studio(workspace) as link:
        browser = Browser(link)
        shown = browser.get(path)
        assert "4 stay, without their Category" in text_of(shown.text)
        assert stored(workspace, category, "recipes")
        assert "Deleted" in submit(browser, path, form_pairs(shown.text)).text
        assert stored(workspace, category, "recipes") == {}
        assert stored(workspace, name, "recipes") == {}
    workspace.close()


def test_a_deletion_of_a_changed_item_shows_a_new_preview(
    workspace: Workspace, browser: Browser
) -> None:
    shown = browser.get(DELETE)
    item = stored(workspace, ORDER) | {"note": {"S": "new"}}
    workspace.send("PutItem", TableName=TABLE, Item=item)
    assert "Not written" in submit(browser, DELETE, form_pairs(shown.text)).text
    assert stored(workspace, ORDER) == item


def test_an_unknown_item_is_edited_as_json(workspace: Workspace, browser: Browser) -> None:
    key = {"PK": {"S": "CUST#C9"}, "SK": {"S": "NOTE#\u202e1"}}
    kept = {"tags": {"SS": ["a", "b"]}, "text": {"S": "a\u202eb\x00"}}
    workspace.send("PutItem", TableName=TABLE, Item=key | kept | {"gone": {"N": "1"}})
    query = urlencode({"pk": "CUST#C9", "sk": "NOTE#\u202e1"})
    path = f"/item/{TABLE}/edit?{query}"
    ((_, was), (_, text)) = form_pairs(browser.get(path).text)
    changed = text.replace('"N": "1"', '"N": "2e0"').replace('"a",', '"z",')
    pairs = [("~was", was), ("json", changed)]
    shown = submit(browser, path, pairs)
    assert "nothing is written yet" in shown.text
    done = submit(browser, f"/item/{TABLE}/edit/write?{query}", form_pairs(shown.text))
    assert "Saved" in done.text
    expected = {"tags": {"SS": ["b", "z"]}, "text": kept["text"], "gone": {"N": "2"}}
    assert stored(workspace, key) == key | expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"CUST#C9"', '"CUST#C8"', "cannot change"),
        ('"text"', "text", "not JSON"),
        ('"S": "hello"', '"X": "hello"', "would refuse"),
        ('"S": "hello"', '"N": "hello"', "would refuse"),
        ('"S": "hello"', '"L": "hello"', "would refuse"),
        ('"S": "hello"', '"S": 1', "would refuse"),
        ('"S": "hello"', '"L": [1]', "would refuse"),
    ],
)
def test_json_that_is_no_item_is_refused_and_kept(
    workspace: Workspace, browser: Browser, old: str, new: str, message: str
) -> None:
    key = {"PK": {"S": "CUST#C9"}, "SK": {"S": "NOTE#1"}}
    workspace.send("PutItem", TableName=TABLE, Item=key | {"text": {"S": "hello"}})
    path = f"/item/{TABLE}/edit?{urlencode({'pk': 'CUST#C9', 'sk': 'NOTE#1'})}"
    pairs = form_pairs(browser.get(path).text)
    typed = dict(pairs)["json"].replace(old, new)
    found = submit(browser, path, [("~was", dict(pairs)["~was"]), ("json", typed)])
    assert found.status == 400
    assert message in text_of(found.text)
    assert dict(form_pairs(found.text))["json"] == typed


def test_an_item_of_a_table_without_a_design_is_edited_and_deleted() -> None:
    engine = Engine(":memory:")
    create_keys_table(engine)
    put(engine, KEYS, {"id": {"N": "1"}, "at": {"B": "AAE="}, "x": {"S": "old"}})
    workspace = Workspace(None, engine)
    key = {"id": {"N": "1"}, "at": {"B": "AAE="}}
    with serving_studio(workspace) as link:
        browser = Browser(link)
        path, query = f"/item/{KEYS}/edit", "pk=1&sk=AAE%3D"
        pairs = form_pairs(browser.get(f"{path}?{query}").text)
        new = dict(pairs)["json"].replace("old", "new")
        shown = submit(browser, f"{path}?{query}", pairs, json=new)
        assert "Saved" in submit(browser, f"{path}/write?{query}", form_pairs(shown.text)).text
        assert stored(workspace, key, KEYS)["x"] == {"S": "new"}
        path = f"/item/{KEYS}/delete?{query}"
        assert "Deleted" in submit(browser, path, form_pairs(browser.get(path).text)).text
        assert stored(workspace, key, KEYS) == {}


def test_a_read_only_target_is_not_written(workspace: Workspace) -> None:
    assert isinstance(workspace.target, Engine)
    closed = Workspace(workspace.design, workspace.target, write=False)
    with serving_studio(closed) as link:
        browser = Browser(link)
        page = browser.get(f"/item/{TABLE}?{KEY}").text
        assert "/edit?" not in page
        assert "/delete?" not in page
        shown = submit(browser, EDIT, form_pairs(browser.get(EDIT).text), item_total="7")
        assert "read-only" in text_of(shown.text)
        assert "Save" not in shown.text
        submit(browser, WRITE, form_pairs(shown.text))
        submit(browser, DELETE, form_pairs(browser.get(DELETE).text))
    assert stored(workspace, ORDER)["total"] == {"N": "39.8"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_are_kept_by_an_edit(
    workspace: Workspace, browser: Browser, text: str
) -> None:
    item = stored(workspace, ORDER)
    workspace.send("PutItem", TableName=TABLE, Item=item | {"status": {"S": text}})
    page = browser.get(EDIT)
    assert_harmless(page)
    shown = submit(browser, EDIT, form_pairs(page.text), item_total="7")
    assert_harmless(shown)
    assert_harmless(submit(browser, WRITE, form_pairs(shown.text)))
    after = stored(workspace, ORDER)
    assert (after["status"], after["total"]) == ({"S": text}, {"N": "7"})
