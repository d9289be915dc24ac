"""Scan: every item of an entity, by reading a whole table or index; declared with its reason.

    Order.scan(reason="nightly export").filter(Order.total > 100)
    Order.timeline.scan(reason="…")            all rows of the entity in an index
    Order.scan(reason="…").segments(8)         in eight segments at the same time

A page of a scan in segments is made of a page of each segment that is not finished. If there is a
page size, each segment reads a share of it. So a page may have fewer results than its size although
there are more.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.plan.condition import Condition
from tablewright.plan.facts import WholeScan, page_read
from tablewright.plan.plan import DECLARED, Context, Steps, Together
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.page import Page, smaller
from tablewright.plan.reads.page_query import MAX_REQUESTS
from tablewright.plan.reads.query import Count, Query
from tablewright.plan.reads.query_parts import PartRead, PartsCount, PartsPage, page_of_parts_shape
from tablewright.plan.shape import Shape, read_shape
from tablewright.values import Item

R = TypeVar("R")


#: The most segments of a scan that DynamoDB allows.
MAX_SEGMENTS = 1_000_000
#: The most threads that scan segments for a caller without an event loop.
MAX_THREADS = 32


class Scan(Query[R], Generic[R]):
    """Every item of an entity, in no useful order."""

    _operation: Literal["Query", "Scan"] = "Scan"
    #: The number of a segment, and of all segments.
    _segment: tuple[int, int] | None = None

    def __init__(self, entity: EntityMap, reason: str, key: KeyMap | None = None) -> None:
        if not reason or not reason.strip():
            name = entity.name if key is None else key.name
            raise DeclarationError(f'{name}.scan() needs its reason: scan(reason="…")')
        key = key or entity.primary
        super().__init__(entity, key, (None,) * key.partition_arity)
        self._reason = reason

    def segments(self, count: int) -> SegmentedScan[R]:
        """Scan in this many segments at the same time: in an event loop, or in threads."""
        if type(count) is not int or not 1 <= count <= MAX_SEGMENTS:
            raise InvalidValue(
                f"segments({count!r}): the number must be an int from 1 to {MAX_SEGMENTS:,}"
            )
        segmented: SegmentedScan[R] = object.__new__(SegmentedScan)
        segmented.__dict__ = self.__dict__ | {"_count": count}
        return segmented

    @property
    def _types_beside(self) -> frozenset[str]:
        return frozenset(self._entity.table.type_names)

    @property
    def _types_read(self) -> frozenset[str]:
        return self._entity.table.types_in_index_of(self._key)

    def _is_in_range(self, item: Item) -> bool:
        return self._key.begins_like(item)

    def _check_filter(self, stored: str, condition: Condition[Any]) -> None:
        """Accept every attribute that is there: a scan may filter by keys."""
        if self._key.index is not None and not self._is_projected(stored):
            super()._check_filter(stored, condition)

    def desc(self) -> Any:
        raise DeclarationError(f"{self._entity.name}: a scan has no order; query a key or an index")

    def _request(self, context: Context) -> tuple[QueryRequest, bool, SortCondition | None]:
        members = self._members(context)
        if self._segment is not None:
            members["Segment"], members["TotalSegments"] = self._segment
        selection = Selection(None, self._filters(), self._paths())
        return QueryRequest(self._operation, members, selection), True, None

    def _shape(self) -> Shape:
        self._check_projection()
        request, leaves_out, _ = self._request(DECLARED)
        return replace(
            read_shape(request, [self._entity], [self._entity.table]),
            keys=(WholeScan(self._reason),),
            extent=self._paging(leaves_out=leaves_out),
            filters=() if self._filter is None else (self._filter,),
            read_units=128,  # a page of 1 MB
            # Pages without an item of the entity are passed over.
            read_range=page_read(None, consistent=self._is_consistent, requests=MAX_REQUESTS),
        )


class SegmentedScan(Scan[R]):
    """A scan in segments, which are read at the same time."""

    _count: int

    def _segments(self) -> list[Scan[R]]:
        """Return the scan of each segment."""
        scans = []
        for number in range(self._count):
            scan: Scan[R] = object.__new__(Scan)
            scan.__dict__ = self.__dict__ | {"_segment": (number, self._count)}
            scans.append(scan)
        return scans

    def count(self) -> Count:
        """Return the number of results on all pages."""
        return PartsCount(self, self._segments(), "segment")

    def _page(self, context: Context) -> Steps[Page[R]]:
        self._check_projection()
        segments = self._segments()
        page = PartsPage(self, self._count, context)
        sizes = _shares(smaller(self._size, page.remaining), list(page.starts))
        reads = [PartRead(segments[int(n)], page.starts[n], size) for n, size in sizes.items()]
        step = Together(reads, threads=min(len(reads), MAX_THREADS) or 1)
        yield step
        read = dict(zip(sizes, step.results, strict=True))
        return page.of([(n, item) for n, each in read.items() for item in each.items], read)

    def _binding(self, request: QueryRequest, context: Context) -> tuple[Any, ...]:
        return (*super()._binding(request, context), self._count)

    def _shape(self) -> Shape:
        # A small page reads only some of the segments, too.
        return page_of_parts_shape([scan._shape() for scan in self._segments()], "segment")


def _shares(size: int | None, numbers: list[str]) -> dict[str, int | None]:
    """Return how many results each segment gives to a page; no entry for those that give none."""
    if size is None or not numbers:
        return dict.fromkeys(numbers)
    each, more = divmod(size, len(numbers))
    shares = {number: each + (place < more) for place, number in enumerate(numbers)}
    return {number: share for number, share in shares.items() if share}
