"""The page of an item: its links, and edits and deletions that show first what they do."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_fits
from tests.browser.studios import Studio, running
from tests.studio import extremes

TABLE = "commerce_single_table"
ORDER = f"/item/{TABLE}?pk=CUST%23C1&sk=ORDER%23O101"
KEY = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}


@pytest.fixture
def opened(studio: Studio, page: Page) -> Page:
    """The page of the order O101."""
    studio.enter(page)
    page.goto(studio.url + ORDER)
    return page


def stored(studio: Studio) -> dict[str, Any] | None:
    found: dict[str, Any] | None = studio.workspace.send("GetItem", TableName=TABLE, Key=KEY).get(
        "Item"
    )
    return found


def test_relations_lead_both_ways(opened: Page) -> None:
    opened.locator(".rel a", has_text="I2").click()
    expect(opened.locator("h1")).to_contain_text("I2")
    opened.locator(".rel a", has_text="O101").first.click()
    expect(opened.locator("h1")).to_contain_text("O101")
    opened.locator(".rel a", has_text="C1").first.click()
    expect(opened.locator("h1")).to_contain_text("C1")


def test_an_edit_moves_the_index_rows_after_its_preview(studio: Studio, opened: Page) -> None:
    opened.get_by_role("link", name="Edit").click()
    opened.get_by_label("status").fill("FULFILLED")
    opened.get_by_role("button", name="Preview").click()
    expect(opened.get_by_text("nothing is written yet")).to_be_visible()
    before = stored(studio)
    assert before is not None
    assert before["status"] == {"S": "PAID"}
    opened.get_by_role("button", name="Save").click()
    expect(opened.locator("main [role=status]")).to_contain_text("as previewed")
    after = stored(studio)
    assert after is not None
    assert after["GSI2PK"] == {"S": "STATUS#FULFILLED"}
    assert int(after["version"]["N"]) == int(before["version"]["N"]) + 1


def test_a_deletion_shows_what_goes_and_waits(studio: Studio, opened: Page) -> None:
    opened.get_by_role("link", name="Delete").click()
    expect(opened.locator(".touch tbody tr")).to_have_count(4)
    assert stored(studio) is not None
    opened.get_by_role("button", name="Delete O101").click()
    expect(opened.get_by_role("button", name="Delete O101")).to_have_count(0)
    assert stored(studio) is None


def test_an_item_that_changed_is_not_deleted(studio: Studio, opened: Page) -> None:
    opened.get_by_role("link", name="Delete").click()
    studio.workspace.send(
        "UpdateItem",
        TableName=TABLE,
        Key=KEY,
        UpdateExpression="SET version = :v",
        ExpressionAttributeValues={":v": {"N": "9"}},
    )
    opened.get_by_role("button", name="Delete O101").click()
    expect(opened.get_by_role("alert")).to_contain_text("Nothing was written")
    assert stored(studio) is not None


@pytest.mark.parametrize("width", [1440, 400])
def test_the_largest_items_fit_their_pages(page: Page, width: int) -> None:
    with running(extremes.workspace()) as studio:
        studio.enter(page)
        for path in extremes.paths():
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(studio.url + path)
            assert_fits(page)
            assert page.evaluate("document.documentElement.scrollHeight") < 10_000
