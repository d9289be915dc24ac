"""The item view: every kind of item of every design, its places in indexes, and its relations."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.designs import commerce
from tablewright.engine import Engine
from tablewright.presentation.keys import key_text
from tablewright.presentation.kinds import filter_name, kind_of
from tablewright.presentation.values import content, middle
from tablewright.studio.items.places import places_of
from tablewright.studio.markup.item_parts import CUT, LONG
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tests.studio.conftest import Browser
from tests.studio.tables import KEYS, create_keys_table, put
from tests.studio.test_items import DESIGNS, TABLE, scan, text_of


def path_of(description: TableDescription, item: dict[str, Any]) -> str:
    texts = [key_text(value) for value in description.key(item).values()]
    return f"/item/{description.name}?{urlencode(dict(zip(('pk', 'sk'), texts, strict=False)))}"


def description_of(workspace: Workspace, table: str) -> TableDescription:
    found = workspace.describe(table)
    assert found is not None
    return found


@pytest.mark.parametrize("design", DESIGNS)
def test_the_places_of_every_item_are_those_of_the_engine(design: str) -> None:
    workspace = open_workspace([design])
    for table, known in workspace.maps.items():
        description = description_of(workspace, table)
        rows = {
            each.name: scan(workspace, table, IndexName=each.name) for each in description.indexes
        }
        for item in scan(workspace, table):
            for place in places_of(description, kind_of(known, item), item)[1:]:
                stored = [
                    row for row in rows[place.collection.name]
                    if description.key(row) == description.key(item)
                ]  # fmt: skip
                assert place.is_in == bool(stored)
                assert bool(place.reason) is not place.is_in
                for row in stored:
                    for name, pieces in place.keys.items():
                        assert "".join(piece.text for piece in pieces) == content(row[name])
    workspace.close()


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_every_sample_item_shows_its_attributes_and_places(design: str) -> None:
    workspace = open_workspace([design])
    with serving_studio(workspace) as link:
        browser = Browser(link)
        for table, known in workspace.maps.items():
            description = description_of(workspace, table)
            seen = set()
            for item in scan(workspace, table):
                found = browser.get(path_of(description, item))
                assert found.status == 200
                shown = text_of(found.text)
                for name, value in item.items():
                    assert name in shown
                    text = content(value)
                    assert (text if len(text) <= LONG else middle(text, CUT)) in shown
                inside = sum(each.contains(item) for each in description.indexes)
                assert shown.count("in the index") - shown.count("not in the index") == inside
                assert shown.count("not in the index") == len(description.indexes) - inside
                if (kind := filter_name(kind_of(known, item))) in seen:
                    continue
                seen.add(kind)
                for href in re.findall(r'href="(/item/[^"]*)"', found.text):
                    assert browser.get(href.replace("&amp;", "&")).status == 200
    workspace.close()


def test_an_order_shows_its_relations_and_its_history(
    workspace: Workspace, browser: Browser
) -> None:
    update = {"pk": "CUST#C1", "sk": "ORDER#O101"}
    text = text_of(browser.get(f"/item/{TABLE}?{urlencode(update)}").text)
    assert re.search(r"Belongs to\s*CustomerProfile\s*C1", text)
    assert re.search(r"OrderLineItem\s*3\s*I1\s*I2\s*I3", text)
    assert "No changes yet" in text
    assert "number 3 in its partition" in text
    plan = commerce.update_order_status_with_history("C1", "O101", "FULFILLED", 1, "w", "done")
    workspace.database().run(plan)
    text = text_of(browser.get(f"/item/{TABLE}?{urlencode(update)}").text)
    assert re.search(r"PAID→toFULFILLEDv2w: done", text)


def test_a_unique_value_links_to_its_sentinel_and_back() -> None:
    workspace = open_workspace(["recipes"])
    with serving_studio(workspace) as link:
        browser = Browser(link)
        query = urlencode({"pk": "CATEGORY#1", "sk": "INGREDIENT#1"})
        page = browser.get(f"/item/recipes?{query}").text
        assert re.search(r"Ingredient\.names\s*INGREDIENTNAME#tomatoes", text_of(page))
        query = urlencode({"pk": "INGREDIENTNAME#tomatoes", "sk": "INGREDIENTNAME#tomatoes"})
        back = browser.get(f"/item/recipes?{query}").text
        assert "pk=CATEGORY%231&amp;sk=INGREDIENT%231" in back
        key = {"PK": {"S": "INGREDIENTNAME#tomatoes"}, "SK": {"S": "INGREDIENTNAME#tomatoes"}}
        workspace.send("DeleteItem", TableName="recipes", Key=key)
        query = urlencode({"pk": "CATEGORY#1", "sk": "INGREDIENT#1"})
        assert "missing: the value is not reserved" in browser.get(f"/item/recipes?{query}").text
    workspace.close()


def test_an_item_without_a_design_shows_its_places() -> None:
    engine = Engine(":memory:")
    create_keys_table(engine)
    item = {"id": {"N": "1"}, "at": {"B": "AAE="}, "a": {"S": "x"}, "deep": {"L": [{"N": "1"}]}}
    put(engine, KEYS, item)
    with serving_studio(Workspace(None, engine)) as link:
        text = text_of(Browser(link).get(f"/item/{KEYS}?pk=1&sk=AAE%3D").text)
    assert "Key declares no key for it: the item has no b and no c and no d" in text
    assert "alone in its partition" in text
    assert "[1]" in text


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/item/nothing?pk=1", 404, "no table nothing"),
        (f"/item/{TABLE}", 400, "PK must be a string; it is empty"),
        (f"/item/{TABLE}?pk=a", 400, "SK must be a string; it is empty"),
        (f"/item/{TABLE}?pk=a&sk=b", 404, "no item with this key"),
    ],
)
def test_what_is_no_item_is_said(browser: Browser, path: str, status: int, message: str) -> None:
    found = browser.get(path)
    assert found.status == status
    assert message in text_of(found.text)


def test_an_undecodable_item_is_shown_with_the_reason(
    workspace: Workspace, browser: Browser
) -> None:
    item = {
        "PK": {"S": "CUST#C9"},
        "SK": {"S": "ORDER#O1"},
        "entityType": {"S": "CustomerOrder"},
        "total": {"S": "many"},
        "customerId": {"S": "C9"},
    }
    workspace.send("PutItem", TableName=TABLE, Item=item)
    text = text_of(browser.get(f"/item/{TABLE}?pk=CUST%23C9&sk=ORDER%23O1").text)
    assert "This item cannot be decoded: " in text
    assert "many" in text
    assert "The item has no GSI1PK and no GSI1SK" in text
