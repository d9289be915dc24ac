"""Checks of a page: axe-core's rules, and that it fits the width of the window."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / ".browser/node_modules/axe-core/axe.min.js"
_OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
#: The number of elements that are shown for each rule.
SHOWN = 5


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """Return axe-core's violations on a page in its present state, each with its elements."""
    page.evaluate(f"() => {{ if (!window.axe) {{ {_source()} }} }}")
    found = page.evaluate("options => axe.run(document, options)", _OPTIONS)
    return [_describe(each) for each in found["violations"]]


def _describe(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    lines = [f"{violation['id']} ({violation['impact']}): {violation['help']}, {len(nodes)} times"]
    for node in nodes[:SHOWN]:
        summary = " ".join(node["failureSummary"].split())
        lines += [f"  {node['target']}", f"    {node['html'][:200]}", f"    {summary}"]
    return "\n".join(lines)


def assert_accessible(page: Page) -> None:
    """Fail if axe-core finds a violation on a page."""
    found = violations(page)
    where = f"{page.url} at {page.viewport_size}"
    assert not found, "\n".join([where, *found])


def assert_fits(page: Page) -> None:
    """Fail if a page scrolls sideways; name the elements that are too wide."""
    wide = page.evaluate(
        """() => {
            const limit = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= limit) return [];
            const clipped = element => element && (getComputedStyle(element).overflowX !== 'visible'
                || clipped(element.parentElement));
            return [...document.body.querySelectorAll('*')]
                .filter(e => e.getBoundingClientRect().right > limit && !clipped(e.parentElement))
                .map(e => e.outerHTML.slice(0, 160));
        }"""
    )
    scrolls = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    assert not scrolls, "\n".join([f"{page.url} at {page.viewport_size} is too wide:", *wide[:8]])
