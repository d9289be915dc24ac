"""The pages of a studio: one of each view, and all that its links lead to."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlsplit

from playwright.sync_api import Page

from tests.browser.studios import Studio

COMMERCE = "tablewright.designs.commerce"
#: A page of each kind.
PAGES = (
    "/design",
    "/design/patterns",
    "/design/documents/cloudformation",
    "/items/commerce_single_table",
    "/items/commerce_single_table?index=gsi_status_orders&plan=",
    "/items/commerce_single_table?pk=CUST%23C1&op=begins_with&sk=ORDER%23O10",
    "/item/commerce_single_table?pk=CUST%23C1&sk=ORDER%23O101",
    "/item/commerce_single_table/edit?pk=CUST%23C1&sk=ORDER%23O101",
    "/item/commerce_single_table/delete?pk=CUST%23C1&sk=ORDER%23O101",
    "/patterns",
    f"/patterns/{COMMERCE}.order_with_items",
    f"/patterns/{COMMERCE}.put_order",
    "/console",
    f"/console?statement={quote('SELECT * FROM commerce_single_table')}",
    "/live",
    "/tables",
    "/tables/commerce_single_table",
    "/evolve",
    "/sample",
    "/find?q=C1",
)

#: The pages that the navigation leads to are found by their links, so are all others.
START = "/tables"


def kind(path: str) -> str:
    """Return what a path has in common with others of the same kind.

    >>> kind("/items/shop?pk=1&cursor=x"), kind("/items/shop?pk=2&cursor=y")
    ('/items/* cursor pk', '/items/* cursor pk')
    """
    parts = urlsplit(path)
    first, *rest = parts.path.strip("/").split("/")
    names = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    return " ".join(["/" + "/".join([first, *("*" for _ in rest)]), *names])


def walk(page: Page, studio: Studio, each: int) -> Iterator[str]:
    """Open up to `each` pages of each kind; yield the path of each while it is shown."""
    studio.enter(page, START)
    seen, opened = {START}, Counter[str]()
    waiting = deque([START])
    while waiting:
        path = waiting.popleft()
        if opened[kind(path)] >= each:
            continue
        opened[kind(path)] += 1
        answer = page.goto(studio.url + path)
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status} {page.locator('main').inner_text()}"
        for link in links(page, studio):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
        yield path


def links(page: Page, studio: Studio) -> list[str]:
    """Return the paths of the pages of the studio that a page links to, without downloads."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('a[href]:not([download])')]
            .map(link => link.href.split('#')[0])"""
    )
    return [
        url.removeprefix(studio.url) or "/"
        for url in dict.fromkeys(found)
        if url.startswith(studio.url + "/") and "/export" not in url
    ]
