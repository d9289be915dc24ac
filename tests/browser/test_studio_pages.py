"""Every page of a studio: accessible in both schemes and at each width, and without errors."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tablewright.designs.catalog import BUNDLED
from tests.browser.accessibility import assert_accessible, assert_fits
from tests.browser.chromium import WIDTHS, show
from tests.browser.pages import PAGES, walk
from tests.browser.studios import studio_of


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_at_each_width_in_both_schemes(path: str, page: Page) -> None:
    with studio_of("commerce") as studio:
        studio.enter(page)
        answer = page.goto(studio.url + path)
        assert answer is not None
        assert answer.status == 200
        assert_accessible(page)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_page_has_a_title_one_main_heading_and_no_errors(name: str, page: Page) -> None:
    with studio_of(name) as studio:
        for path in walk(page, studio, each=1):
            assert page.locator("h1").count() == 1, path
            assert page.title().endswith(" · Tablewright Studio"), path
            for width in WIDTHS:
                show(page, "light", width)
                assert_fits(page)


def test_nothing_moves_if_less_motion_is_wanted(page: Page) -> None:
    moving = """() => [...document.querySelectorAll('*')].filter(each =>
        ['', '::before', '::after'].some(part => {
            const style = getComputedStyle(each, part || null);
            return /[1-9]/.test(style.transitionDuration + style.animationDuration)
                || style.scrollBehavior === 'smooth';
        })).map(each => each.outerHTML.slice(0, 100))"""
    with studio_of("commerce") as studio:
        studio.enter(page)
        for path in PAGES:
            page.goto(studio.url + path)
            assert page.evaluate(moving) == [], path


def test_a_large_diagram_fits_the_page_and_can_be_enlarged(page: Page) -> None:
    with studio_of("market") as studio:
        studio.enter(page, "/design")
        diagram = page.locator("svg.diagram").first
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.get_by_role("radio", name="fit").check()
            box = diagram.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            page.get_by_role("radio", name="150%").check()
            enlarged = diagram.bounding_box()
            assert enlarged is not None
            assert enlarged["width"] > width
            assert_fits(page)
