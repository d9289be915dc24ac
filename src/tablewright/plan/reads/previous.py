"""The page before one: read from the other end, and turned.

    a b c d e f g        pages of 2: ab, cd, ef, g
            ^            the cursor before ef: backward from e, which gives d c, and b

The third result says that there is a page before. A query with a filter does not look for it,
because it could read the whole range: so its first page can have an empty page before it.

Invariant: forward from the end of a page before, and backward from there, give the same pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.page import Page, PageCursor, PageItems, known, smaller
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.plan.reads.page_query import PageQuery


def page_before(query: PageQuery[Any], cursor: PageCursor, context: Context) -> Steps[Page[Any]]:
    """Return the page that ends before the cursor, in the order of the query."""
    backward = query._reversed()
    request, filtered, excluding = backward._request(context)
    if cursor.start:
        request = request.next_page(cursor.start)
    size = smaller(query._size, cursor.passed)
    asked = None if size is None or filtered else size + 1
    read = yield from backward._read_items(request, filtered, excluding, asked or size)
    items, last = read.items, read.last
    places = known(items)
    if asked is not None and len(places) == asked:
        items = items[: places[-1]]
        last = query._position(items[-1])
    page = turned(cursor, items, last, query._edge(items, last))
    return query._page_of(page, cursor, query._position)


def turned(cursor: PageCursor, items: list[Item], before: Item | None, edge: Item) -> PageItems:
    """Return a page that was read backward, in the order of the query; it ends at `edge`."""
    if cursor.remaining is not None:
        cursor.remaining += len(known(items))
    before = None if not before or cursor.passed == 0 else before
    return PageItems(items[::-1], edge, before)
