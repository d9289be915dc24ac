"""The HTML page of a design in a browser: readable in both schemes, and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tablewright.designs.catalog import BUNDLED, load
from tablewright.publish import html_document
from tests.browser.accessibility import assert_accessible, assert_fits


@pytest.mark.parametrize("name", BUNDLED)
def test_the_page_of_a_design_is_accessible_and_fits_each_width(
    name: str, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(html_document(load(name)), encoding="utf-8")
    page.goto(file.as_uri())
    for details in page.locator("details").all():
        details.locator("summary").click()
    assert_accessible(page, [1280, 400])


def test_a_wide_table_fits_the_paper(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "commerce.html"
    file.write_text(html_document(load("commerce")), encoding="utf-8")
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1032, "height": 700})  # A4, landscape, inside its margins
    assert_fits(page)
