"""The console of a studio: explained, completed, run by keyboard; its history stays here."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.studios import Studio

TABLE = "commerce_single_table"
QUERY = f"SELECT SK FROM {TABLE} WHERE PK = 'CUST#C1' AND begins_with(SK, 'ORDER#O101')"
CHANGE = f"UPDATE {TABLE} SET email = 'x@y' WHERE PK = 'CUST#C1' AND SK = 'PROFILE#C1'"


def email(studio: Studio) -> str:
    key = {"PK": {"S": "CUST#C1"}, "SK": {"S": "PROFILE#C1"}}
    found = studio.workspace.send("GetItem", TableName=TABLE, Key=key)
    return str(found["Item"]["email"]["S"])


def test_a_statement_is_explained_before_it_runs(studio: Studio, page: Page) -> None:
    studio.enter(page, "/console")
    page.locator("#ps").fill(f"SELECT * FROM {TABLE} WHERE status = 'PAID'")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#answer")).to_contain_text("Scan")
    expect(page.locator("#answer tbody tr")).to_have_count(0)


def test_control_enter_runs_a_query(studio: Studio, page: Page) -> None:
    studio.enter(page, "/console")
    page.locator("#ps").fill(QUERY)
    page.locator("#ps").press("Control+Enter")
    expect(page.locator("#answer tbody tr")).to_have_count(4)
    expect(page.locator("#ps")).to_be_focused()


def test_tab_completes_and_escape_gives_tab_back(studio: Studio, page: Page) -> None:
    studio.enter(page, "/console")
    area = page.locator("#ps")
    area.fill("")
    area.press_sequentially("SELECT * FROM comm")
    offered = page.locator("#complete button")
    expect(offered).to_have_text([TABLE])
    area.press("Tab")
    expect(area).to_have_value(f"SELECT * FROM {TABLE}")
    area.fill("")
    area.press_sequentially("SEL")
    expect(offered.first).to_be_visible()
    area.press("Escape")
    expect(page.locator("#complete")).to_be_hidden()
    area.press("Tab")
    expect(area).not_to_be_focused()
    expect(area).to_have_value("SEL")


def test_the_history_is_kept_by_the_browser(studio: Studio, page: Page) -> None:
    studio.enter(page, "/console")
    page.locator("#ps").fill(QUERY)
    page.locator("#ps").press("Control+Enter")
    expect(page.locator("#history li")).to_have_count(1)
    page.goto(studio.url + "/console")
    page.locator("#history a").click()
    expect(page.locator("#ps")).to_have_value(QUERY)
    page.locator("#history button").click()
    expect(page.locator("#history")).to_be_hidden()
    assert page.evaluate("localStorage.length") == 0


def test_a_write_shows_the_item_before_and_after_and_waits(studio: Studio, page: Page) -> None:
    studio.enter(page, "/console")
    page.locator("#ps").fill(CHANGE)
    page.locator("#ps").press("Control+Enter")
    answer = page.locator("#answer")
    expect(answer).to_contain_text("nothing is written yet")
    expect(answer).to_contain_text("x@y")
    assert email(studio) == "ann@example.com"
    page.get_by_role("button", name="Run it").click()
    expect(answer).not_to_contain_text("nothing is written yet")
    assert email(studio) == "x@y"


def test_a_write_of_an_item_that_changed_meanwhile_is_shown_again(
    studio: Studio, page: Page, problems: list[str]
) -> None:
    studio.enter(page, "/console")
    page.locator("#ps").fill(CHANGE)
    page.locator("#ps").press("Control+Enter")
    expect(page.get_by_role("button", name="Run it")).to_be_visible()
    studio.workspace.send("ExecuteStatement", Statement=CHANGE.replace("x@y", "other@y"))
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#answer")).to_contain_text("other@y")
    assert email(studio) == "other@y"
    problems[:] = [each for each in problems if "status of 4" not in each]


def test_the_console_works_without_scripts(studio: Studio, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    studio.enter(page, "/console")
    page.locator("#ps").fill(QUERY)
    page.get_by_role("button", name="Run", exact=False).first.click()
    expect(page.locator("#answer tbody tr")).to_have_count(4)
    context.close()
