"""Query: a range of one partition, in pages.

    Order.timeline("C1")                               a Range: everything in the partition
    Order.timeline("C1").gte(monday)                   a Query: a part of it, in order
    .desc()  .page_size(20)  .limit(100)  .filter(…)  .after(cursor)  .consistent()
    .first()  .count()  .select(Order.order_id, Order.total)  .select(OrderLine)

A page is a sequence of entities, with a cursor if there are more. `page_size` is the size of a
page, `limit` the number of results on all pages together; a cursor carries what remains of it.
How a page is read is in `page_query.py`. `First` and `Count` reduce the pages of a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.plan.condition import Condition
from tablewright.plan.facts import all_read
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.page_query import PageQuery
from tablewright.plan.reads.projection import ProjectionRow, contains_whole
from tablewright.plan.reads.single import Single, decode_page, item_request
from tablewright.plan.reference import Ref, check_filter, check_reference
from tablewright.plan.shape import Shape, in_turn
from tablewright.symbol import Symbol

if TYPE_CHECKING:
    from tablewright.plan.reads.include import Included, LinkRef

R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
Row = TypeVar("Row", bound=ProjectionRow)


class Query(PageQuery[R], Generic[R]):
    """A page of results; `db.iterate` gives those of all pages."""

    def asc(self) -> Self:
        """Read from the lowest sort key up, which is the default."""
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

    def before(self, cursor: str | None) -> Self:
        """Return to the page before the one whose `previous_cursor` this is; None: no return."""
        if not self._can_turn:
            raise DeclarationError(
                f"{self._key.name}: before(): {self._why_not_turned}; keep the cursors of the pages"
            )
        return self._replace(_before=cursor)

    @property
    def _why_not_turned(self) -> str:
        """Return why the page before one cannot be read."""
        if self._operation == "Scan":
            return "DynamoDB scans in one direction only"
        return "with limit() and skip_unreadable(), it is not known where a page began"

    def filter(self, condition: Condition[R]) -> Self:
        """Leave out items that do not match; they are read and consume capacity all the same."""
        check_filter(condition, self._entity)
        for name in condition.attributes:
            self._check_filter(self._entity.attributes[name].stored, condition)
        whole = condition if self._filter is None else self._filter & condition
        return self._replace(_filter=whole)

    def _check_filter(self, stored: str, condition: Condition[Any]) -> None:
        if stored in self._key.attributes:
            raise DeclarationError(
                f"{self._key.name}: filter({condition!r}): {stored!r} is part of the key; compare "
                "it with eq(), gte(), between() … DynamoDB takes one range of a key, and filters "
                "by no attribute of it"
            )
        if not self._is_projected(stored):
            raise DeclarationError(
                f"{self._key.name}: filter({condition!r}): the index does not contain {stored!r}; "
                "add it to the projection of the index"
            )

    def first(self) -> First[R]:
        """Return only the first result, or None.

        An index that does not contain the whole entity finds its key; the entity itself is read in
        the table.
        """
        if self._before is not None:
            raise DeclarationError(f"{self._key.name}: first() takes no query with before()")
        first = self.page_size(1)
        is_union = len(self._entities()) > 1  # it is read whole, or refused
        if self._columns or is_union or contains_whole(self._entity, self._key):
            return First(first)
        return FirstByKey(first._replace(_reads_keys=True))

    def count(self) -> Count:
        """Return the number of results on all pages."""
        return Count(self)

    def include(self, reference: LinkRef[R, F], /) -> Included[R, F]:
        """Return each result with what it refers to, which one more request reads."""
        from tablewright.plan.reads.include import Included  # made of queries

        return Included(self, reference)

    @overload
    def select(self, projection: type[Row], /) -> Query[Row]: ...
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
    @overload
    def select(self, a: Ref[R, Any], /, *more: Ref[R, Any]) -> Query[tuple[Any, ...]]: ...
    def select(self, *columns: Any) -> Any:
        """Return only these attributes, as tuples or as a projection; DynamoDB sends nothing else.

        An attribute that is stored only inside keys is parsed from the key.
        """
        if not columns:
            raise InvalidValue("select() needs at least one attribute")
        projection = getattr(columns[0], "__projection__", None)
        if projection is None:
            for column in columns:
                check_reference(column, self._entity)
            return self._replace(_columns=columns, _row=tuple)
        if len(columns) > 1:
            raise DeclarationError(f"select() takes {projection.name} alone, or attributes")
        if self._entity not in (projection.entity, projection.entity.base):
            raise DeclarationError(
                f"select({projection.name}): it is a projection of {projection.entity.name}, not "
                f"of {self._entity.name}"
            )
        return self._replace(_columns=projection.columns, _row=projection.build)


def checked_size(method: str, size: Any) -> Any:
    """Return a number of results, or the symbol for one; raise InvalidValue for anything else."""
    if not isinstance(size, Symbol) and (type(size) is not int or size < 1):
        raise InvalidValue(f"{method}({size!r}): the number must be an int, at least 1")
    return size


class First(Single[R], Generic[R]):
    """The first result of a query, or None."""

    def __init__(self, query: PageQuery[R]) -> None:
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

    The query reads its key as it is stored; the entity is read in the table, and is None if it was
    deleted meanwhile.
    """

    _type_name = "First"

    def _steps(self, context: Context) -> Steps[R | None]:
        key: Any = yield from super()._steps(context)
        if key is None:
            return None
        request = item_request(context, self._entity, key, consistent=False)
        found: R | None = self._entity.decode_get((yield request))
        return found

    def _shape(self) -> Shape:
        entity = self._entity
        arguments = entity.key_arguments(entity.symbolic())
        return in_turn(super()._shape(), Get[R](entity, arguments)._shape())


class Count(Plan[int]):
    """The number of items of a query, on all pages; at most its limit.

    DynamoDB counts the stored items, so none is decoded, unless unreadable ones are to be skipped.
    """

    def __init__(self, query: PageQuery[Any]) -> None:
        self._query = query
        self._entity = query._entity

    def _steps(self, context: Context) -> Steps[int]:
        if self._query._skips_unreadable:
            return (yield from self._readable(context))
        query = self._query._replace(_columns=())
        query._replace(_reads_keys=True)._check_projection()
        request, _, excluding = query._request(context)
        # Items are read, not only counted, if some of them have to be left out here: a filter lets
        # items without a type attribute pass, which only their keys tell apart.
        entity, key = query._entity, query._key
        reads_items = excluding is not None or (
            query._may_contain_others
            and (query._has_places or entity.table.type_attribute not in key.attributes)
        )
        if reads_items:
            request, _, _ = query._replace(_reads_keys=True)._request(context)
        else:
            request = request.with_members(Select="COUNT")
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
        query = self._query
        if not query._skips_unreadable:
            query = query._replace(_columns=(), _reads_keys=True)
        # A count names no attributes, whatever the query selects.
        return replace(_of_all(query._shape(), query), attributes=())


def _of_all(shape: Shape, query: PageQuery[Any]) -> Shape:
    """Return the shape of a query that may have to read everything that it selects."""
    units = all_read(consistent=query._is_consistent)
    whole = replace(units * len(shape.requests), per_item=units.per_item)  # each item is read once
    return replace(shape, read_range=whole)
