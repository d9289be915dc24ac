"""The live view of a studio, and its search box."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.hostile import HOSTILE
from tests.browser.studios import Studio

TABLE = "commerce_single_table"


def change_email(studio: Studio, value: str) -> None:
    studio.workspace.send(
        "UpdateItem",
        TableName=TABLE,
        Key={"PK": {"S": "CUST#C1"}, "SK": {"S": "PROFILE#C1"}},
        UpdateExpression="SET email = :email",
        ExpressionAttributeValues={":email": {"S": value}},
    )


def follow(studio: Studio, page: Page) -> None:
    """Enable the stream and wait until the page follows it."""
    studio.enter(page, "/live")
    page.get_by_role("button", name="Enable the stream").click()
    expect(page.locator("#state")).to_have_text("following the stream")


def test_changes_appear_wait_during_a_pause_and_are_text(studio: Studio, page: Page) -> None:
    follow(studio, page)
    rows = page.locator("#changes tr")
    change_email(studio, HOSTILE)
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("<img src=x: onerror=window.hit=1>")
    assert page.evaluate("window.hit") is None
    page.keyboard.press("p")
    change_email(studio, "second@example.com")
    expect(page.locator("#count")).to_contain_text("1 waiting")
    expect(rows).to_have_count(1)
    page.keyboard.press("p")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("second@example.com")
    assert_accessible(page)


def test_a_filter_shows_changes_of_one_entity_only(studio: Studio, page: Page) -> None:
    follow(studio, page)
    page.get_by_label("Entity").select_option("CustomerProfile")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#state")).to_have_text("following the stream")
    key = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O10#ITEM#I1"}}
    studio.workspace.send("DeleteItem", TableName=TABLE, Key=key)
    change_email(studio, "new@example.com")
    rows = page.locator("#changes tr")
    expect(rows.first).to_contain_text("new@example.com")
    expect(rows).to_have_count(1)


def test_an_id_leads_to_its_item(studio: Studio, page: Page) -> None:
    studio.enter(page)
    page.keyboard.press("/")
    page.keyboard.type("C1 O101")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("O101")
    expect(page).to_have_url(f"{studio.url}/item/{TABLE}?pk=CUST%23C1&sk=ORDER%23O101")
