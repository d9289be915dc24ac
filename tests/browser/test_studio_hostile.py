"""Hostile names, values and inputs: a studio shows them as text, and nothing of them runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.browser import hostile
from tests.browser.accessibility import assert_fits
from tests.browser.pages import walk
from tests.browser.studios import Studio, running

INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u2028\u202e\u2066\ufeff]")


@pytest.fixture
def studio() -> Iterator[Studio]:
    with running(hostile.workspace()) as studio:
        yield studio


def assert_harmless(page: Page, path: str) -> None:
    """Fail if a value of the page became markup, a script or an invisible character."""
    assert page.evaluate("window.hit") is None, path
    suspicious = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter(each =>
            ['IMG', 'IFRAME', 'OBJECT', 'STYLE', 'B' + 'ASE'].includes(each.tagName)
            || (each.tagName === 'SCRIPT' && !each.src.startsWith(location.origin + '/static/'))
            || /^\\s*(javascript|data):/i.test(each.getAttribute('href') || '')
            || each.getAttributeNames().some(name => name.startsWith('on') || name === 'style')
        ).map(each => each.outerHTML.slice(0, 200))"""
    )
    assert not suspicious, f"{path}: {suspicious}"
    found = INVISIBLE.search(page.content())
    assert found is None, f"{path}: {page.content()[max(0, found.start() - 80) :][:120]!r}"


def test_nothing_of_a_hostile_table_runs_on_any_page(studio: Studio, page: Page) -> None:
    shown = ""
    for path in walk(page, studio, each=3):
        assert_harmless(page, path)
        page.set_viewport_size({"width": 400, "height": 800})
        assert_fits(page)
        page.set_viewport_size({"width": 1280, "height": 800})
        shown += page.locator("body").inner_text()
    for text in hostile.MARKUP:
        assert text in shown


@pytest.mark.parametrize(
    "route",
    [
        "/find?q={}",
        "/{}",
        "/items/{}",
        "/items/odd.table?pk={}",
        "/items/odd.table?index={}",
        "/items/odd.table?entity={}",
        "/items/odd.table?cursor={}",
        "/patterns/{}",
        "/console?statement={}",
        "/tables/{}",
    ],
)
def test_a_hostile_input_is_shown_as_text(
    studio: Studio, page: Page, problems: list[str], route: str
) -> None:
    studio.enter(page)
    for text in (*hostile.MARKUP, hostile.HOSTILE):
        answer = page.goto(studio.url + route.format(quote(text, safe="")))
        assert answer is not None
        assert answer.status in (200, 400, 404)
        assert_harmless(page, route)
    problems[:] = [each for each in problems if "responded with a status of 40" not in each]
