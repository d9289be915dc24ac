"""Every pattern of the five designs through its form, typed and clicked as a person does."""

from __future__ import annotations

import html
import re

import pytest
from playwright.sync_api import Page, expect

from tablewright import Engine
from tablewright.studio.markup.result_parts import result_tree
from tablewright.verify.checks import Raises
from tests.browser.accessibility import assert_accessible
from tests.browser.studios import Studio, studio_of
from tests.studio.calls import DESIGNS, checked_calls
from tests.studio.test_patterns import pairs_of, timeless

COMMERCE = "tablewright.designs.commerce"


def open_pattern(page: Page, studio: Studio, label: str) -> None:
    page.goto(f"{studio.url}/patterns/{label}")


def fill(page: Page, pairs: list[tuple[str, str]]) -> None:
    """Give each input of the form its text, and none to those that are not named."""
    texts = dict(pairs)
    for details in page.locator("#pattern form details:not([open])").all():
        details.locator("> summary").click()
    inputs = page.locator("#pattern form [name]:not([type=hidden])")
    found = inputs.evaluate_all("all => all.map(each => [each.name, each.type, each.value])")
    for number, (name, kind, value) in enumerate(found):
        text = texts.get(name, "0" if name.endswith("~us") else "")
        if kind == "checkbox":
            inputs.nth(number).set_checked(name in texts)
        elif value == text:
            continue
        elif kind == "select-one":
            inputs.nth(number).select_option(text)
        else:
            inputs.nth(number).fill(text)


def shown(page: Page) -> str:
    """Return the text of the result."""
    tree = page.locator("#pattern .tree")
    expect(tree).to_be_visible()
    return timeless(" ".join((tree.text_content() or "").split()))


def expected(result: object) -> str:
    text = html.unescape(re.sub("<[^>]*>", "", result_tree(result)))
    return timeless(" ".join(text.split()))


@pytest.mark.parametrize("name", DESIGNS)
def test_every_pattern_gives_what_running_it_gives(name: str, page: Page) -> None:
    """The first call of each pattern in the checks is made in the browser, the others are run."""
    with studio_of(name) as studio:
        design, engine = studio.workspace.design, studio.workspace.target
        assert design is not None
        assert isinstance(engine, Engine)
        database = studio.workspace.database()
        studio.enter(page)
        seen = set()
        for call in checked_calls(design, database):
            if isinstance(call.check.expect, Raises):
                continue
            if call.pattern.label in seen:
                database.run(call.plan())
                continue
            seen.add(call.pattern.label)
            open_pattern(page, studio, call.pattern.label)
            fill(page, pairs_of(call))
            if not call.is_write:
                page.get_by_role("button", name="Run").click()
                assert shown(page) == expected(database.run(call.plan())), call.pattern.label
                continue
            page.get_by_role("button", name="Preview").click()
            write = page.get_by_role("button", name=re.compile("^Write "))
            expect(write).to_be_visible()
            with engine.sandbox():
                wanted = expected(database.run(call.plan()))
            write.click()
            expect(page.locator("#pattern [role=status]")).to_contain_text("Written")
            assert shown(page) == wanted, call.pattern.label
        assert len(seen) > 10


def test_a_wrong_input_is_kept_and_the_problem_is_beside_it(
    studio: Studio, page: Page, problems: list[str]
) -> None:
    studio.enter(page)
    open_pattern(page, studio, f"{COMMERCE}.create_order_with_items")
    page.locator("textarea[name=items]").fill("[<img src=x: onerror=window.hit=1>")
    page.get_by_role("button", name="Preview").click()
    field = page.locator("textarea[name=items]")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("[<img src=x: onerror=window.hit=1>")
    assert_accessible(page)
    problems[:] = [each for each in problems if "status of 4" not in each]


def test_a_preview_shows_every_row_and_writes_after_a_click_only(
    studio: Studio, page: Page
) -> None:
    studio.enter(page)
    open_pattern(page, studio, f"{COMMERCE}.update_order_status_with_history")
    fields = {
        "customer_id": "C1",
        "order_id": "O101",
        "status": "FULFILLED",
        "expected_version": "1",
        "changed_by": "warehouse",
        "reason": "all shipped",
    }
    fill(page, list(fields.items()))
    page.keyboard.press("Enter")
    expect(page.get_by_text("nothing is written yet")).to_be_visible()
    places = page.locator("#pattern .touch tbody tr td:nth-child(2)")
    expect(places).to_have_text(
        [
            "table",
            "gsi_customer_orders",
            "gsi_status_orders",
            "gsi_customer_status_orders",
            "table",
        ]
    )
    assert_accessible(page)
    key = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}}
    found = studio.workspace.send("GetItem", TableName="commerce_single_table", Key=key)
    assert found["Item"]["status"] == {"S": "PAID"}
    page.locator("#pattern [name=reason]").press("Control+Enter")
    expect(page.locator("#pattern [role=status]")).to_contain_text("Written")
    found = studio.workspace.send("GetItem", TableName="commerce_single_table", Key=key)
    assert found["Item"]["status"] == {"S": "FULFILLED"}


def test_a_change_after_the_preview_makes_a_new_one(studio: Studio, page: Page) -> None:
    studio.enter(page)
    open_pattern(page, studio, f"{COMMERCE}.update_order_status")
    fill(page, [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")])
    page.get_by_role("button", name="Preview").click()
    write = page.get_by_role("button", name=re.compile("^Write "))
    expect(write).to_be_visible()
    studio.workspace.send(
        "UpdateItem",
        TableName="commerce_single_table",
        Key={"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O101"}},
        UpdateExpression="SET price = :t, version = :v",
        ExpressionAttributeValues={":t": {"N": "1"}, ":v": {"N": "7"}},
    )
    write.click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was written")
    write.click()
    expect(page.locator("#pattern [role=status]")).to_contain_text("Written")


def test_pages_of_a_result_go_on_and_back(studio: Studio, page: Page) -> None:
    studio.enter(page)
    open_pattern(page, studio, f"{COMMERCE}.customer_timeline")
    fill(page, [("customer_id", "C1"), ("limit", "2")])
    page.get_by_role("button", name="Run").click()
    first = shown(page)
    page.get_by_role("link", name="next").click()
    expect(page.get_by_role("link", name="previous")).to_be_visible()
    assert shown(page) != first
    page.get_by_role("link", name="previous").click()
    expect(page.get_by_role("link", name="previous")).to_have_count(0)
    assert shown(page) == first


def test_a_read_only_target_is_previewed_and_not_written(page: Page) -> None:
    with studio_of("commerce", write=False) as studio:
        studio.enter(page)
        open_pattern(page, studio, f"{COMMERCE}.delete_order_item")
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_text("read-only: this can be previewed")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Write "))).to_have_count(0)
