"""Shards: a range of all shards of a partition key, merged in the order of the sort keys.

    primary = key("ENTRIES" / year_month(at) / shard(door, of=4), epoch_seconds(at) / door)

    Entry.primary.all_shards(month).gte(day).desc().page_size(20)     Range[Entry, …]

A page is one query of each shard, at the same time in an event loop. Each asks for a whole page,
for all results may be in one shard; what does not fit on the page is read again for the next one.

    shard 0   1 4 7      the page of 3: 1 2 3
    shard 1   2 3 5      the cursor:    shard 0 after 1, shard 1 after 3, shard 2 from the start
    shard 2   6 8

A page ends early where a shard that has more is used up: what follows is not known yet.
"""

from __future__ import annotations

import heapq
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeVar, TypeVarTuple

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import UnknownItem
from tablewright.mapping.keys import KeyMap
from tablewright.plan.plan import Context, Steps, Together
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.pages import PageItems, smaller
from tablewright.plan.reads.parts import PartRead, PartsCount, PartsPage, page_of_parts_shape
from tablewright.plan.reads.query_request import QueryRequest
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
        shards = self._shards()
        page = PartsPage(self, self._count, context)
        starts, size = page.starts, smaller(self._size, page.remaining)
        step = Together([PartRead(shards[int(number)], starts[number], size) for number in starts])
        yield step
        read = dict(zip(starts, step.results, strict=True))
        return page.of(self._merged(read, size), read)

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
