"""Results: plans that reduce the pages of a query: its first result, or their number."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from tablewright.mapping.parts import KeyPart
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.pages import Pages, decode_page
from tablewright.plan.reads.projection import key_paths
from tablewright.plan.reads.query_request import Selection
from tablewright.plan.reads.single import Single, in_turn
from tablewright.plan.shape import Shape
from tablewright.plan.units import all_read

R = TypeVar("R")


class First(Single[R], Generic[R]):
    """The first result of a query, or None."""

    def __init__(self, query: Pages[R]) -> None:
        self._query = query
        self._entity = query._entity

    def _steps(self, context: Context) -> Steps[R | None]:
        query = self._query._replace(_is_first_only=True)
        while True:
            page = yield from query._page(context)
            if page or page.next_cursor is None:
                return page[0] if page else None
            query = query._replace(_cursor=page.next_cursor)

    def _shape(self) -> Shape:
        shape = self._query._shape()
        return _of_all(shape, self._query) if self._query._leaves_out else shape


class FirstByKey(First[R], Generic[R]):
    """The first result of a query of an index that does not contain the whole entity.

    The query reads the attributes of its primary key; the entity is read in the table, and is None
    if it was deleted meanwhile.
    """

    @property
    def _type_name(self) -> str:
        return First.__name__

    def _steps(self, context: Context) -> Steps[R | None]:
        values: Any = yield from super()._steps(context)
        if values is None:
            return None
        parts = self._entity.primary.parameters
        arguments = tuple(map(KeyPart.argument, parts, values))
        found: R | None = yield from Get[R](self._entity, arguments)._steps(context)
        return found

    def _shape(self) -> Shape:
        entity = self._entity
        arguments = entity.key_arguments(entity.symbolic())
        return in_turn(super()._shape(), Get[R](entity, arguments)._shape())


class Count(Plan[int]):
    """The number of items of a query, on all pages; at most its limit.

    DynamoDB counts the stored items, so none is decoded, unless unreadable ones are to be skipped.
    """

    def __init__(self, query: Pages[Any]) -> None:
        self._query = query
        self._entity = query._entity

    def _steps(self, context: Context) -> Steps[int]:
        if self._query._skips_unreadable:
            return (yield from self._readable(context))
        query = self._query._replace(_columns=())
        request, _, excluding = query._request(context)
        # Items are read, not only counted, if some of them have to be left out here: a filter lets
        # items without a type attribute pass, which only their keys tell apart.
        entity, key = query._entity, query._key
        reads_items = excluding is not None or (
            query._may_contain_others
            and (query._has_alternatives or entity.table.type_attribute not in key.attributes)
        )
        if not reads_items:
            request = request.with_members(Select="COUNT")
        elif not query._has_alternatives:
            paths = key_paths(entity, key)
            selection = Selection(request.selection.condition, request.selection.filters, paths)
            request = replace(request, selection=selection)
        total = 0
        while True:
            page = decode_page((yield request))
            total += len(query._matching(page.items, excluding)) if reads_items else page.count
            if query._total is not None and total >= query._total:
                return query._total
            if page.last_evaluated_key is None:
                return total
            request = request.next_page(page.last_evaluated_key)

    def _readable(self, context: Context) -> Steps[int]:
        """Return the number of items that can be decoded."""
        total, query = 0, self._query._replace(_size=None, _cursor=None)
        while True:
            page = yield from query._page(context)
            total += len(page)
            if page.next_cursor is None:
                return total
            query = query._replace(_cursor=page.next_cursor)

    def _shape(self) -> Shape:
        # A count names no attributes, whatever the query selects.
        return replace(_of_all(self._query._shape(), self._query), attributes=())


def _of_all(shape: Shape, query: Pages[Any]) -> Shape:
    """Return the shape of a query that may have to read everything that it selects."""
    units = all_read(consistent=query._is_consistent)
    whole = replace(units * len(shape.requests), per_item=units.per_item)  # each item is read once
    return replace(shape, read_range=whole)
