"""Checks of a page: axe-core's rules, and that it fits the width of the window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.browser.chromium import WIDTHS, show

AXE = Path(__file__).parents[2] / ".browser/node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: The number of elements that are shown for each rule.
SHOWN = 5


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page, rules: list[str]) -> list[str]:
    """Return axe-core's violations on a page in its present state, each with its elements."""
    page.evaluate(f"() => {{ if (!window.axe) {{ {_source()} }} }}")
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [_describe(each) for each in found["violations"]]


def _describe(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    lines = [f"{violation['id']} ({violation['impact']}): {violation['help']}, {len(nodes)} times"]
    for node in nodes[:SHOWN]:
        summary = " ".join(node["failureSummary"].split())
        lines += [f"  {node['target']}", f"    {node['html'][:200]}", f"    {summary}"]
    return "\n".join(lines)


def assert_accessible(page: Page, widths: Sequence[int] = WIDTHS) -> None:
    """Fail if axe-core finds a violation at one of the widths, or if the page scrolls sideways.

    The scheme changes colours only, so the dark one is checked with the rule of contrast alone.
    """
    for width in widths:
        show(page, "dark", width)
        found = violations(page, ["color-contrast"])
        show(page, "light", width)
        found += violations(page, RULES)
        assert not found, "\n".join([f"{page.url} at {width} px", *found])
        assert_fits(page)


def assert_fits(page: Page) -> None:
    """Fail if a page scrolls sideways; name the elements that are too wide."""
    wide = page.evaluate(
        """() => {
            const limit = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= limit) return null;
            const clipped = element => element && (getComputedStyle(element).overflowX !== 'visible'
                || clipped(element.parentElement));
            return [...document.body.querySelectorAll('*')]
                .filter(e => e.getBoundingClientRect().right > limit && !clipped(e.parentElement))
                .map(e => e.outerHTML.slice(0, 160));
        }"""
    )
    where = f"{page.url} at {page.viewport_size} is too wide:"
    assert wide is None, "\n".join([where, *(wide or [])[:SHOWN]])
