"""Parts: queries of several parts, shards or segments, that are one query to the caller.

A part is read by a plan of its own, and many plans run together (see `Together`). A cursor holds
where each part continues:

    {"0": {"PK": …, "SK": …}, "2": {}}    part 0 after a key; part 1 is finished; part 2 whole

Segments are those of a scan (`scan.py`). Shards are those of a partition key; their results are
merged in the order of the sort keys:

    primary = key("ENTRIES" / year_month(at) / shard(door, of=4), epoch_seconds(at) / door)

    Entry.primary.all_shards(month).gte(day).desc().page_size(20)     Range[Entry, …]

A page is one query of each shard, at the same time in an event loop. Each asks for a whole page,
because all results may be in one shard; what does not fit on the page is read again for the next.

    shard 0   1 4 7      the page of 3: 1 2 3
    shard 1   2 3 5      the cursor:    shard 0 after 1, shard 1 after 3, shard 2 from the start
    shard 2   6 8

A page ends early after the last result that was read from a shard which has more: what follows is
not known yet.

The page before one is read in the same way from the other end, and turned. Its cursor holds where
each shard was first read: `{}` is the end of the shard.
"""

from __future__ import annotations

import heapq
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeVar, TypeVarTuple

from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import UnknownItem
from tablewright.mapping.keys import KeyMap
from tablewright.plan.facts import PartName, Parts
from tablewright.plan.plan import Context, Plan, Steps, Together
from tablewright.plan.query_requests import QueryRequest
from tablewright.plan.reads.page import Page, PageCursor, PageItems, known, smaller
from tablewright.plan.reads.page_query import PageQuery
from tablewright.plan.reads.previous import turned
from tablewright.plan.reads.query import Count
from tablewright.plan.reads.range import Range
from tablewright.plan.shape import Shape
from tablewright.symbol import TRACES
from tablewright.values import Item

R = TypeVar("R")
Rest = TypeVarTuple("Rest")

#: How the values of a sort key compare, by type.
_COMPARABLE: dict[str, Callable[[str], Any]] = {"S": str, "N": Decimal, "B": b64decode}


class PartRead(Plan[PageItems]):
    """A page of one part, not decoded yet."""

    def __init__(self, query: PageQuery[Any], start: Item, size: int | None) -> None:
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
    """The page of a query of several parts, while its parts are being read."""

    def __init__(self, query: PageQuery[Any], count: int, context: Context) -> None:
        self._query = query
        request, _, _ = query._request(context)
        self._cursor = cursor = PageCursor(query, request, context)
        self.is_backward = cursor.is_backward
        #: What remains of the limit in the direction of the page.
        self.remaining = cursor.passed if self.is_backward else cursor.remaining
        every: Item = {str(n): {} for n in range(count)}
        self._every = every
        #: Where each part that is not finished starts; none behind the last item of all.
        self.starts: Item = every if cursor.start is None else cursor.start

    def of(self, rows: Sequence[tuple[str, Item]], read: Mapping[str, PageItems]) -> Page[Any]:
        """Return the page of rows, each with the number of its part; `read` are all that were read.

        Raise UnreadableItem, with the cursor behind the item.
        """
        items = [item for _, item in rows]
        if self.is_backward:
            page = turned(self._cursor, items, self._ends(rows, read), self._edges(read))
            return self._query._page_of(page, self._cursor, None)

        def end_at(item: Item) -> Item:
            place = next(place for place, each in enumerate(items, 1) if each is item)
            return self._ends(rows[:place], read)

        before = None if self.starts == self._every else self._edges(read)
        page = PageItems(items, self._ends(rows, read), before)
        return self._query._page_of(page, self._cursor, end_at)

    def _edges(self, read: Mapping[str, PageItems]) -> Item:
        """Return where what was read of each part begins; a part that was not read is finished."""
        edges = {number: self._query._edge(each.items, each.last) for number, each in read.items()}
        return self._every | edges

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

    _type_name = "Count"

    def __init__(
        self, query: PageQuery[Any], parts: Sequence[PageQuery[Any]], name: PartName
    ) -> None:
        super().__init__(query)
        self._parts = parts
        self._part_name: PartName = name

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


# -- shards ---------------------------------------------------------------------------------------


def all_shards(entity: EntityMap, key: KeyMap, values: tuple[Any, ...]) -> Any:
    """Return the range of all shards of a key; raise DeclarationError if it has none."""
    parts = key.parameters[: key.partition_arity]
    count = parts[-1].notation.shards if parts else 0
    if not count:
        raise DeclarationError(
            f"{key.name}: all_shards() needs a partition key that ends in shard(…, of=…); it is "
            f"{key.show()}"
        )
    if len(values) != len(parts) - 1:
        labels = ", ".join(part.label for part in parts[:-1]) or "nothing"
        raise DeclarationError(
            f"{key.name}.all_shards() takes {labels}, the parts before the shard; {len(values)} "
            "values were given"
        )
    if TRACES:
        key.check_names(values)
    return ShardedRange(entity, key, values, count)


class ShardedRange(Range[R, *Rest]):
    """All shards of a partition key."""

    def __init__(self, entity: EntityMap, key: KeyMap, values: tuple[Any, ...], count: int) -> None:
        super().__init__(entity, key, (*values, 0))
        self._count = count

    def _shards(self) -> list[Range[R, *tuple[Any, ...]]]:
        """Return the range of each shard."""
        place = self._key.partition_arity - 1
        shards = []
        for number in range(self._count):
            arguments = (*self._arguments[:place], number, *self._arguments[place + 1 :])
            shard: Range[R, *tuple[Any, ...]] = object.__new__(Range)
            shard.__dict__ = self.__dict__ | {"_arguments": arguments}
            shards.append(shard)
        return shards

    def count(self) -> Count:
        """Return the number of results on all pages."""
        return PartsCount(self, self._shards(), "shard")

    def _page(self, context: Context) -> Steps[Page[R]]:
        self._check_projection()
        page = PartsPage(self, self._count, context)
        starts, size = page.starts, smaller(self._size, page.remaining)
        # One more result shows whether there is a page before.
        asked = size if size is None or not page.is_backward else size + 1
        reading = self._reversed() if page.is_backward else self
        shards = reading._shards()
        step = Together([PartRead(shards[int(number)], starts[number], asked) for number in starts])
        yield step
        read = dict(zip(starts, step.results, strict=True))
        rows = reading._merged(read, asked)
        places = known([item for _, item in rows])
        if asked != size and len(places) == asked:
            del rows[places[-1] :]
        return page.of(rows, read)

    def _binding(self, request: QueryRequest, context: Context) -> tuple[Any, ...]:
        return (*super()._binding(request, context), self._count)

    def _merged(self, read: dict[str, PageItems], size: int | None) -> list[tuple[str, Item]]:
        """Return the items of a page in order, each with the number of its shard."""
        left = {number: len(each.items) for number, each in read.items()}
        if not all(left[number] or each.last is None for number, each in read.items()):
            return []  # what the first items are is not known yet
        rows = [
            [(self._sort_key(item), number, item) for item in each.items]
            for number, each in read.items()
        ]
        found: list[tuple[str, Item]] = []
        count = 0
        for _, number, item in heapq.merge(*rows, key=itemgetter(0), reverse=self._descending):
            found.append((number, item))
            count += not isinstance(item, UnknownItem)
            left[number] -= 1
            is_used_up = left[number] == 0 and read[number].last is not None
            if is_used_up or count == size:
                break
        return found

    def _sort_key(self, item: Item) -> list[Any]:
        values = [next(iter(item[name].items())) for name in self._key.sort_attributes]
        return [_COMPARABLE[tag](content) for tag, content in values]

    def _shape(self) -> Shape:
        return page_of_parts_shape([shard._shape() for shard in self._shards()], "shard")
