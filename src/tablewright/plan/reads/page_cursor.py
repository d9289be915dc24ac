"""Page cursor: where a page of a query starts, and the cursors that continue after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablewright.errors import UnreadableItem
from tablewright.plan.plan import Context
from tablewright.plan.reads.cursor import open_cursor, seal_cursor
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.query_request import QueryRequest
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.plan.reads.pages import Pages


class PageCursor:
    """The cursors of one page; `request` is that of the first page of its query."""

    def __init__(self, query: Pages[Any], request: QueryRequest, context: Context) -> None:
        self._query = query
        self._request = request
        self._context = context
        #: Where the page starts; None at the beginning.
        self.start: Item | None = None
        #: What remains of the limit of the query; None without one.
        self.remaining = query._total
        if query._cursor is not None:
            position = open_cursor(context.secret, self._binding, query._cursor)
            self.start, self.remaining = (
                position if isinstance(position, tuple) else (position, None)
            )

    @property
    def _binding(self) -> tuple[Any, ...]:
        return self._query._binding(self._request, self._context)

    def after(self, end: Item, results: list[Any]) -> str:
        """Return the cursor that continues behind `end`, after these results."""
        position = end if self.remaining is None else (end, self.remaining - len(results))
        return seal_cursor(self._context.secret, self._binding, position)

    def page(
        self,
        results: list[Any],
        end: Item | None,
        unreadable: tuple[UnreadableItem, ...] = (),
    ) -> Page[Any]:
        """Return a page that ends at `end`, or is the last if there is none."""
        if not end or self.remaining == len(results) or (self._query._is_first_only and results):
            return Page(results, None, unreadable)
        return Page(results, self.after(end, results), unreadable)
