"""Paged loads: aggregates with one member in pages, and aggregates whose root a plan finds.

    class OrderPage(Aggregate):
        order: Order = root()
        payment: Payment | None = child()
        parcels: Page[Parcel] = children()

    OrderPage.of(Order.primary("C1", "O1")).page_size(2).after(cursor)

    SK=ORDER#O1                  first page: one query from the root to the second parcel
       ORDER#O1#PAYMENT
       ORDER#O1#ZPARCEL#1
       ORDER#O1#ZPARCEL#2
       ORDER#O1#ZPARCEL#3        later pages: one query of the root and the other members again,
       ORDER#O1#ZPARCEL#4        one query of the parcels after the cursor

Invariants: the rows of the page come last in the order of the query, and rows of other entities
never lie between; otherwise the plan is a DeclarationError. A cursor is that of a query of the
member alone: it never points to the root or another member.

`LoadFound` is an aggregate, paged or not, whose root a plan of its own finds:

    OrderWithItems.of(Order.by_state("open").first())      Query + Query
    OrderWithItems.of(Order.by_number("7"))                GetItem + GetItem + Query
"""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import UnknownItem
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Template
from tablewright.plan.facts import Extent, RootAndRows, UnitRange, page_read
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.aggregate_members import AggregateMap, Member, MemberRow
from tablewright.plan.reads.layout import MemberPlace, RowPlace, hull, literal_behind
from tablewright.plan.reads.page import Page, PageCursor, PageItems
from tablewright.plan.reads.page_query import MAX_REQUESTS
from tablewright.plan.reads.projection import ProjectionMap
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.single import OptionalRead, Single, decode_page
from tablewright.plan.shape import Shape, in_turn
from tablewright.symbol import Argument, expressed
from tablewright.values import Item

T = TypeVar("T")
R = TypeVar("R")


def load_of(kind: AggregateMap, key: KeyMap, arguments: tuple[Any, ...]) -> Load[Any]:
    """Return the plan that loads an aggregate by a key of its root."""
    return (Load if kind.paged is None else PagedLoad)(kind, key, arguments)


class PagedLoad(Load[T], Generic[T]):
    """An aggregate with a page of one member, or None if its root does not exist."""

    _type_name = "Load"

    def __init__(self, kind: AggregateMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        super().__init__(kind, key, arguments)
        assert kind.paged is not None
        self._paged = kind.paged
        where = f"{kind.name}.{self._paged.field}"
        place, *others = self._page_places()
        theirs = place.key
        if others:
            raise DeclarationError(
                f"{where}: a page is read from one place, but {place.name} has several in this "
                f"index: {', '.join(each.key.name for each in (place, *others))}; declare it as a "
                "list, or query each of them itself"
            )
        if key.sort is None or not key.sort.is_text or theirs.sort is None:
            raise DeclarationError(
                f"{where}: a page needs sort keys that are composed of "
                f"literals and attributes; {key.name} is {key.show()}"
            )
        self._root_sort: Template = key.sort
        self._member_key: KeyMap = theirs
        self._member_sort: Template = theirs.sort

    # -- where the rows are ------------------------------------------------------------------

    def _page_places(self) -> list[MemberPlace]:
        return [place for place in self._layout.members if place.member is self._paged]

    def _other_places(self) -> list[RowPlace]:
        """Return where the root and the members that are not in the page lie."""
        layout = self._layout
        return [layout.root, *(each for each in layout.members if each.member is not self._paged)]

    def _check_limit(self) -> None:
        """Raise DeclarationError unless the rows of the page come last, and nothing between."""
        where = f"{self._kind.name}.{self._paged.field}"
        (page,), places = self._page_places(), self._other_places()
        low, high = page.span.low, page.span.high
        for place in places:
            is_below, is_above = place.span.high < low, place.span.low > high
            if is_above if self._descending else is_below:
                continue
            turn = "without desc()" if self._descending else "with desc()"
            is_reversed = is_below if self._descending else is_above
            fix = f"read it {turn}" if is_reversed else "declare it as a list"
            raise DeclarationError(
                f"{where} is a page, so its rows must come last: {page.shown} comes "
                f"before or between {place.shown}; {fix}, or query {self._paged.entity.name} itself"
            )
        other = self._layout.other_inside
        if other is not None:
            raise DeclarationError(
                f"{where}: a page cannot be read: rows of {other.name} ({other.shown}) can lie "
                "between those of the aggregate, and how many of them have to be read is not "
                "known; add it as a member, give it another literal, or query "
                f"{self._paged.entity.name} itself"
            )

    def _head_condition(self) -> KeyCondition:
        """Return the condition of the root and the other members, without the page."""
        root, places = self._root_sort_key(), self._other_places()
        partition = self._key.partition_values(self._arguments)
        (sort,) = self._key.sort_attributes
        if len(places) == 1 and root is not None:
            return KeyCondition({**partition, sort: {"S": root}})
        whole = hull(place.span for place in places)
        if self._layout.is_below:
            return self._behind_root(whole.low, whole.high)
        values = ({"S": whole.low}, {"S": whole.high})
        return KeyCondition(partition, SortCondition(sort, "between", values))

    def _start_of_page(self) -> str:
        """Return the text that the sort keys of the page begin with."""
        if not self._layout.is_below:
            return self._member_sort.first_literal
        return (self._root_sort_key() or "") + literal_behind(self._member_sort, self._root_sort)

    def _member_query(self) -> MemberQuery[Any]:
        """Return the query of the member alone."""
        sort, theirs, start = self._member_sort, self._member_key, self._start_of_page()
        bound = len(self._root_sort.parts) if self._layout.is_below else 0
        slots = {*theirs.partition.slots, *sort.slots[:bound]}
        (name,) = theirs.sort_attributes
        partition = self._key.partition_values(self._arguments)
        condition = KeyCondition(partition, SortCondition(name, "begins_with", ({"S": start},)))
        query: MemberQuery[Any] = MemberQuery(self._paged, theirs, condition, len(slots))
        return query._replace(
            _pattern=self._pattern,
            _descending=self._descending,
            _is_consistent=self._is_consistent,
            _size=self._size,
            _cursor=self._cursor,
            _before=self._before,
            _skips_unreadable=self._skips_unreadable,
        )

    # -- reading -----------------------------------------------------------------------------

    def _steps(self, context: Context) -> Steps[T | None]:
        self._check_limit()
        if self._cursor is None and self._before is None:
            rows, page = yield from self._first_page(context)
        else:
            head = self._request(self._head_condition(), context)
            rows = yield from self._read_rows(head, None)
            if self._assembled(rows, {self._paged.field: None}) is None:
                return None
            page = yield from self._member_query()._page(context)
        return self._assembled(rows, {self._paged.field: page})

    def _first_page(self, context: Context) -> Steps[tuple[list[MemberRow], Page[Any]]]:
        """Read the root, the other members, and the first rows of the page."""
        query, size = self._member_query(), self._size
        others: list[MemberRow] = []
        found: list[Item] = []
        last: Item | None = None
        request, root = self._request(self._condition(), context), self._root_sort_key()
        before, read = len(self._other_places()), 0
        limit = before + (size or 0)
        for _ in range(MAX_REQUESTS):
            if size is not None:
                request = request.with_members(Limit=limit)
            answer = decode_page((yield request))
            for row in self._own(answer.items):
                if row.entity is self._paged.entity and row.sort_key != root:
                    found.append(row.item)
                else:
                    others.append(row)
            last = answer.last_evaluated_key
            if last is None or (found and (size is None or len(found) >= size)):
                break
            following = self._next_request(request, last, others)
            if following is None:
                return [], query.page_of([], None, context)
            request = following
            read += answer.scanned_count
            missing = (size or 0) - len(found) + max(0, before - len(others))
            limit = self._next_limit(missing, len(found), read, limit)
        else:
            if not found:
                raise self._too_large()
        if size is not None and len(found) > size:
            del found[size:]
        elif last is None:
            return others, query.page_of(found, None, context)
        return others, query.page_of(found, query._position(found[-1]), context)

    def _unknown_rows(self, item: Item, sort_key: str) -> list[MemberRow]:
        """Return a row of no entity that lies in the page, which reports it."""
        is_unknown = self._entity.table.identify(item).is_unknown
        if is_unknown and sort_key.startswith(self._start_of_page()):
            return [MemberRow(self._paged.entity, sort_key, UnknownItem(item))]
        return super()._unknown_rows(item, sort_key)

    @property
    def _has_lists(self) -> bool:
        """Whether any number of rows of other members come before the page."""
        return any(
            member is not self._paged
            and (member.form == "list" or isinstance(member.kind, AggregateMap))
            for member in self._kind.members
        )

    @property
    def _skips_rows(self) -> bool:
        return self._has_lists or super()._skips_rows

    # -- the shape ---------------------------------------------------------------------------

    def _shape(self) -> Shape:
        shape = super()._shape()
        if not self._is_continued:
            return shape
        head = self._range_of_rows(len(self._other_places()))
        later = head + self._member_query()._shape().read_range
        return replace(
            shape,
            read_range=UnitRange(shape.read_range.low, max(shape.read_range.high, later.high)),
        )

    def _extent(self) -> Extent:
        return RootAndRows(expressed(self._size), self._has_lists, self._is_continued)

    def _read_range(self, rows: int) -> UnitRange:
        if not isinstance(self._size, int):
            return super()._read_range(rows)
        return self._range_of_rows(len(self._other_places()) + self._size)

    def _range_of_rows(self, rows: int) -> UnitRange:
        if self._skips_rows:  # the number of their rows is not known
            return page_read(None, consistent=self._is_consistent, requests=MAX_REQUESTS)
        return super()._range_of_rows(rows)


class MemberQuery(Query[R], Generic[R]):
    """The rows of one member of a root."""

    def __init__(self, member: Member, key: KeyMap, condition: KeyCondition, bound: int) -> None:
        self._entity = member.entity
        self._key = key
        self._condition = condition
        #: How many parts of the key the root determines.
        self._bound = bound
        if isinstance(member.kind, ProjectionMap):
            self._columns, self._row = member.kind.columns, member.kind.build

    def _key_condition(self) -> KeyCondition:
        return self._condition

    @property
    def _types_beside(self) -> frozenset[str]:
        return self._entity.table.types_beside(self._key, self._bound)

    def page_of(self, items: list[Item], last: Item | None, context: Context) -> Page[Any]:
        """Return the page of items that were read otherwise; it continues after `last`."""
        request, _, _ = self._request(context)
        cursor = PageCursor(self._replace(_cursor=None), request, context)
        return self._page_of(PageItems(items, last), cursor, self._position)


class LoadFound(OptionalRead[T], Generic[T]):
    """An aggregate whose root is found by a plan of its own."""

    def __init__(self, kind: AggregateMap, root: Single[Any]) -> None:
        self._kind = kind
        self._root = root
        self._entity = entity = kind.root.entity
        arguments = entity.key_arguments(entity.symbolic(Argument(kind.root.field)))
        #: Loads the aggregate, with the key of the root that was found; raises if no query can.
        self._second: Load[T] = load_of(kind, entity.primary, arguments)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_second=self._second.consistent())

    def desc(self) -> Self:
        """Read from the highest sort key down."""
        return self._replace(_second=self._second.desc())

    def limit(self, children: int) -> Self:
        """Limit the rows after the root, on all levels together; the root must come first."""
        return self._replace(_second=self._second.limit(children))

    def page_size(self, size: int) -> Self:
        """Limit the results in the member that is a `Page`."""
        return self._replace(_second=self._second.page_size(size))

    def after(self, cursor: str | None) -> Self:
        """Continue the member that is a `Page` after `cursor`; None starts from the beginning."""
        return self._replace(_second=self._second.after(cursor))

    def before(self, cursor: str | None) -> Self:
        """Return the member that is a `Page` to the page before; None: no return."""
        return self._replace(_second=self._second.before(cursor))

    def skip_unreadable(self) -> Self:
        """Leave rows that cannot be decoded out of the member that is a `Page`."""
        return self._replace(_second=self._second.skip_unreadable())

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def _steps(self, context: Context) -> Steps[T | None]:
        found = yield from self._root._steps(context)
        if found is None:
            return None
        return (yield from self._load(found)._steps(context))

    def _load(self, root: Any) -> Load[T]:
        arguments = self._entity.key_arguments(root)
        return self._second._replace(_arguments=arguments, _pattern=self._pattern)

    def _shape(self) -> Shape:
        return in_turn(self._root._shape(), self._second._shape())
