"""Query: a range of one partition, in pages.

    Order.timeline("C1")                               a Range: everything in the partition
    Order.timeline("C1").gte(monday)                   a Query: a part of it, in order
    .desc()  .page_size(20)  .limit(100)  .filter(…)  .after(cursor)  .consistent()
    .first()  .count()  .select(Order.order_id, Order.total)

A page is a sequence of entities, with a cursor where there is more. A query that can meet items of
other entities filters them out, and reads on until the page is full. `page_size` is the size of a
page, `limit` the number of results on all pages together; a cursor carries what is left of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, Self, TypeVar, TypeVarTuple, overload

import msgspec
from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import AttributeMap, EntityMap
from tablewright.mapping.keys import Comparison, KeyMap, SortCondition
from tablewright.plan.condition import Condition
from tablewright.plan.cursor import open_cursor, sign
from tablewright.plan.page import Page
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.query_request import (
    Filter,
    KeyCondition,
    OneOf,
    Path,
    QueryRequest,
    Selection,
)
from tablewright.plan.reference import Ref, check_condition, check_reference
from tablewright.plan.shape import (
    TYPICAL_PAGE,
    Shape,
    query_condition,
    read_units,
    shown,
    typical_size,
)
from tablewright.plan.single import Single
from tablewright.symbol import Symbol
from tablewright.values import Item, Value

E = TypeVar("E")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
Text = TypeVar("Text", bound=str)
Rest = TypeVarTuple("Rest")
#: What is left behind the part that a method binds.
Behind = TypeVarTuple("Behind")

#: A query that throws items away asks for at least this many at a time.
FILTERED_PAGE = 100


class _Answer(Struct, rename="pascal"):
    items: list[Item] = []
    count: int = 0
    last_evaluated_key: Item | None = None


decode_answer = msgspec.json.Decoder(_Answer).decode


class Query(Plan[Page[R]], Generic[R]):
    """A page of results, and all pages with `db.iterate`."""

    _operation: Literal["Query", "Scan"] = "Query"
    _comparison: Comparison | None = None
    _operands: tuple[Any, ...] = ()
    _descending = False
    _size: int | None = None
    #: The most results on all pages together.
    _total: int | None = None
    _cursor: str | None = None
    _filter: Condition[Any] | None = None
    _is_consistent = False
    _columns: tuple[Ref[Any, Any], ...] = ()

    def __init__(self, entity: EntityMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        if len(arguments) < key.partition_arity:
            key.check_arguments(arguments, complete=False)
        self._entity = entity
        self._key = key
        self._arguments = arguments

    # -- what a caller may ask for -----------------------------------------------------------

    def desc(self) -> Self:
        """From the highest sort key down."""
        return self._replace(_descending=True)

    def asc(self) -> Self:
        """From the lowest sort key up, as it is without asking."""
        return self._replace(_descending=False)

    def page_size(self, size: int) -> Self:
        """Limit the number of results on a page."""
        return self._replace(_size=checked_size("page_size", size))

    def limit(self, total: int) -> Self:
        """Limit the number of results on all pages together."""
        return self._replace(_total=checked_size("limit", total))

    def after(self, cursor: str | None) -> Self:
        """Continue after `cursor`; None starts from the beginning."""
        return self._replace(_cursor=cursor)

    def filter(self, condition: Condition[R]) -> Self:
        """Leave out what does not meet the condition; it is read and paid for all the same."""
        check_condition(condition, self._entity)
        for name in condition.attributes:
            self._check_filter(self._entity.attributes[name].stored, condition)
        whole = condition if self._filter is None else self._filter & condition
        return self._replace(_filter=whole)

    def _check_filter(self, stored: str, condition: Condition[Any]) -> None:
        if stored in self._key.attributes:
            raise DeclarationError(
                f"{self._key.name}: filter({condition!r}): {stored!r} is part of the key; compare "
                "it with eq(), gte(), between() …"
            )
        if not self._holds(stored):
            raise DeclarationError(
                f"{self._key.name}: filter({condition!r}): the index does not hold {stored!r}; "
                "project it"
            )

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        if self._key.index is not None and self._key.index.kind == "global":
            raise DeclarationError(
                f"{self._key.name}: a global secondary index cannot be read consistently"
            )
        return self._replace(_is_consistent=True)

    def first(self) -> First[R]:
        """The first result, or None."""
        return First(self.page_size(1))

    def count(self) -> Count:
        """How many results there are on all pages."""
        return Count(self)

    @overload
    def select(self, a: Ref[R, A], /) -> Query[tuple[A]]: ...
    @overload
    def select(self, a: Ref[R, A], b: Ref[R, B], /) -> Query[tuple[A, B]]: ...
    @overload
    def select(self, a: Ref[R, A], b: Ref[R, B], c: Ref[R, C], /) -> Query[tuple[A, B, C]]: ...
    @overload
    def select(
        self, a: Ref[R, A], b: Ref[R, B], c: Ref[R, C], d: Ref[R, D], /
    ) -> Query[tuple[A, B, C, D]]: ...
    @overload
    def select(
        self, a: Ref[R, A], b: Ref[R, B], c: Ref[R, C], d: Ref[R, D], f: Ref[R, F], /
    ) -> Query[tuple[A, B, C, D, F]]: ...
    def select(self, *columns: Ref[Any, Any]) -> Any:
        """Only these attributes, as tuples; nothing else travels."""
        for column in columns:
            check_reference(column, self._entity)
        return self._replace(_columns=columns)

    # -- running -----------------------------------------------------------------------------

    @property
    def _mixed(self) -> bool:
        """Whether the range may hold items of other entities."""
        return self._entity.table.may_contain_others(self._key, len(self._arguments))

    def _sort_condition(self) -> SortCondition | None:
        exclusive = self._entity.table.is_exclusive(self._key)
        return self._key.condition(
            self._arguments, self._comparison, self._operands, is_exclusive=exclusive
        )

    def _request(self, context: Context) -> tuple[QueryRequest, bool, Value | None]:
        """Return the request, whether some items of a page may have to be left out, and the sort
        key to leave out."""
        sort = self._sort_condition()
        members: dict[str, Any] = {"TableName": context.name_of(self._entity.table)}
        if self._key.index is not None:
            members["IndexName"] = self._key.index.name
        if self._descending:
            members["ScanIndexForward"] = False
        if self._is_consistent:
            members["ConsistentRead"] = True
        partition = self._key.partition_value(self._arguments)
        selection = Selection(
            KeyCondition(self._key.attributes, partition, sort), self._filters(), self._paths()
        )
        filtered = (
            bool(selection.filters) or self._mixed or members.get("IndexName") in context.filtered
        )
        request = QueryRequest(self._operation, members, selection)
        return request, filtered, None if sort is None else sort.excluded

    def _holds(self, stored: str) -> bool:
        """Whether what is queried holds an attribute."""
        return holds(self._entity, self._key, stored)

    def _check_projection(self) -> None:
        """What is asked for is in the index."""
        check_held(self._entity, self._key, [column.attribute for column in self._columns])

    def _type_to_filter(self) -> str | None:
        """The attribute by which items of other entities are left out, where there may be any."""
        name = self._entity.table.type_attribute
        if name is None or name in self._key.attributes or not self._holds(name) or not self._mixed:
            return None
        return name

    def _filters(self) -> tuple[Filter, ...]:
        filters: tuple[Filter, ...] = ()
        type_attribute = self._type_to_filter()
        if type_attribute is not None:
            filters = (OneOf(type_attribute, ({"S": self._entity.type_name},)),)
        return filters if self._filter is None else (*filters, self._filter)

    def _paths(self) -> list[Path]:
        """The paths to ask for; none where whole items are wanted."""
        if not self._columns:
            return []
        names = self._key_names()  # a cursor needs them
        type_attribute = self._entity.table.type_attribute
        if type_attribute is not None and self._holds(type_attribute):
            names.append(type_attribute)
        paths = {(name,) for name in names} | {_whole_lists(c.steps) for c in self._columns}
        # DynamoDB refuses a path inside of another.
        return sorted(
            (path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))),
            key=str,
        )

    def _key_names(self) -> list[str]:
        return key_names(self._entity, self._key)

    def _steps(self, context: Context) -> Steps[Page[R]]:
        results, following = yield from self._page(context)
        return Page(results, following)

    def _page(self, context: Context) -> Steps[tuple[list[R], str | None]]:
        """Return the results of a page, and the cursor for the next one."""
        self._check_projection()
        request, filtered, excluded = self._request(context)
        binding: tuple[Any, ...] = (
            self._pattern,
            context.tenant,
            self._entity.name,
            self._comparison,
            request.body,
        )
        left = self._total
        if left is not None:
            binding += (left,)
        if self._cursor is not None:
            place = open_cursor(context.secret, binding, self._cursor)
            start, left = place if isinstance(place, tuple) else (place, None)
            request = request.with_members(ExclusiveStartKey=start)
        size = _smaller(self._size, left)
        if filtered or excluded is not None or self._columns:
            results, last = yield from self._picked(request, filtered, excluded, size)
        else:
            if size is not None:
                request = request.with_members(Limit=size)
            answer = yield request
            results, last = self._entity.decode_page(answer)  # straight from the bytes
        if last is None or left == len(results):
            return results, None
        end = last if left is None else (last, left - len(results))
        return results, sign(context.secret, binding, end)

    def _picked(
        self, request: QueryRequest, filtered: bool, excluded: Value | None, size: int | None
    ) -> Steps[tuple[list[R], Item | None]]:
        """A page from which items are left out: read on until it is full, or all is read."""
        found: list[Item] = []
        while True:
            if size is not None:
                wanted = size - len(found)
                limit = max(wanted, FILTERED_PAGE) if filtered else wanted
                request = request.with_members(Limit=limit)
            answer = decode_answer((yield request))
            found += self._own(answer.items, excluded)
            last = answer.last_evaluated_key
            if last is None or (found and (size is None or len(found) >= size)):
                break
            request = request.next_page(last)
        if size is not None and len(found) > size:
            del found[size:]
            last = self._place(found[-1])
        elif last is not None and filtered:
            last = self._place(found[-1])  # where DynamoDB stopped may be somebody else's item
        return [self._result(item) for item in found], last

    def _own(self, items: list[Item], excluded: Value | None) -> list[Item]:
        """Those items that are this entity's, without the one that the comparison leaves out."""
        sort = self._key.attributes[1]
        return [
            item
            for item in items
            if self._entity.table.entity_of(item) is self._entity
            and (excluded is None or sort is None or item[sort] != excluded)
        ]

    def _result(self, item: Item) -> R:
        if not self._columns:
            entity: R = self._entity.decode(item)
            return entity
        return tuple(column.read(item) for column in self._columns)  # type: ignore[return-value]

    def _page_told(self, filtered: bool) -> str:
        told = "1 MB" if self._size is None else shown(self._size)
        if filtered and self._size is not None:
            told += f", of {FILTERED_PAGE} read at a time"
        return told if self._total is None else f"{told}; at most {shown(self._total)} in all"

    def _place(self, item: Item) -> Item:
        return {name: item[name] for name in self._key_names() if name in item}

    def _shape(self) -> Shape:
        self._check_projection()
        sort = self._sort_condition()
        filtered = self._filter is not None or self._mixed
        sizes = [size for size in (self._size, self._total) if isinstance(size, int)]
        size = min(sizes, default=TYPICAL_PAGE)
        if filtered and self._size is not None:
            size = max(size, FILTERED_PAGE)
        type_attribute = self._type_to_filter()
        filters = [f'{type_attribute}="{self._entity.type_name}"'] if type_attribute else []
        if self._filter is not None:
            filters.append(repr(self._filter))
        return Shape(
            operation=self._operation,
            table=self._entity.table.name,
            entity=self._entity.name,
            index=None if self._key.index is None else self._key.index.name,
            condition=query_condition(self._key, self._key.partition_value(self._arguments), sort),
            order="descending" if self._descending else "ascending",
            page=self._page_told(bool(filters)),
            filter=" AND ".join(filters),
            read_units=read_units(
                size * typical_size(self._entity), consistent=self._is_consistent
            ),
        )


def key_names(entity: EntityMap, key: KeyMap) -> list[str]:
    """The attributes that every entry of an index has."""
    names = [*entity.table.attributes, *key.attributes]
    return [name for name in dict.fromkeys(names) if name is not None]


def holds(entity: EntityMap, key: KeyMap, stored: str) -> bool:
    """Whether a table, or an index, holds an attribute."""
    index = key.index
    if index is None or index.projection == "ALL" or stored in key_names(entity, key):
        return True
    return index.projection != "KEYS_ONLY" and stored in index.projection


def check_held(entity: EntityMap, key: KeyMap, attributes: Sequence[AttributeMap] = ()) -> None:
    """An index holds these attributes of an entity; all of them, if none is named."""
    asked = attributes or entity.attributes.values()
    missing = [each.stored for each in asked if not holds(entity, key, each.stored)]
    if missing and key.index is not None:
        raise DeclarationError(
            f"{key.name}: the index {key.index.name} does not hold {', '.join(missing)}; "
            "select(…) what it holds, or project more"
        )


def _whole_lists(steps: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The path up to the first list: of a list's members DynamoDB gives those that were asked
    for, without their places."""
    for position, step in enumerate(steps):
        if isinstance(step, int):
            return steps[:position]
    return steps


def checked_size(method: str, size: Any) -> Any:
    """Return a number of results, or the symbol for one; raise InvalidValue for anything else."""
    if not isinstance(size, Symbol) and (type(size) is not int or size < 1):
        raise InvalidValue(f"{method}({size!r}): give a whole number, at least 1")
    return size


def _smaller(size: int | None, left: int | None) -> int | None:
    """Return the size of a page: never more than what is left of the limit."""
    if size is None or left is None:
        return left if size is None else size
    return min(size, left)


class First(Single[R], Generic[R]):
    """The first result of a query, or None."""

    def __init__(self, query: Query[R]) -> None:
        self._query = query
        self._entity = query._entity

    def _steps(self, context: Context) -> Steps[R | None]:
        results, _ = yield from self._query._page(context)
        return results[0] if results else None

    def _shape(self) -> Shape:
        return self._query._shape()


class Count(Plan[int]):
    """How many results a query has, on all pages; at most its limit."""

    def __init__(self, query: Query[Any]) -> None:
        self._query = query
        self._entity = query._entity

    def _steps(self, context: Context) -> Steps[int]:
        query = self._query._replace(_columns=())
        request, _, excluded = query._request(context)
        # Without a type to filter by, or with a key to leave out, the items have to be seen.
        told_apart = (
            query._type_to_filter() or query._entity.table.type_attribute in query._key.attributes
        )
        seen = excluded is not None or (query._mixed and not told_apart)
        if not seen:
            request = request.with_members(Select="COUNT")
        total = 0
        while True:
            answer = decode_answer((yield request))
            total += len(query._own(answer.items, excluded)) if seen else answer.count
            if query._total is not None and total >= query._total:
                return query._total
            if answer.last_evaluated_key is None:
                return total
            request = request.next_page(answer.last_evaluated_key)

    def _shape(self) -> Shape:
        return self._query._shape()
