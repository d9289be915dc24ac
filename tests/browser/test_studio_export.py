"""The exported pages of a studio, opened as files."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_accessible
from tests.commands import run


def test_exported_pages_open_without_a_server(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    assert run("studio", "commerce", "--export", str(folder)).returncode == 0
    page.goto((folder / "index.html").as_uri())
    expect(page.locator("h1")).to_have_text("commerce")
    assert_accessible(page)
    links = page.locator("a[href]").evaluate_all("all => all.map(each => each.href)")
    files = {Path(link.removeprefix("file://").partition("#")[0]) for link in links}
    assert all(file.is_file() for file in files), files
    page.get_by_role("link", name="Access patterns").click()
    expect(page.get_by_text("customer_timeline_page")).to_be_visible()
    assert_accessible(page)
