"""Aggregates: a root and what belongs to it, from one query.

    PK=CUST#C1   SK=ORDER#O100                 the root: OrderWithItems.order
                 SK=ORDER#O100#ITEM#I1         its children: OrderWithItems.items
                 SK=ORDER#O100#ITEM#I2

Where every child's key extends the root's, the query is the range from the root to the last
key below it; otherwise it is the span of the members in the root's partition (see `layout.py`). A
member may be an aggregate itself: its rows belong to the root whose key theirs extend. Rows of
other entities are left out. An aggregate with a member that is a `Page` is a `PagedLoad`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import unknown_item
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import extends
from tablewright.plan import facts
from tablewright.plan.plan import DECLARED, Context, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.aggregate_members import AggregateMap, MemberRow, assemble
from tablewright.plan.reads.layout import Layout, bound, layout_of
from tablewright.plan.reads.page_query import MAX_REQUESTS, KeyRead, next_limit
from tablewright.plan.reads.places import Place, place_of
from tablewright.plan.reads.projection import outermost
from tablewright.plan.reads.query import checked_size
from tablewright.plan.reads.single import OptionalRead, decode_page
from tablewright.plan.shape import TYPICAL_PAGE, Shape, read_shape, typical_size
from tablewright.symbol import expressed
from tablewright.values import Item

T = TypeVar("T")


class Load(KeyRead[T | None], OptionalRead[T], Generic[T]):
    """An aggregate, or None if its root does not exist.

    `_size` is the most rows after the root; of a PagedLoad, the most results on a page.
    """

    #: Whether `after` or `before` was called, even with None.
    _is_continued = False

    def __init__(self, kind: AggregateMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        self._kind = kind
        self._key = key
        self._arguments = arguments
        self._entity = kind.root.entity
        if key.has_several_attributes:
            raise DeclarationError(
                f"{kind.name}: {key.name} has a key of several attributes, in which nothing says "
                "what belongs to a root; read the root there, and its aggregate by its primary "
                f"key: {kind.name}.of({key.name}(…).first())"
            )
        _ = self._layout  # raises if one query cannot read it

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def limit(self, children: int) -> Self:
        """Limit the rows after the root, on all levels together; the root must come first."""
        paged = self._kind.paged
        if paged is not None:
            raise DeclarationError(
                f"{self._kind.name}: {paged.field} is a page, so its size is limited by "
                "page_size(), not by limit()"
            )
        return self._replace(_size=checked_size("limit", children))

    def page_size(self, size: int) -> Self:
        """Limit the results in the member that is a `Page`."""
        self._require_page("page_size()")
        return self._replace(_size=checked_size("page_size", size))

    def after(self, cursor: str | None) -> Self:
        """Continue the member that is a `Page` after `cursor`; None starts from the beginning."""
        self._require_page("after()")
        return self._replace(_cursor=cursor, _is_continued=True)

    def before(self, cursor: str | None) -> Self:
        """Return the member that is a `Page` to the page before; None: no return."""
        self._require_page("before()")
        return self._replace(_before=cursor, _is_continued=True)

    def skip_unreadable(self) -> Self:
        """Leave rows that cannot be decoded out of the member that is a `Page`.

        They are in the `unreadable` of the page. In other members they raise UnreadableItem.
        """
        self._require_page("skip_unreadable()")
        return self._replace(_skips_unreadable=True)

    def _require_page(self, method: str) -> None:
        if self._kind.paged is None:
            raise DeclarationError(
                f"{self._kind.name}: {method} needs a member that is a page, not a list: declare "
                "it as Page[…] = children()"
            )

    @property
    def _layout(self) -> Layout:
        entities = len(self._entity.table.entities)
        return layout_of(self._kind, self._key, len(self._arguments), entities)

    def _check_limit(self) -> None:
        """Raise DeclarationError for a limit that a bounded number of rows cannot honour.

        It leaves out rows at the end, so the root has to come first, and no rows of other entities
        may lie between.
        """
        if self._size is None or self._key.sort is None:
            return
        layout = self._layout
        for place in layout.members:
            first = layout.is_below or layout.root.span.low < place.span.low
            if first == self._descending:
                turn = "without desc()" if self._descending else "with desc()"
                raise DeclarationError(
                    f"{self._kind.name}: limit() needs the root first, and {place.shown} "
                    f"comes before {layout.root.shown}; read it {turn}"
                )
        other = layout.other_inside
        if other is not None:
            raise DeclarationError(
                f"{self._kind.name}: limit({self._size!r}) cannot be kept: rows of "
                f"{other.name} ({other.shown}) can lie between those of the aggregate, and how "
                "many of them have to be read is not known; add it as a member, give it another "
                "literal, or leave the limit out"
            )

    def _condition(self) -> KeyCondition:
        """Return the condition on the key: the rows below the root, or the span of all."""
        sort, layout = self._key.sort, self._layout
        if sort is None or sort.stored_tag != "S":
            is_whole = layout.is_below  # no key extends that of the root, so it is all there is
            encode = self._key.encode if is_whole else self._key.partition_values
            return KeyCondition(encode(self._arguments))
        whole = layout.whole
        if not layout.is_below:
            others = [other.span for other in layout.others]
            extended = any(extends(place.sort, sort) for place in layout.members if place.sort)
            partition = self._key.partition_values(self._arguments)
            return KeyCondition(
                partition,
                bound(self._key, self._arguments, whole, others, root_is_last=not extended),
            )
        high = whole.high if layout.has_rows_above else sort.delimiter.above
        return self._behind_root("", high)

    def _behind_root(self, low: str, high: str) -> KeyCondition:
        """Return the condition for sort keys that are the root's, followed by these texts."""
        root = self._root_sort_key() or ""
        (sort,) = self._key.sort_attributes
        partition = self._key.partition_values(self._arguments)
        values = ({"S": root + low}, {"S": root + high})
        return KeyCondition(partition, SortCondition(sort, "between", values))

    def _request(self, condition: KeyCondition, context: Context) -> QueryRequest:
        paths, place = self._kind.paths(self._key), self._root_place
        if paths and place is not None:
            paths = outermost(place.paths().union(paths))
        selection = Selection(condition, (), paths)
        return QueryRequest("Query", self._members(context), selection)

    def _steps(self, context: Context) -> Steps[T | None]:
        self._check_limit()
        size = None if self._size is None else self._size + 1
        rows = yield from self._read_rows(self._request(self._condition(), context), size)
        return self._assembled(rows, {})

    def _read_rows(self, request: QueryRequest, size: int | None) -> Steps[list[MemberRow]]:
        """Read all rows of the aggregate that a query selects, or the first ones."""
        rows: list[MemberRow] = []
        limit, read = size or 0, 0
        for _ in range(MAX_REQUESTS):
            if size is not None:
                request = request.with_members(Limit=limit)
            page = decode_page((yield request))
            rows += self._own(page.items)
            if page.last_evaluated_key is None or (size is not None and len(rows) >= size):
                return rows[:size]
            following = self._next_request(request, page.last_evaluated_key, rows)
            if following is None:
                return []
            request = following
            if size is not None:
                read += page.scanned_count
                limit = self._next_limit(size - len(rows), len(rows), read, limit)
        raise self._too_large()

    def _next_request(
        self, request: QueryRequest, last: Item, rows: list[MemberRow]
    ) -> QueryRequest | None:
        """Return the request for what follows a page that ended at a key; `rows` are those so far.

        A page that ended between the root and the rows below it continues behind what lies there.
        Return None if the root should be among the rows, but is missing.
        """
        root, condition = self._root_sort_key(), request.selection.condition
        if not self._layout.is_below or root is None or condition is None or condition.sort is None:
            return request.next_page(last)
        below, end = root + self._key.partition.delimiter.text, self._sort_key(last)
        has_root = any(row.entity is self._entity and row.sort_key == root for row in rows)
        if not self._descending and not has_root:
            return request.next_page(last) if end == root else None
        if not self._layout.has_rows_between or end >= below or (self._descending and end == root):
            return request.next_page(last)
        if self._descending:
            (name,) = self._key.sort_attributes
            return request.for_condition(KeyCondition({**condition.equal, name: {"S": root}}))
        behind = replace(condition.sort, values=({"S": below}, condition.sort.values[-1]))
        return request.for_condition(KeyCondition(condition.equal, behind))

    def _next_limit(self, missing: int, found: int, read: int, limit: int) -> int:
        """Return how many rows to ask for, of which some may be skipped."""
        return next_limit(missing, found, read, limit) if self._skips_rows else missing

    @property
    def _skips_rows(self) -> bool:
        """Whether a query with a limit may read any number of other rows before its own."""
        return self._is_filtered_for_tenants

    def _too_large(self) -> InvalidValue:
        return InvalidValue(
            f"{self._kind.name}: its rows are more than {MAX_REQUESTS} MB; load it with "
            "limit(), or query its members page by page"
        )

    def _own(self, items: list[Item]) -> list[MemberRow]:
        """Return the rows that belong to the aggregate, each with its sort key."""
        members = self._kind.entities()
        root = self._root_sort_key() if self._layout.is_below else None
        delimiter, place = self._key.partition.delimiter.text, self._root_place
        rows = []
        for item in items:
            sort_key = self._sort_key(item)
            # Free text may sort between the root and its children: `O1 x` is below `O1#…`.
            if root is not None and sort_key != root and not sort_key.startswith(root + delimiter):
                continue
            found = self._entity.table.entity_of(item)
            entity = next((member for member in members if member.includes(found)), None)
            if entity is self._entity and place is not None and not place.contains(item):
                continue
            if entity is not None:
                rows.append(MemberRow(entity, sort_key, item))
            elif found is None:
                rows += self._unknown_rows(item, sort_key)
        return rows

    @property
    def _root_place(self) -> Place | None:
        """The place of the root, if items of its entity in other places are not members."""
        if self._entity in self._kind.entities()[1:]:
            return None
        return place_of(self._entity, self._key, len(self._entity.kinds))

    def _unknown_rows(self, item: Item, sort_key: str) -> list[MemberRow]:
        """Raise UnreadableItem for a row of no entity that may be a member's: see `PageQuery`."""
        table, keys = self._entity.table, (self._key, *(p.key for p in self._layout.members))
        if (
            table.identify(item).is_unknown
            and not table.has_foreign_type(item)
            and any(key.begins_like(item) for key in keys)
        ):
            raise unknown_item(table, item)
        return []

    def _sort_key(self, item: Item) -> str:
        names = self._key.sort_attributes
        return next(iter(item[names[0]].values())) if names else ""

    def _root_sort_key(self) -> str | None:
        """Return the sort key of the root, if the call gives all of it."""
        if self._key.sort is None or len(self._arguments) < len(self._key.parameters):
            return None
        return self._sort_key(self._key.encode(self._arguments))

    def _assembled(self, rows: list[MemberRow], given: Mapping[str, Any]) -> T | None:
        """Return the aggregate that the rows make, with the values of the members in `given`."""
        found: T | None = assemble(self._kind, self._key, rows, self._root_sort_key(), given)
        return found

    def _shape(self) -> Shape:
        self._check_limit()
        entities = self._kind.entities()
        children = self._size if isinstance(self._size, int) else TYPICAL_PAGE
        size = sum(map(typical_size, entities)) / len(entities) * (1 + children)
        filtered = self._is_filtered_for_tenants
        return replace(
            read_shape(self._request(self._condition(), DECLARED), entities, [self._entity.table]),
            filters=(facts.InShards(self._entity.table.attributes[0]),) if filtered else (),
            extent=self._extent(),
            attributes=(),
            read_units=read_units(size, consistent=self._is_consistent),
            read_range=self._read_range(1 if self._size is None else 1 + children),
        )

    def _extent(self) -> facts.Extent:
        return facts.AllPages() if self._size is None else facts.RootAndRows(expressed(self._size))

    def _read_range(self, rows: int) -> facts.UnitRange:
        """Return the units of a query of the aggregate, with this many rows if they are limited."""
        if isinstance(self._size, int) and not self._is_filtered_for_tenants:
            return self._range_of_rows(rows)
        return facts.page_read(None, consistent=self._is_consistent, requests=MAX_REQUESTS)

    def _range_of_rows(self, rows: int) -> facts.UnitRange:
        """Return the units of a query of this many rows, the root among them.

        It may find as many rows between the root and the others, and then asks for these again.
        """
        again = rows - 1 if self._layout.has_rows_between else 0
        return facts.items_read(rows + again, consistent=self._is_consistent)
