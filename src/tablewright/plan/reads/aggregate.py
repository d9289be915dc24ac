"""Aggregates: a root and what belongs to it, from one query.

    PK=CUST#C1   SK=ORDER#O100                 the root: OrderWithItems.order
                 SK=ORDER#O100#ITEM#I1         its children: OrderWithItems.items
                 SK=ORDER#O100#ITEM#I2

Where every child's key extends the root's, the query is the range from the root to the last
key below it; otherwise it is the span of the members in the root's partition (see `span`). A member
may be an aggregate itself: its rows belong to the root whose key theirs extend. Rows of other
entities are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Parser, Template, extends, templates_can_collide
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.pages import MAX_REQUESTS, decode_page
from tablewright.plan.reads.projection import check_projected
from tablewright.plan.reads.query import checked_size
from tablewright.plan.reads.query_request import QueryRequest, Selection
from tablewright.plan.reads.single import Single, in_turn
from tablewright.plan.reads.span import Span, bound, hull, span_of
from tablewright.plan.shape import (
    TYPICAL_PAGE,
    Shape,
    query_condition,
    read_units,
    shown,
    typical_size,
)
from tablewright.plan.units import page_read
from tablewright.values import Item

T = TypeVar("T")


class Member(Struct, frozen=True):
    """One field of an aggregate."""

    field: str
    kind: EntityMap | AggregateMap
    many: bool
    optional: bool = False

    @property
    def entity(self) -> EntityMap:
        """The entity of a row that starts this member."""
        return self.kind.root.entity if isinstance(self.kind, AggregateMap) else self.kind


class MemberRow(Struct, frozen=True):
    """A row: its entity, and its sort key as text."""

    entity: EntityMap
    sort_key: str
    item: Item


class AggregateMap(Struct, frozen=True):
    """A compiled aggregate: its root, and what belongs to it."""

    name: str
    build: Callable[[dict[str, Any]], Any]
    root: Member
    members: tuple[Member, ...]

    def entities(self) -> list[EntityMap]:
        """Return every entity of the aggregate, its root first."""
        found = [self.root.entity]
        for member in self.members:
            if isinstance(member.kind, AggregateMap):
                found += member.kind.entities()
            else:
                found.append(member.kind)
        return found


class LoadFound(Plan[T | None], Generic[T]):
    """An aggregate whose root is found by a plan of its own."""

    def __init__(self, kind: AggregateMap, root: Single[Any]) -> None:
        self._kind = kind
        self._root = root
        self._entity = kind.root.entity
        self._load(self._entity.symbolic(kind.root.field))  # raises if no query can load it

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def _steps(self, context: Context) -> Steps[T | None]:
        found = yield from self._root._steps(context)
        if found is None:
            return None
        return (yield from self._load(found)._steps(context))

    def _load(self, root: Any) -> Load[T]:
        entity = self._kind.root.entity
        return Load(self._kind, entity.primary, entity.key_arguments(root))

    def _shape(self) -> Shape:
        root = self._kind.root.entity.symbolic(self._kind.root.field)
        return in_turn(self._root._shape(), self._load(root)._shape())


class Load(Plan[T | None], Generic[T]):
    """An aggregate, or None if its root does not exist."""

    def __init__(self, kind: AggregateMap, key: KeyMap, arguments: tuple[Any, ...]) -> None:
        self._kind = kind
        self._key = key
        self._arguments = arguments
        self._descending = False
        self._size: int | None = None
        self._is_consistent = False
        self._entity = kind.root.entity
        if key.has_several_attributes:
            raise DeclarationError(
                f"{kind.name}: {key.name} has a key of several attributes, in which nothing says "
                "what belongs to a root; read the root there, and its aggregate by its primary "
                f"key: {kind.name}.of({key.name}(…).first())"
            )
        self._extends = self._check_members()
        _check_nested(kind, key)

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(self._kind.entities())

    def _check_members(self) -> bool:
        """Return whether all members are below the root; raise if one is not in its partition."""
        below = len(self._arguments) == len(self._key.parameters)
        check_projected(self._entity, self._key)
        if self._entity in self._kind.entities()[1:] and not below:
            raise DeclarationError(
                f"{self._kind.name}: {self._entity.name} is its root and a member, so the root "
                f"must be known: use every part of {self._key.name}"
            )
        for entity in self._kind.entities()[1:]:
            theirs = entity.key_in_index_of(self._key)
            if theirs is None or not templates_can_collide(self._key.partition, theirs.partition):
                raise DeclarationError(
                    f"{self._kind.name}: {entity.name} is not in the partitions of "
                    f"{self._key.name}, {self._key.partition.show()}; one query cannot read both"
                )
            check_projected(entity, theirs)
            if self._key.sort is None or theirs.sort is None:
                below = False
            elif extends(theirs.sort, self._key.sort):
                if len(self._arguments) < len(self._key.parameters):
                    raise DeclarationError(
                        f"{self._kind.name}: {theirs.name} is below one {self._entity.name}; say "
                        f"which, with every part of {self._key.name}"
                    )
            else:
                if below and len(self._key.parameters) > self._key.partition_arity:
                    raise DeclarationError(
                        f"{self._kind.name}: {theirs.name} is beside {self._key.name}, not below "
                        f"it: {theirs.sort.show()} does not extend {self._key.sort.show()}, so "
                        "nothing says whose it is"
                    )
                below = False
        return below

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
        return self._replace(_size=checked_size("limit", children))

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

    def _steps(self, context: Context) -> Steps[T | None]:
        self._check_limit()
        members: dict[str, Any] = {"TableName": context.name_of(self._entity.table)}
        if self._key.index is not None:
            members["IndexName"] = self._key.index.name
        if self._descending:
            members["ScanIndexForward"] = False
        if self._is_consistent:
            members["ConsistentRead"] = True
        if self._size is not None:
            members["Limit"] = self._size + 1
        request = QueryRequest("Query", members, Selection(self._condition()))
        rows: list[MemberRow] = []
        for _ in range(MAX_REQUESTS):
            page = decode_page((yield request))
            rows += self._own(page.items)
            enough = self._size is not None and len(rows) > self._size
            if page.last_evaluated_key is None or enough:
                break
            request = request.next_page(page.last_evaluated_key)
        else:
            raise InvalidValue(
                f"{self._kind.name}: its rows are more than {MAX_REQUESTS} MB; load it with "
                "limit(), or query its members page by page"
            )
        if self._size is not None:
            rows = rows[: self._size + 1]
        return self._assembled(rows)

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

    def _assembled(self, rows: list[MemberRow]) -> T | None:
        """Return the aggregate that the rows make."""
        found: T | None = _assemble(self._kind, self._key, rows, self._root_sort_key())
        return found

    def _shape(self) -> Shape:
        self._check_limit()
        size = sum(typical_size(entity) for entity in self._kind.entities())
        children = self._size if isinstance(self._size, int) else TYPICAL_PAGE
        return Shape(
            operation="Query",
            table=self._entity.table.name,
            entity=", ".join(entity.name for entity in self._kind.entities()),
            index=None if self._key.index is None else self._key.index.name,
            condition=query_condition(self._condition()),
            order="descending" if self._descending else "ascending",
            page="all pages" if self._size is None else f"1 + {shown(self._size)}",
            read_units=read_units(
                size / len(self._kind.entities()) * (1 + children), consistent=self._is_consistent
            ),
            read_range=page_read(
                None if self._size is None else 1 + children,
                consistent=self._is_consistent,
                requests=MAX_REQUESTS if self._size is None else 1,
            ),
        )


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


def _assemble(
    kind: AggregateMap, key: KeyMap, rows: list[MemberRow], root_sort_key: str | None
) -> Any:
    """Make an aggregate of its rows; return None if its root is not among them."""
    values: dict[str, Any] = {}
    for row in rows:
        if row.entity is kind.root.entity and root_sort_key in (None, row.sort_key):
            values[kind.root.field] = row.entity.decode(row.item)
            break
    else:
        return None
    # An entity may be the root and a member: the root is not among its own members.
    below = [row for row in rows if root_sort_key is None or row.sort_key != root_sort_key]
    for member in kind.members:
        if isinstance(member.kind, AggregateMap):
            results = _assemble_members(member.kind, key, below)
        else:
            results = [row.entity.decode(row.item) for row in below if row.entity is member.kind]
        if member.many:
            values[member.field] = results
        elif results or member.optional:
            values[member.field] = results[0] if results else None
        else:
            return None
    return kind.build(values)


def _assemble_members(kind: AggregateMap, key: KeyMap, rows: list[MemberRow]) -> list[Any]:
    """Make the nested aggregates; each row belongs to the root whose key its own extends."""
    root = kind.root.entity.key_in_index_of(key)
    assert root is not None
    assert root.sort is not None
    parser = Parser(root.sort)
    entities = set(kind.entities())
    groups: dict[str, list[MemberRow]] = {}
    for row in rows:
        if row.entity in entities:
            groups.setdefault(parser.beginning(row.sort_key), []).append(row)
    made = (_assemble(kind, key, group, sort_key) for sort_key, group in groups.items())
    return [aggregate for aggregate in made if aggregate is not None]
