"""Parts: queries of several parts, such as shards or segments, that are one query to the caller.

A part is read by a plan of its own, and many plans run together (see `Together`). A cursor holds
where each part continues:

    {"0": {"PK": …, "SK": …}, "2": {}}    part 0 after a key; part 1 is finished; part 2 whole
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from tablewright.plan.plan import Context, Plan, Steps, Together
from tablewright.plan.reads.cursor import open_cursor, seal_cursor
from tablewright.plan.reads.page import Page
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


class PartsCursor:
    """The cursors of a query of several parts."""

    def __init__(self, query: Pages[Any], parts: Sequence[Pages[Any]], context: Context) -> None:
        self._query = query
        self._secret = context.secret
        request, _, _ = parts[0]._request(context)
        names = [entity.name for entity in query._entities()]
        self._binding = (
            query._pattern,
            context.tenant,
            names,
            len(parts),
            query._comparison,
            query._total,
            request.body,
        )
        #: Where each part that is not finished starts, and what remains of the limit.
        self.starts: Item = {str(number): {} for number in range(len(parts))}
        self.remaining = query._total
        if query._cursor is not None:
            position = open_cursor(self._secret, self._binding, query._cursor)
            self.starts, self.remaining = (
                position if isinstance(position, tuple) else (position, None)
            )

    def page(self, items: list[Item], ends: Item, unknown: Sequence[Item]) -> Page[Any]:
        """Return a page of items; `ends` is where each part that is not finished continues.

        `unknown` are those that no entity describes.
        """
        results, unreadable = self._query._results(items, unknown)
        self._query._require_readable(unreadable)
        if not ends or self.remaining == len(results):
            return Page(results, None, unreadable)
        end = ends if self.remaining is None else (ends, self.remaining - len(results))
        return Page(results, seal_cursor(self._secret, self._binding, end), unreadable)


class PartsCount(Count):
    """The number of results in all parts."""

    def __init__(self, query: Pages[Any], parts: Sequence[Pages[Any]], name: str) -> None:
        super().__init__(query)
        self._parts = parts
        self._part_name = name

    @property
    def _type_name(self) -> str:
        return Count.__name__

    def _steps(self, context: Context) -> Steps[int]:
        step = Together([Count(part) for part in self._parts])
        yield step
        total, limit = sum(step.results), self._query._total
        return total if limit is None else min(total, limit)

    def _shape(self) -> Shape:
        return parts_shape([Count(part)._shape() for part in self._parts], self._part_name)


def parts_shape(steps: Sequence[Shape], name: str) -> Shape:
    """Return the shape of the requests of all parts; `name` is that of one."""
    first = steps[0]
    return replace(
        first,
        condition=f"{first.condition}, the first of {len(steps)} {name}s",
        page=f"{first.page} of each {name}",
        read_units=sum(step.read_units for step in steps),
        # An item is in one part only.
        read_range=replace(first.read_range * len(steps), per_item=first.read_range.per_item),
        steps=tuple(steps),
    )


def page_of_parts_shape(steps: Sequence[Shape], name: str) -> Shape:
    """Return the shape of a page: one after others reads only parts that are not finished."""
    shape = parts_shape(steps, name)
    return replace(shape, read_range=replace(shape.read_range, low=steps[0].read_range.low))
