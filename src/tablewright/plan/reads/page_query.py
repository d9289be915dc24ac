"""Page queries: how every query reads a page: its request, its results, its cursor.

`Query` (see `query.py`) adds the methods with which a caller describes the query. A query that can
match items of other entities leaves them out, and continues to read until the page is full.

An item that cannot be decoded raises UnreadableItem, with the results before it and a cursor behind
it, or is in the page's `unreadable` after `skip_unreadable()`. The same applies to an item in the
range that no entity describes; if it has a type of its own, it is only reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, Self, TypeVar

from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.errors import DeclarationError, UnreadableItem
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import UnknownItem, is_of_other_type, unknown_item
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.plan.condition import Condition
from tablewright.plan.expressions import Path
from tablewright.plan.facts import InShards, OfTypes, Paging, ShapeFilter, page_read
from tablewright.plan.plan import DECLARED, Context, Plan, Steps
from tablewright.plan.query_requests import (
    Filter,
    NotOfTypes,
    NotOnlyOfTypes,
    QueryRequest,
    Selection,
)
from tablewright.plan.reads import projection
from tablewright.plan.reads.page import Page, PageCursor, PageItems, known, smaller
from tablewright.plan.reads.places import Place, place_of
from tablewright.plan.reads.previous import page_before
from tablewright.plan.reads.single import decode_page, first_item
from tablewright.plan.reference import Ref
from tablewright.plan.shape import TYPICAL_PAGE, Shape, read_shape, typical_size
from tablewright.symbol import expressed
from tablewright.values import Item

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)

#: A page from which items are left out takes at most this many requests.
MAX_REQUESTS = 64
#: The most items that such a request asks for.
MAX_LIMIT = 1000
#: The most values that DynamoDB compares an attribute with in one IN.
MAX_IN = 100


class KeyRead(Plan[T_co], Generic[T_co]):
    """A plan that reads items in the order of a key: of a table, or of an index."""

    _key: KeyMap
    _descending = False
    #: The most results on a page.
    _size: int | None = None
    _cursor: str | None = None
    #: The cursor behind the page to read.
    _before: str | None = None
    _is_consistent = False
    #: Whether a page leaves out items that cannot be decoded.
    _skips_unreadable = False

    def desc(self) -> Self:
        """Read from the highest sort key down."""
        return self._replace(_descending=True)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        if self._key.index is not None and self._key.index.kind == "global":
            raise DeclarationError(
                f"{self._key.name}: a global secondary index cannot be read consistently"
            )
        return self._replace(_is_consistent=True)

    def _members(self, context: Context) -> dict[str, Any]:
        """Return the members of a request without its expressions."""
        members: dict[str, Any] = {"TableName": context.name_of(self._entity.table)}
        if self._key.index is not None:
            members["IndexName"] = self._key.index.name
            if context.unready:
                context.require_ready(self._key, self._entities())
        if self._descending:
            members["ScanIndexForward"] = False
        if self._is_consistent:
            members["ConsistentRead"] = True
        return members

    @property
    def _is_filtered_for_tenants(self) -> bool:
        """Whether a tenant's database leaves out items of other tenants."""
        return self._entity.table.filters_for_tenants(self._key)


class PageQuery(KeyRead[Page[R]], Generic[R]):
    """The state of a query, and how its pages are read."""

    _operation: Literal["Query", "Scan"] = "Query"
    _comparison: Comparison | None = None
    _operands: tuple[Any, ...] = ()
    #: The most results on all pages together.
    _total: int | None = None
    _filter: Condition[Any] | None = None
    #: Whether only the first result is read, so that a page with results needs no cursor.
    _is_first_only = False
    _columns: tuple[Ref[Any, Any], ...] = ()
    #: Whether the results are the keys of the items in the table.
    _reads_keys = False
    #: Makes the result of the values of the columns.
    _row: Callable[[list[Any]], Any] = tuple

    def __init__(self, entity: EntityMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        if len(arguments) < key.partition_arity:
            key.check_arguments(arguments, complete=False)
        self._entity = entity
        self._key = key
        self._arguments = entity.enter_arguments(key, arguments)

    def skip_unreadable(self) -> Self:
        """Return the items that can be decoded; the others are in the page's `unreadable`."""
        return self._replace(_skips_unreadable=True)

    def _steps(self, context: Context) -> Steps[Page[R]]:
        return (yield from self._page(context))

    def _page(self, context: Context) -> Steps[Page[R]]:
        """Return the results of a page, and the cursor for the next."""
        self._check_projection()
        request, filtered, excluding = self._request(context)
        cursor = PageCursor(self, request, context)
        if cursor.is_backward:
            return (yield from page_before(self, cursor, context))
        if cursor.start:
            request = request.next_page(cursor.start)  # of a page before: only cursors of ours open
        size = smaller(self._size, cursor.remaining)
        if filtered or excluding is not None or self._is_partial:
            read = yield from self._read_items(request, filtered, excluding, size)
        else:
            if size is not None:
                request = request.with_members(Limit=size)
            answer = yield request
            decoded = self._decode(answer)
            if decoded is not None:
                results, last = decoded
                before = None
                if cursor.start:
                    before = self._edge([first_item(answer)] if results else [], last)
                return cursor.page(results, last, before=before)
            page = decode_page(answer)
            read = PageItems(page.items, page.last_evaluated_key)
        if cursor.start:
            read.before = self._edge(read.items, read.last)
        return self._page_of(read, cursor, self._position)

    def _reversed(self) -> Self:
        """Return the query that reads from the other end."""
        return self._replace(_descending=not self._descending)

    @property
    def _can_turn(self) -> bool:
        """Whether the page before one can be read."""
        return self._operation == "Query" and not (
            # What was left out of a page does not count, so the limit does not tell where it began.
            self._skips_unreadable and self._total is not None
        )

    def _edge(self, items: Sequence[Item], last: Item | None) -> Item:
        """Return where what was read begins; in the other direction, a read ends there."""
        return self._position(items[0]) if items else last or {}

    def _page_of(
        self, read: PageItems, cursor: PageCursor, end_at: Callable[[Item], Item] | None
    ) -> Page[R]:
        """Return the page of items; raise UnreadableItem, with the cursor behind the item.

        `end_at` returns where a page ends that ends with an item; None if that is not known.
        """
        read_one = self._read
        try:
            results = [read_one(item) for item in read.items]
            return cursor.page(results, read.last, before=read.before)
        except UnreadableItem:
            pass  # one by one, to find which
        results = []
        unreadable: list[UnreadableItem] = []
        for item in read.items:
            try:
                results.append(read_one(item))
            except UnreadableItem as error:
                if not self._skips_unreadable and not is_of_other_type(self._entity.table, item):
                    error.results = results
                    error.cursor = end_at and cursor.after(end_at(item), results)
                    raise
                unreadable.append(error)
        return cursor.page(results, read.last, tuple(unreadable), read.before)

    def _binding(self, request: QueryRequest, context: Context) -> tuple[Any, ...]:
        """Return what a cursor is valid for; `request` is that of the first page."""
        names = ", ".join(entity.name for entity in self._entities())
        # A position is valid in one order: another version of a design may sort by another key.
        order = self._key.order
        binding = (self._pattern, context.tenant, names, self._comparison, order, request.body)
        return binding if self._total is None else (*binding, self._total)

    def _decode(self, answer: bytes) -> tuple[list[Any], Item | None] | None:
        """Return the results in an answer of which all are wanted, and where it ended.

        Return None if the items have to be read one by one.
        """
        return self._entity.decode_page(answer)  # straight from the bytes

    def _read_items(
        self,
        request: QueryRequest,
        filtered: bool,
        excluding: SortCondition | None,
        size: int | None,
    ) -> Steps[PageItems]:
        """Read the items of a page: in one request, or until it is full if some are left out."""
        if filtered:
            return (yield from self._filtered_page(request, excluding, size))
        # Whether the item that a comparison leaves out is the first of all, not the last.
        is_first = excluding is not None and (
            (excluding.excluded == excluding.values[0]) is not self._descending
        )
        if size is not None:  # and the item to leave out
            request = request.with_members(Limit=size + (is_first and not request.continues))
        page = decode_page((yield request))
        if excluding is None and not self._is_partial:
            return PageItems(page.items, page.last_evaluated_key)
        found, last = self._candidates(page.items, excluding), page.last_evaluated_key
        if size is not None and len(found) > size:
            del found[size:]
            last = self._position(found[-1])
        elif excluding is not None and not is_first and last is not None:
            last = None if last[excluding.attribute] == excluding.excluded else last
        return PageItems(found, last)

    def _filtered_page(
        self, request: QueryRequest, excluding: SortCondition | None, size: int | None
    ) -> Steps[PageItems]:
        """Read until a page from which items are left out is full, or all is read.

        A request asks for as many items as are missing, by the share of those that matched so far.
        After `MAX_REQUESTS` requests the page is returned as it is, with a cursor.
        """
        found: list[Item] = []
        last: Item | None = None
        places: Sequence[int] = ()
        limit, read = size or 0, 0
        for _ in range(MAX_REQUESTS):
            if size is not None:
                request = request.with_members(Limit=limit)
            page = decode_page((yield request))
            found += self._candidates(page.items, excluding)
            places = known(found)
            last = page.last_evaluated_key
            if last is None or (places and (size is None or len(places) >= size)):
                break
            request = request.next_page(last)
            if size is not None:
                read += page.scanned_count
                limit = next_limit(size - len(places), len(places), read, limit)
        end = len(found) if size is None or len(places) < size else places[size - 1] + 1
        if end < len(found) or (last is not None and places):
            del found[end:]
            last = self._position(found[-1])  # DynamoDB may have stopped at an item of another kind
        return PageItems(found, last)

    # -- the request -------------------------------------------------------------------------

    @property
    def _types_beside(self) -> frozenset[str]:
        """The types of other items that the range may contain."""
        return self._entity.table.types_beside(self._key, len(self._arguments))

    @property
    def _types_read(self) -> frozenset[str]:
        """The types of other items that are read, also if they are left out by their types."""
        return self._types_beside

    @property
    def _may_contain_others(self) -> bool:
        """Whether the range may contain items of other entities, or in other places."""
        return bool(self._types_beside)

    def _key_condition(self) -> KeyCondition:
        exclusive = self._entity.table.is_exclusive(self._key)
        return self._key.condition(
            self._arguments, self._comparison, self._operands, is_exclusive=exclusive
        )

    def _request(self, context: Context) -> tuple[QueryRequest, bool, SortCondition | None]:
        """Return the request, whether some items of a page may have to be left out, and the
        condition if its `excluded` has to be."""
        condition = self._key_condition()
        members = self._members(context)
        selection = Selection(condition, self._filters(), self._paths())
        sort = condition.sort
        excluding = None if sort is None or sort.excluded is None else sort
        filtered = (
            bool(selection.filters)
            or self._may_contain_others
            or members.get("IndexName") in context.filtered
            # In an index, several items can have the key that is left out.
            or (excluding is not None and self._key.index is not None)
        )
        return QueryRequest(self._operation, members, selection), filtered, excluding

    @property
    def _leaves_out(self) -> bool:
        """Whether any number of items may be read that are not results."""
        _, filtered, _ = self._request(DECLARED)
        return filtered or self._is_filtered_for_tenants

    @property
    def _is_partial(self) -> bool:
        """Whether only some attributes of each item are read."""
        return bool(self._columns) or self._reads_keys

    def _is_projected(self, stored: str) -> bool:
        return projection.is_projected(self._entity, self._key, stored)

    def _check_projection(self) -> None:
        """Raise DeclarationError unless the index holds what the query reads."""
        projection.check_kind(self._entity, self._key, self._types_read)
        if not self._reads_keys:
            projection.check_projected(
                self._entity, self._key, [column.attribute for column in self._columns]
            )

    def _type_to_filter(self) -> str | None:
        """Return the attribute that distinguishes items of other entities, if there may be any."""
        name = self._entity.table.type_attribute
        if name is None or not self._may_contain_others or name in self._key.attributes:
            return None
        return name if self._is_projected(name) else None

    @property
    def _type_names(self) -> tuple[str, ...]:
        """The types of the results."""
        return self._entity.type_names

    def _filters(self) -> tuple[Filter, ...]:
        type_filter = self._type_filter()
        filters: tuple[Filter, ...] = () if type_filter is None else (type_filter,)
        return filters if self._filter is None else (*filters, self._filter)

    def _type_filter(self) -> Filter | None:
        name = self._type_to_filter()
        if name is None:
            return None
        others = tuple(sorted(self._types_beside.difference(self._type_names)))
        if not 0 < len(others) <= MAX_IN:
            return None
        if self._entity.table.type_form == "text":
            return NotOfTypes(name, others)
        return NotOnlyOfTypes(name, others, self._type_names)

    def _paths(self) -> list[Path]:
        return projection.outermost(self._needed_paths()) if self._is_partial else []

    def _needed_paths(self) -> set[Path]:
        """Return the paths that a query needs of each item, if it reads only some attributes."""
        place = self._place
        return projection.paths_of_columns(self._entity, self._key, self._columns).union(
            () if place is None else place.paths()
        )

    # -- the results -------------------------------------------------------------------------

    def _matching(self, items: list[Item], excluding: SortCondition | None) -> list[Item]:
        """Return the items of this entity, without the one that the comparison leaves out."""
        place = self._place
        return [
            item
            for item in items
            if self._entity.includes(self._entity.table.entity_of(item))
            and (excluding is None or item[excluding.attribute] != excluding.excluded)
            and (place is None or place.contains(item))
        ]

    def _candidates(self, items: list[Item], excluding: SortCondition | None) -> list[Item]:
        """Return the matching items, and those in the range that no entity describes."""
        matching = self._matching(items, excluding)
        if len(matching) == len(items):
            return matching
        found: list[Item] = []
        for item in items:
            if self._is_unknown(item, excluding):
                found.append(UnknownItem(item))
            elif self._matching([item], excluding):
                found.append(item)
        return found

    def _is_unknown(self, item: Item, excluding: SortCondition | None) -> bool:
        """Whether no entity describes an item, although it is in the range."""
        return (
            self._entity.table.identify(item).is_unknown
            and self._is_in_range(item)
            and (excluding is None or item[excluding.attribute] != excluding.excluded)
        )

    def _is_in_range(self, item: Item) -> bool:
        """Whether an item that was read is where items of the entity are."""
        return True

    @property
    def _place(self) -> Place | None:
        """The place of the key; None if the entity has no other one in the index."""
        return place_of(self._entity, self._key, len(self._entity.kinds))

    @property
    def _has_places(self) -> bool:
        """Whether the index can hold items of the entity in other places."""
        return self._place is not None

    def _read(self, item: Item) -> Any:
        """Return the result that an item gives; raise UnreadableItem."""
        if isinstance(item, UnknownItem):
            raise unknown_item(self._entity.table, item)
        if self._reads_keys:
            return self._entity.table.key(item)
        if not self._columns:
            return self._entity.decode(item)
        return self._row(projection.read_columns(self._entity, self._columns, item))

    def _position(self, item: Item) -> Item:
        """Return the key after which a query continues."""
        names = projection.key_names(self._entity, self._key)
        return {name: item[name] for name in names if name in item}

    # -- the shape ---------------------------------------------------------------------------

    def _paging(self, *, leaves_out: bool) -> Paging:
        requests = MAX_REQUESTS if leaves_out else 1
        return Paging(expressed(self._size), expressed(self._total), requests)

    def _shape_filters(self) -> tuple[ShapeFilter, ...]:
        """Return what is left out, also by this library after it was read."""
        filters: list[ShapeFilter] = []
        type_attribute = self._type_to_filter()
        if type_attribute:
            filters.append(OfTypes(type_attribute, self._type_names))
        if self._filter is not None:
            filters.append(self._filter)
        if self._is_filtered_for_tenants:
            filters.append(InShards(self._entity.table.attributes[0]))
        return tuple(filters)

    def _shape(self) -> Shape:
        self._check_projection()
        request, _, excluding = self._request(DECLARED)
        leaves_out = self._leaves_out
        sizes = [size for size in (self._size, self._total) if isinstance(size, int)]
        size = min(sizes, default=TYPICAL_PAGE)
        return replace(
            read_shape(request, self._entities(), [self._entity.table]),
            extent=self._paging(leaves_out=leaves_out),
            filters=self._shape_filters(),
            read_units=read_units(
                size * typical_size(self._entity), consistent=self._is_consistent
            ),
            read_range=page_read(
                size + (excluding is not None) + (self._before is not None)
                if sizes and not leaves_out
                else None,
                consistent=self._is_consistent,
                requests=MAX_REQUESTS if leaves_out else 1,
            ),
        )


def next_limit(missing: int, found: int, read: int, limit: int) -> int:
    """Return how many items to ask for: as many as are missing, by the share that matched."""
    wanted = math.ceil(missing * read / found) if found else 2 * limit
    return min(max(missing, min(wanted, 4 * limit)), MAX_LIMIT)
