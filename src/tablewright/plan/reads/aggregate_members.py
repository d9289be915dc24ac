"""Members: the compiled form of an aggregate, and how its rows become one value.

    OrderWithItems     order: Order = root()                     Member("order", Order, "one")
                       items: list[OrderLine] = children()       Member("items", OrderLine, "list")
                       parcels: Page[Parcel] = children()        Member("parcels", Parcel, "page")

A member is an entity, a projection of one, or an aggregate of its own: the rows of the latter
belong to the root whose key theirs extend. This module must not know requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import content_of
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Parser
from tablewright.mapping.variants import VariantsMap
from tablewright.plan.expressions import Path
from tablewright.plan.reads import projection
from tablewright.values import Item

#: How often a member exists: once, or any number of times, all of them or a page of them.
MemberForm: TypeAlias = Literal["one", "list", "page"]


class MemberRow(Struct, frozen=True):
    """A row: its entity, and its sort key as text."""

    entity: EntityMap
    sort_key: str
    item: Item


class Member(Struct, frozen=True):
    """One field of an aggregate."""

    field: str
    kind: EntityMap | projection.ProjectionMap | AggregateMap
    form: MemberForm = "one"
    optional: bool = False

    @property
    def entity(self) -> EntityMap:
        """The entity of a row that starts this member."""
        if isinstance(self.kind, AggregateMap):
            return self.kind.root.entity
        return self.kind.entity if isinstance(self.kind, projection.ProjectionMap) else self.kind

    def check_projected(self, key: KeyMap) -> None:
        """Raise DeclarationError unless the index of a key holds what the member needs."""
        columns = self.kind.columns if isinstance(self.kind, projection.ProjectionMap) else ()
        projection.check_projected(self.entity, key, [column.attribute for column in columns])

    def paths(self, key: KeyMap) -> set[Path]:
        """Return the paths of a row that the member needs."""
        if isinstance(self.kind, projection.ProjectionMap):
            return projection.paths_of_columns(self.entity, key, self.kind.columns)
        variants = self.entity.variants if isinstance(self.entity, VariantsMap) else ()
        return projection.paths_of_whole((self.entity, *variants), key)

    def read(self, item: Item) -> Any:
        """Return the value that a row makes; raise UnreadableItem."""
        if isinstance(self.kind, projection.ProjectionMap):
            return self.kind.build(projection.read_columns(self.entity, self.kind.columns, item))
        return self.entity.decode(item)


class AggregateMap(Struct, frozen=True, eq=False):
    """A compiled aggregate: its root, and what belongs to it. Each is equal to itself only."""

    name: str
    build: Callable[[dict[str, Any]], Any]
    root: Member
    members: tuple[Member, ...]

    def leaves(self) -> list[Member]:
        """Return every member that is one row, also of nested aggregates; the root first."""
        found = [self.root]
        for member in self.members:
            found += member.kind.leaves() if isinstance(member.kind, AggregateMap) else [member]
        return found

    def entities(self) -> list[EntityMap]:
        """Return every entity of the aggregate, its root first."""
        return [member.entity for member in self.leaves()]

    @property
    def paged(self) -> Member | None:
        """The member that is read in pages."""
        return next((member for member in self.members if member.form == "page"), None)

    def paths(self, key: KeyMap) -> Sequence[Path]:
        """Return the paths that a query of a key asks for; none for whole items."""
        leaves = self.leaves()
        if not any(isinstance(member.kind, projection.ProjectionMap) for member in leaves):
            return ()
        keys = [(member, member.entity.key_in_index_of(key)) for member in leaves]
        return projection.outermost(
            {path for member, own in keys for path in member.paths(own or key)}
        )


def assemble(
    kind: AggregateMap,
    key: KeyMap,
    rows: list[MemberRow],
    root_sort_key: str | None,
    given: Mapping[str, Any],
) -> Any:
    """Make an aggregate of its rows; return None if its root is not among them.

    `given` are the values of members that were read otherwise. Raise InvalidValue if several rows
    can be the root, for nothing says whose the others are.
    """
    values: dict[str, Any] = dict(given)
    roots = [
        row
        for row in rows
        if row.entity is kind.root.entity and root_sort_key in (None, row.sort_key)
    ]
    if not roots:
        return None
    if len(roots) > 1:
        raise _several_roots(kind, key, roots)
    values[kind.root.field] = kind.root.read(roots[0].item)
    # An entity may be the root and a member: the root is not among its own members.
    below = [row for row in rows if root_sort_key is None or row.sort_key != root_sort_key]
    for member in kind.members:
        if member.field in given:
            continue
        if isinstance(member.kind, AggregateMap):
            results = _assemble_members(member.kind, key, below)
        else:
            results = [member.read(row.item) for row in below if row.entity is member.entity]
        if member.form == "list":
            values[member.field] = results
        elif results or member.optional:
            values[member.field] = results[0] if results else None
        else:
            return None
    return kind.build(values)


def _several_roots(kind: AggregateMap, key: KeyMap, roots: list[MemberRow]) -> InvalidValue:
    entity = kind.root.entity
    keys = [
        ", ".join(f"{name}={content_of(row.item, name)}" for name in entity.table.key(row.item))
        for row in roots[:2]
    ]
    return InvalidValue(
        f"{kind.name}: it has one root, but {key.name} finds {len(roots)} of {entity.name}: "
        f"{'; '.join(keys)}, …; give every part of a key that only one of them has, such as "
        f"{entity.primary.name}, or find the root first: {kind.name}.of(….first())"
    )


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
    made = (assemble(kind, key, group, sort_key, {}) for sort_key, group in groups.items())
    return [aggregate for aggregate in made if aggregate is not None]
