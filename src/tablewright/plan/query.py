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
from tablewright.mapping.keys import Comparison, KeyMap, Sort
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

    operation: Literal["Query", "Scan"] = "Query"
    comparison: Comparison | None = None
    operands: tuple[Any, ...] = ()
    descending = False
    size: int | None = None
    #: The most results on all pages together.
    total: int | None = None
    cursor: str | None = None
    condition: Condition[Any] | None = None
    is_consistent = False
    columns: tuple[Ref[Any, Any], ...] = ()

    def __init__(self, entity: EntityMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        if len(arguments) < key.in_partition:
            key.check(arguments, complete=False)
        self.entity = entity
        self.key = key
        self.arguments = arguments

    # -- what a caller may ask for -----------------------------------------------------------

    def desc(self) -> Self:
        """From the highest sort key down."""
        return self.but(descending=True)

    def asc(self) -> Self:
        """From the lowest sort key up, as it is without asking."""
        return self.but(descending=False)

    def page_size(self, size: int) -> Self:
        """Limit the number of results on a page."""
        return self.but(size=checked_size("page_size", size))

    def limit(self, total: int) -> Self:
        """Limit the number of results on all pages together."""
        return self.but(total=checked_size("limit", total))

    def after(self, cursor: str | None) -> Self:
        """Continue after `cursor`; None starts from the beginning."""
        return self.but(cursor=cursor)

    def filter(self, condition: Condition[R]) -> Self:
        """Leave out what does not meet the condition; it is read and paid for all the same."""
        check_condition(condition, self.entity)
        for name in condition.attributes:
            self._check_filter(self.entity.attributes[name].stored, condition)
        whole = condition if self.condition is None else self.condition & condition
        return self.but(condition=whole)

    def _check_filter(self, stored: str, condition: Condition[Any]) -> None:
        if stored in self.key.attributes:
            raise DeclarationError(
                f"{self.key.name}: filter({condition!r}): {stored!r} is part of the key; compare "
                "it with eq(), gte(), between() …"
            )
        if not self._holds(stored):
            raise DeclarationError(
                f"{self.key.name}: filter({condition!r}): the index does not hold {stored!r}; "
                "project it"
            )

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        if self.key.index is not None and self.key.index.kind == "global":
            raise DeclarationError(
                f"{self.key.name}: a global secondary index cannot be read consistently"
            )
        return self.but(is_consistent=True)

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
            check_reference(column, self.entity)
        return self.but(columns=columns)

    # -- running -----------------------------------------------------------------------------

    @property
    def mixed(self) -> bool:
        """Whether the range may hold items of other entities."""
        return self.entity.table.mixed(self.key, len(self.arguments))

    def sort_condition(self) -> Sort | None:
        alone = self.entity.table.alone(self.key)
        return self.key.condition(self.arguments, self.comparison, self.operands, alone=alone)

    def request(self, context: Context) -> tuple[QueryRequest, bool, Value | None]:
        """Return the request, whether some items of a page may have to be left out, and the sort
        key to leave out."""
        sort = self.sort_condition()
        members: dict[str, Any] = {"TableName": context.name_of(self.entity.table)}
        if self.key.index is not None:
            members["IndexName"] = self.key.index.name
        if self.descending:
            members["ScanIndexForward"] = False
        if self.is_consistent:
            members["ConsistentRead"] = True
        partition = self.key.partition_value(self.arguments)
        selection = Selection(
            KeyCondition(self.key.attributes, partition, sort), self._filters(), self._paths()
        )
        filtered = (
            bool(selection.filters) or self.mixed or members.get("IndexName") in context.filtered
        )
        request = QueryRequest(self.operation, members, selection)
        return request, filtered, None if sort is None else sort.excluded

    def _holds(self, stored: str) -> bool:
        """Whether what is queried holds an attribute."""
        return holds(self.entity, self.key, stored)

    def _check_projection(self) -> None:
        """What is asked for is in the index."""
        check_held(self.entity, self.key, [column.attribute for column in self.columns])

    def type_to_filter(self) -> str | None:
        """The attribute by which items of other entities are left out, where there may be any."""
        name = self.entity.table.type_attribute
        if name is None or name in self.key.attributes or not self._holds(name) or not self.mixed:
            return None
        return name

    def _filters(self) -> tuple[Filter, ...]:
        filters: tuple[Filter, ...] = ()
        type_attribute = self.type_to_filter()
        if type_attribute is not None:
            filters = (OneOf(type_attribute, ({"S": self.entity.type_name},)),)
        return filters if self.condition is None else (*filters, self.condition)

    def _paths(self) -> list[Path]:
        """The paths to ask for; none where whole items are wanted."""
        if not self.columns:
            return []
        names = self._key_names()  # a cursor needs them
        type_attribute = self.entity.table.type_attribute
        if type_attribute is not None and self._holds(type_attribute):
            names.append(type_attribute)
        paths = {(name,) for name in names} | {_whole_lists(c.steps) for c in self.columns}
        # DynamoDB refuses a path inside of another.
        return sorted(
            (path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))),
            key=str,
        )

    def _key_names(self) -> list[str]:
        return key_names(self.entity, self.key)

    def steps(self, context: Context) -> Steps[Page[R]]:
        results, following = yield from self.page(context)
        return Page(results, following)

    def page(self, context: Context) -> Steps[tuple[list[R], str | None]]:
        """Return the results of a page, and the cursor for the next one."""
        self._check_projection()
        request, filtered, excluded = self.request(context)
        binding: tuple[Any, ...] = (
            self.pattern,
            context.tenant,
            self.entity.name,
            self.comparison,
            request.body,
        )
        left = self.total
        if left is not None:
            binding += (left,)
        if self.cursor is not None:
            place = open_cursor(context.secret, binding, self.cursor)
            start, left = place if isinstance(place, tuple) else (place, None)
            request = request.with_members(ExclusiveStartKey=start)
        size = _smaller(self.size, left)
        if filtered or excluded is not None or self.columns:
            results, last = yield from self._picked(request, filtered, excluded, size)
        else:
            if size is not None:
                request = request.with_members(Limit=size)
            answer = yield request
            results, last = self.entity.decode_page(answer)  # straight from the bytes
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
            found += self.own(answer.items, excluded)
            last = answer.last_evaluated_key
            if last is None or (found and (size is None or len(found) >= size)):
                break
            request = request.next_page(last)
        if size is not None and len(found) > size:
            del found[size:]
            last = self._place(found[-1])
        elif last is not None and filtered:
            last = self._place(found[-1])  # where DynamoDB stopped may be somebody else's item
        return [self.result(item) for item in found], last

    def own(self, items: list[Item], excluded: Value | None) -> list[Item]:
        """Those items that are this entity's, without the one that the comparison leaves out."""
        sort = self.key.attributes[1]
        return [
            item
            for item in items
            if self.entity.table.entity_of(item) is self.entity
            and (excluded is None or sort is None or item[sort] != excluded)
        ]

    def result(self, item: Item) -> R:
        if not self.columns:
            entity: R = self.entity.decode(item)
            return entity
        return tuple(column.read(item) for column in self.columns)  # type: ignore[return-value]

    def _page_told(self, filtered: bool) -> str:
        told = "1 MB" if self.size is None else shown(self.size)
        if filtered and self.size is not None:
            told += f", of {FILTERED_PAGE} read at a time"
        return told if self.total is None else f"{told}; at most {shown(self.total)} in all"

    def _place(self, item: Item) -> Item:
        return {name: item[name] for name in self._key_names() if name in item}

    def shape(self) -> Shape:
        self._check_projection()
        sort = self.sort_condition()
        filtered = self.condition is not None or self.mixed
        sizes = [size for size in (self.size, self.total) if isinstance(size, int)]
        size = min(sizes, default=TYPICAL_PAGE)
        if filtered and self.size is not None:
            size = max(size, FILTERED_PAGE)
        type_attribute = self.type_to_filter()
        filters = [f'{type_attribute}="{self.entity.type_name}"'] if type_attribute else []
        if self.condition is not None:
            filters.append(repr(self.condition))
        return Shape(
            operation=self.operation,
            table=self.entity.table.name,
            entity=self.entity.name,
            index=None if self.key.index is None else self.key.index.name,
            condition=query_condition(self.key, self.key.partition_value(self.arguments), sort),
            order="descending" if self.descending else "ascending",
            page=self._page_told(bool(filters)),
            filter=" AND ".join(filters),
            read_units=read_units(size * typical_size(self.entity), consistent=self.is_consistent),
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
        self.query = query
        self.entity = query.entity

    def steps(self, context: Context) -> Steps[R | None]:
        results, _ = yield from self.query.page(context)
        return results[0] if results else None

    def shape(self) -> Shape:
        return self.query.shape()


class Count(Plan[int]):
    """How many results a query has, on all pages; at most its limit."""

    def __init__(self, query: Query[Any]) -> None:
        self.query = query
        self.entity = query.entity

    def steps(self, context: Context) -> Steps[int]:
        query = self.query.but(columns=())
        request, _, excluded = query.request(context)
        # Without a type to filter by, or with a key to leave out, the items have to be seen.
        told_apart = (
            query.type_to_filter() or query.entity.table.type_attribute in query.key.attributes
        )
        seen = excluded is not None or (query.mixed and not told_apart)
        if not seen:
            request = request.with_members(Select="COUNT")
        total = 0
        while True:
            answer = decode_answer((yield request))
            total += len(query.own(answer.items, excluded)) if seen else answer.count
            if query.total is not None and total >= query.total:
                return query.total
            if answer.last_evaluated_key is None:
                return total
            request = request.next_page(answer.last_evaluated_key)

    def shape(self) -> Shape:
        return self.query.shape()
