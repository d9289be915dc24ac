"""Parts: queries of several parts, such as shards or segments, that are one query to the caller.

A part is read by a plan of its own, and many plans run together (see `Together`). A cursor holds
where each part continues:

    {"0": {"PK": …, "SK": …}, "2": {}}    part 0 after a key; part 1 is finished; part 2 whole
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from tablewright.plan.facts import PartName, Parts
from tablewright.plan.plan import Context, Plan, Steps, Together
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.page_cursor import PageCursor
from tablewright.plan.reads.pages import PageItems, Pages
from tablewright.plan.reads.results import Count
from tablewright.plan.shape import Shape
from tablewright.values import Item

R = TypeVar("R")


class PartRead(Plan[PageItems]):
    """A page of one part, not decoded yet."""

    def __init__(self, query: Pages[Any], start: Item, size: int | None) -> None:
        self._query = query
        self._start = start
        self._size = size

    def _steps(self, context: Context) -> Steps[PageItems]:
        request, filtered, excluding = self._query._request(context)
        if self._start:
            request = request.next_page(self._start)
        query = self._query
        return (yield from query._read_items(request, filtered, excluding, self._size))


class PartsPage:
    """A page of a query of several parts, of which some are read."""

    def __init__(self, query: Pages[Any], count: int, context: Context) -> None:
        self._query = query
        request, _, _ = query._request(context)
        self._cursor = PageCursor(query, request, context)
        self.remaining = self._cursor.remaining
        start = self._cursor.start
        #: Where each part that is not finished starts; none behind the last item of all.
        self.starts: Item = {str(n): {} for n in range(count)} if start is None else start

    def of(self, rows: Sequence[tuple[str, Item]], read: Mapping[str, PageItems]) -> Page[Any]:
        """Return the page of rows, each with the number of its part; `read` are all that were read.

        Raise UnreadableItem, with the cursor behind the item.
        """
        items = [item for _, item in rows]

        def end_at(item: Item) -> Item:
            place = next(place for place, each in enumerate(items, 1) if each is item)
            return self._ends(rows[:place], read)

        page = PageItems(items, self._ends(rows, read))
        return self._query._page_of(page, self._cursor, end_at)

    def _ends(self, rows: Sequence[tuple[str, Item]], read: Mapping[str, PageItems]) -> Item:
        """Return where each part that is not finished continues after these rows."""
        ends = dict(self.starts)
        left = {number: len(each.items) for number, each in read.items()}
        for number, item in rows:
            ends[number] = self._query._position(item)
            left[number] -= 1
        for number, each in read.items():
            if left[number] == 0:
                if each.last is None:
                    del ends[number]
                else:
                    ends[number] = each.last
        return ends


class PartsCount(Count):
    """The number of results in all parts."""

    def __init__(self, query: Pages[Any], parts: Sequence[Pages[Any]], name: PartName) -> None:
        super().__init__(query)
        self._parts = parts
        self._part_name: PartName = name

    @property
    def _type_name(self) -> str:
        return Count.__name__

    def _steps(self, context: Context) -> Steps[int]:
        if self._query._skips_unreadable:
            return (yield from self._readable(context))
        step = Together([Count(part) for part in self._parts])
        yield step
        total, limit = sum(step.results), self._query._total
        return total if limit is None else min(total, limit)

    def _shape(self) -> Shape:
        return parts_shape([Count(part)._shape() for part in self._parts], self._part_name)


def parts_shape(steps: Sequence[Shape], name: PartName) -> Shape:
    """Return the shape of the requests of all parts; `name` is that of one."""
    first = steps[0]
    return replace(
        first,
        parts=Parts(len(steps), name),
        read_units=sum(step.read_units for step in steps),
        # An item is in one part only.
        read_range=replace(first.read_range * len(steps), per_item=first.read_range.per_item),
        steps=tuple(steps),
    )


def page_of_parts_shape(steps: Sequence[Shape], name: PartName) -> Shape:
    """Return the shape of a page: one after others reads only parts that are not finished."""
    shape = parts_shape(steps, name)
    return replace(shape, read_range=replace(shape.read_range, low=steps[0].read_range.low))
