"""Shards: a range of all shards of a partition key, merged in the order of the sort keys.

    primary = key("ENTRIES" / year_month(at) / shard(door, of=4), epoch_seconds(at) / door)

    Entry.primary.all_shards(month).gte(day).desc().page_size(20)     Range[Entry, …]

A page is one query of each shard, at the same time in an event loop. Each asks for a whole page,
for all results may be in one shard; what does not fit on the page is read again for the next one.

    shard 0   1 4 7      the page of 3: 1 2 3
    shard 1   2 3 5      the cursor:    shard 0 after 1, shard 1 after 3, shard 2 from the start
    shard 2   6 8

A page ends early where a shard that has more is used up: what follows is not known yet.

The position in a cursor is, for each shard that is not finished, the key after which it continues;
{} for its beginning.
"""

from __future__ import annotations

import heapq
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar, TypeVarTuple

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.plan import Context, Plan, Steps, Together
from tablewright.plan.reads.cursor import open_cursor, seal_cursor
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.pages import decode_page, smaller
from tablewright.plan.reads.range import Range
from tablewright.plan.reads.results import Count
from tablewright.plan.shape import Shape
from tablewright.symbol import TRACES
from tablewright.values import Item

R = TypeVar("R")
Rest = TypeVarTuple("Rest")

#: How the values of a sort key compare, by type.
_COMPARABLE: dict[str, Callable[[str], Any]] = {"S": str, "N": Decimal, "B": b64decode}


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

    def _shard(self, number: int) -> Range[R, *tuple[Any, ...]]:
        """Return the range of one shard."""
        place = self._key.partition_arity - 1
        arguments = (*self._arguments[:place], number, *self._arguments[place + 1 :])
        shard: Range[R, *tuple[Any, ...]] = object.__new__(Range)
        shard.__dict__ = self.__dict__ | {"_arguments": arguments}
        return shard

    def count(self) -> Count:
        """Return the number of results on all pages."""
        return ShardedCount(self)

    def _page(self, context: Context) -> Steps[Page[R]]:
        self._check_projection()
        request, _, _ = self._shard(0)._request(context)
        names = ", ".join(entity.name for entity in self._entities())
        binding = (
            self._pattern,
            context.tenant,
            names,
            self._count,
            self._comparison,
            self._total,
            request.body,
        )
        starts: Item = {str(number): {} for number in range(self._count)}
        remaining = self._total
        if self._cursor is not None:
            position = open_cursor(context.secret, binding, self._cursor)
            starts, remaining = position if isinstance(position, tuple) else (position, None)
        size = smaller(self._size, remaining)
        reads = [ShardRead(self._shard(int(number)), starts[number], size) for number in starts]
        step = Together(reads)
        yield step
        found, ends = self._merged(dict(zip(starts, step.results, strict=True)), starts, size)
        results, unreadable = self._results(found)
        if unreadable and self._is_strict:
            raise unreadable[0]
        if not ends or remaining == len(results):
            return Page(results, None, unreadable)
        end = ends if remaining is None else (ends, remaining - len(results))
        return Page(results, seal_cursor(context.secret, binding, end), unreadable)

    def _merged(
        self, read: dict[str, ShardItems], starts: Item, size: int | None
    ) -> tuple[list[Item], Item]:
        """Return the items of a page, and where each shard that is not finished continues."""
        ends = dict(starts)
        left = {number: len(each.items) for number, each in read.items()}
        rows = [
            [(self._sort_key(item), number, item) for item in each.items]
            for number, each in read.items()
        ]
        found: list[Item] = []
        merged = heapq.merge(*rows, key=lambda row: row[0], reverse=self._descending)
        is_known = all(left[number] or each.last is None for number, each in read.items())
        for _, number, item in merged if is_known else ():
            found.append(item)
            ends[number] = self._position(item)
            left[number] -= 1
            is_used_up = left[number] == 0 and read[number].last is not None
            if is_used_up or len(found) == size:
                break
        for number, each in read.items():
            if left[number] == 0:
                if each.last is None:
                    del ends[number]
                else:
                    ends[number] = each.last
        return found, ends

    def _sort_key(self, item: Item) -> list[Any]:
        values = [next(iter(item[name].items())) for name in self._key.sort_attributes]
        return [_COMPARABLE[tag](content) for tag, content in values]

    def _shape(self) -> Shape:
        steps = tuple(self._shard(number)._shape() for number in range(self._count))
        return in_all_shards(steps)


class ShardItems(Struct):
    """What a request of one shard read, and the key where it ended if there is more."""

    items: list[Item]
    last: Item | None


class ShardRead(Plan[ShardItems]):
    """A page of one shard, not decoded yet."""

    def __init__(self, query: Range[Any, *tuple[Any, ...]], start: Item, size: int | None) -> None:
        self._query = query
        self._pattern = query._pattern
        self._start = start
        self._size = size

    def _steps(self, context: Context) -> Steps[ShardItems]:
        request, filtered, excluding = self._query._request(context)
        if self._start:
            request = request.next_page(self._start)
        if filtered or excluding is not None or self._query._columns:
            found, last = yield from self._query._filtered_page(
                request, filtered, excluding, self._size
            )
            return ShardItems(found, last)
        if self._size is not None:
            request = request.with_members(Limit=self._size)
        page = decode_page((yield request))
        return ShardItems(page.items, page.last_evaluated_key)


class ShardedCount(Count):
    """The number of results in all shards."""

    _query: ShardedRange[Any]

    def _steps(self, context: Context) -> Steps[int]:
        query = self._query
        counts = [
            Count(query._shard(number))._replace(_pattern=self._pattern)
            for number in range(query._count)
        ]
        step = Together(counts)
        yield step
        total = sum(step.results)
        return total if query._total is None else min(total, query._total)

    def _shape(self) -> Shape:
        query = self._query
        steps = tuple(Count(query._shard(number))._shape() for number in range(query._count))
        return in_all_shards(steps)


def in_all_shards(steps: tuple[Shape, ...]) -> Shape:
    """Return the shape of the requests of all shards."""
    first = steps[0]
    return replace(
        first,
        condition=f"{first.condition}, and {len(steps) - 1} further shards",
        page=f"{first.page} of each shard",
        read_units=sum(step.read_units for step in steps),
        read_range=first.read_range * len(steps),
        steps=steps,
    )
