"""Aggregates: a root and what belongs to it, from one query.

    PK=CUST#C1   SK=ORDER#O100                 the root: OrderWithItems.order
                 SK=ORDER#O100#ITEM#I1         its children: OrderWithItems.items
                 SK=ORDER#O100#ITEM#I2

Where every child's key extends the root's, the query is the range from the root to the last
key below it; otherwise it is the span of the members in the root's partition (see `span`). A member
may be an aggregate itself: its rows belong to the root whose key theirs extend. Rows of other
entities are left out. An aggregate with a member that is a `Page` is a `PagedLoad`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic, Self, TypeVar

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Template, extends, templates_can_collide
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.members import AggregateMap, MemberRow, assemble
from tablewright.plan.reads.pages import MAX_REQUESTS, decode_page, next_limit, tenant_filter
from tablewright.plan.reads.query import checked_size
from tablewright.plan.reads.query_request import QueryRequest, Selection
from tablewright.plan.reads.span import Span, bound, hull, span_of
from tablewright.plan.shape import (
    TYPICAL_PAGE,
    Shape,
    query_condition,
    read_units,
    shown,
    typical_size,
)
from tablewright.plan.units import UnitRange, items_read, page_read
from tablewright.values import Item

T = TypeVar("T")


class Load(Plan[T | None], Generic[T]):
    """An aggregate, or None if its root does not exist."""

    def __init__(self, kind: AggregateMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        self._kind = kind
        self._key = key
        self._arguments = arguments
        self._descending = False
        #: The most rows after the root; of a PagedLoad, the most results on a page.
        self._size: int | None = None
        self._cursor: str | None = None
        #: Whether `after` was called, even with None.
        self._is_continued = False
        self._is_consistent = False
        self._entity = kind.root.entity
        if key.has_several_attributes:
            raise DeclarationError(
                f"{kind.name}: {key.name} has a key of several attributes, in which nothing says "
                "what belongs to a root; read the root there, and its aggregate by its primary "
                f"key: {kind.name}.of({key.name}(…).first())"
            )
        self._extends = _check_members(kind, key, len(arguments))

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        if self._key.index is not None and self._key.index.kind == "global":
            raise DeclarationError(
                f"{self._key.name}: a global secondary index cannot be read consistently"
            )
        return self._replace(_is_consistent=True)

    def desc(self) -> Self:
        """Read from the highest sort key down."""
        return self._replace(_descending=True)

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

    def _require_page(self, method: str) -> None:
        if self._kind.paged is None:
            raise DeclarationError(
                f"{self._kind.name}: {method} needs a member that is a page, not a list: declare "
                "it as Page[…] = children()"
            )

    def _member_keys(self) -> list[tuple[EntityMap, Template]]:
        """Return the sort keys of the members, without the root's."""
        keys = []
        for entity in self._kind.entities()[1:]:
            theirs = entity.key_in_index_of(self._key)
            if theirs is not None and theirs.sort is not None:
                keys.append((entity, theirs.sort))
        return keys

    def _check_limit(self) -> None:
        """Raise DeclarationError for a limit that a bounded number of rows cannot honour.

        It leaves out rows at the end, so the root has to come first, and no rows of other entities
        may lie between.
        """
        if self._size is None or self._key.sort is None:
            return
        root = span_of(self._key.sort)
        for _, theirs in self._member_keys():
            first = extends(theirs, self._key.sort) or root.low < span_of(theirs).low
            if first == self._descending:
                turn = "without desc()" if self._descending else "with desc()"
                raise DeclarationError(
                    f"{self._kind.name}: limit() needs the root first, and {theirs.show()} "
                    f"comes before {self._key.sort.show()}; read it {turn}"
                )
        if self._extends:
            return
        whole = self._span()
        for name, sort in self._sort_keys_beside():
            if whole.overlaps(span_of(sort)):
                raise DeclarationError(
                    f"{self._kind.name}: limit({shown(self._size)}) cannot be kept: rows of {name} "
                    f"({sort.show() if sort else 'any key'}) can lie between those of the "
                    "aggregate, and how many of them have to be read is not known; add it as a "
                    "member, give it another literal, or leave the limit out"
                )

    def _span(self) -> Span:
        keys = [sort for _, sort in self._member_keys()]
        return hull(map(span_of, [self._key.sort, *keys]))

    def _sort_keys_beside(self) -> list[tuple[str, Template | None]]:
        table = self._entity.table
        return table.sort_keys_beside(self._key, self._kind.entities())

    def _condition(self) -> KeyCondition:
        """Return the condition on the key: the rows below the root, or the span of all."""
        partition = self._key.partition_values(self._arguments)
        if self._key.sort is None or self._key.sort.tag != "S":
            return KeyCondition(partition)
        if not self._extends:
            others = [span_of(sort) for _, sort in self._sort_keys_beside()]
            extended = any(extends(sort, self._key.sort) for _, sort in self._member_keys())
            return KeyCondition(
                partition,
                bound(self._key, self._arguments, self._span(), others, root_is_last=not extended),
            )
        (sort,) = self._key.sort_attributes
        root = self._key.encode(self._arguments)[sort]
        end = {"S": root["S"] + self._key.partition.delimiter.above}
        return KeyCondition(partition, SortCondition(sort, "between", (root, end)))

    def _request(self, condition: KeyCondition, context: Context) -> QueryRequest:
        members: dict[str, Any] = {"TableName": context.name_of(self._entity.table)}
        if self._key.index is not None:
            members["IndexName"] = self._key.index.name
            if context.unready:
                context.require_ready(self._key, self._entities())
        if self._descending:
            members["ScanIndexForward"] = False
        if self._is_consistent:
            members["ConsistentRead"] = True
        return QueryRequest("Query", members, Selection(condition, (), self._kind.paths(self._key)))

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
            request = request.next_page(page.last_evaluated_key)
            if size is not None:
                read += page.scanned_count
                limit = next_limit(size - len(rows), len(rows), read, limit)
        raise self._too_large()

    def _too_large(self) -> InvalidValue:
        return InvalidValue(
            f"{self._kind.name}: its rows are more than {MAX_REQUESTS} MB; load it with "
            "limit(), or query its members page by page"
        )

    def _own(self, items: list[Item]) -> list[MemberRow]:
        """Return the rows that belong to the aggregate, each with its sort key."""
        members = self._kind.entities()
        root = self._root_sort_key() if self._extends else None
        delimiter = self._key.partition.delimiter.text
        rows = []
        for item in items:
            found = self._entity.table.entity_of(item)
            entity = next((member for member in members if member.includes(found)), None)
            if entity is None:
                continue
            sort_key = self._sort_key(item)
            # Free text may sort between the root and its children: `O1 x` is below `O1#…`.
            if root is None or sort_key == root or sort_key.startswith(root + delimiter):
                rows.append(MemberRow(entity, sort_key, item))
        return rows

    def _sort_key(self, item: Item) -> str:
        return "".join(str(*item[sort].values()) for sort in self._key.sort_attributes)

    def _root_sort_key(self) -> str | None:
        """Return the sort key of the root, if the call gives all of it."""
        if self._key.sort is None or len(self._arguments) < len(self._key.parameters):
            return None
        return self._sort_key(self._key.encode(self._arguments))

    def _assembled(self, rows: list[MemberRow], given: Mapping[str, Any]) -> T | None:
        """Return the aggregate that the rows make, with the values of the members in `given`."""
        found: T | None = assemble(self._kind, self._key, rows, self._root_sort_key(), given)
        return found

    @property
    def _root_is_free_text(self) -> bool:
        """Whether other roots can lie between a root and its rows: `O1 x`, before `O1#…`."""
        sort = self._key.sort
        if sort is None or not isinstance(sort.pieces[-1], KeyPart):
            return False
        return not sort.pieces[-1].sorts_before(sort.delimiter.text)

    @property
    def _is_filtered_for_tenants(self) -> bool:
        """Whether a tenant's database leaves out rows of other tenants."""
        return self._entity.table.filters_for_tenants(self._key)

    @property
    def _may_read_others(self) -> bool:
        """Whether rows that are left out can lie between those of the aggregate."""
        sort = self._key.sort
        if self._is_filtered_for_tenants:
            return True
        if sort is None or not self._extends:
            return False  # a limit is refused there
        return self._root_is_free_text or any(
            theirs is not None and extends(theirs, sort) for _, theirs in self._sort_keys_beside()
        )

    def _shape(self) -> Shape:
        self._check_limit()
        entities = self._kind.entities()
        children = self._size if isinstance(self._size, int) else TYPICAL_PAGE
        size = sum(map(typical_size, entities)) / len(entities) * (1 + children)
        partition = self._entity.table.attributes[0]
        return Shape(
            operation="Query",
            table=self._entity.table.name,
            entity=", ".join(entity.name for entity in entities),
            index=None if self._key.index is None else self._key.index.name,
            condition=query_condition(self._condition()),
            order="descending" if self._descending else "ascending",
            filter=tenant_filter(partition) if self._is_filtered_for_tenants else "",
            page="all pages" if self._size is None else f"1 + {shown(self._size)}",
            read_units=read_units(size, consistent=self._is_consistent),
            read_range=self._read_range(1 if self._size is None else 1 + children),
        )

    def _read_range(self, rows: int) -> UnitRange:
        """Return the units of a query of the aggregate, with this many rows if they are limited."""
        if isinstance(self._size, int) and not self._may_read_others:
            return items_read(rows, consistent=self._is_consistent)
        return page_read(None, consistent=self._is_consistent, requests=MAX_REQUESTS)


@lru_cache(maxsize=1024)  # 45 µs, a fifth of a load of six rows
def _check_members(kind: AggregateMap, key: KeyMap, given: int) -> bool:
    """Return whether all members are below the root; raise if one is not in its partition."""
    root = kind.root.entity
    below = given == len(key.parameters)
    kind.root.check_projected(key)
    if root in kind.entities()[1:] and not below:
        raise DeclarationError(
            f"{kind.name}: {root.name} is its root and a member, so the root "
            f"must be known: use every part of {key.name}"
        )
    for member in kind.leaves()[1:]:
        entity = member.entity
        theirs = entity.key_in_index_of(key)
        if theirs is None or not templates_can_collide(key.partition, theirs.partition):
            raise DeclarationError(
                f"{kind.name}: {entity.name} is not in the partitions of "
                f"{key.name}, {key.partition.show()}; one query cannot read both"
            )
        member.check_projected(theirs)
        if key.sort is None or theirs.sort is None:
            below = False
        elif extends(theirs.sort, key.sort):
            if given < len(key.parameters):
                raise DeclarationError(
                    f"{kind.name}: {theirs.name} is below one {root.name}; say "
                    f"which, with every part of {key.name}"
                )
        else:
            if below and len(key.parameters) > key.partition_arity:
                raise DeclarationError(
                    f"{kind.name}: {theirs.name} is beside {key.name}, not below "
                    f"it: {theirs.sort.show()} does not extend {key.sort.show()}, so "
                    "nothing says whose it is"
                )
            below = False
    _check_nested(kind, key)
    return below


def _check_nested(kind: AggregateMap, key: KeyMap) -> None:
    """Raise DeclarationError unless nested aggregates have their members below their roots."""
    for member in kind.members:
        if isinstance(member.kind, AggregateMap):
            root = member.entity.key_in_index_of(key)
            for entity in member.kind.entities()[1:]:
                theirs = entity.key_in_index_of(key)
                if not (root and root.sort and theirs and theirs.sort) or not extends(
                    theirs.sort, root.sort
                ):
                    raise DeclarationError(
                        f"{member.kind.name}: {entity.primary.name} is beside "
                        f"{member.entity.primary.name}, not below it, so nothing says whose it is"
                    )
            _check_nested(member.kind, key)
