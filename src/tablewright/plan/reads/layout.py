"""Layouts: where the rows of an aggregate, and those of other entities, lie in its partition.

    SK   ORDER#O1             the root; the members extend its key, so places are texts behind it:
         ORDER#O1 x           rows between the root and what is below it: of a root `O1 x`
         ORDER#O1#AUDIT#1     "#AUDIT#" to "#AUDIT$": of another entity, inside of the whole
         ORDER#O1#ITEM#1      "#ITEM#" to "#ITEM$": a member, the end of the whole
         ORDER#O1#PAYMENT     "#PAYMENT": of another entity, outside of the whole

    SK   ISSUE#1              a root beside its members; places are whole texts
         REPO#tw

Invariants: a row of a member or of another entity is inside of the span of its place. A layout
depends on the declared keys only, never on arguments or stored items. This module must not know
requests.

The literal with which a sort key begins bounds its rows. The span of an aggregate reaches from the
lowest to the highest row of its members:

    SK   ISSUE#00001 … ISSUE#00009    its children
         PR#1 …                       inside the span, but of another entity
         REPO#tw                      its root
         STAR#ann …                   outside of the span

Where rows of other entities lie outside of the span, the query is bounded: here `SK <= "REPO#tw"`.
Rows inside of the span that belong to other entities are read and left out, so how many rows a page
needs is not bounded: a limit is then an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.key_condition import HIGHEST, SortCondition, after
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.language import Chars, literal, sequence
from tablewright.mapping.template import (
    Template,
    can_begin_with,
    extends,
    templates_can_collide,
)
from tablewright.plan.reads.aggregate_members import AggregateMap, Member


class Span(Struct, frozen=True):
    """All texts from `low` to `high`, both included."""

    low: str
    high: str

    def overlaps(self, other: Span) -> bool:
        return self.low <= other.high and other.low <= self.high


EVERYTHING = Span("", HIGHEST)


def span_of(template: Template | None) -> Span:
    """Return the span of the texts of a sort key, by the literal with which it begins."""
    if template is None or template.tag != "S" or template.natural is not None:
        return EVERYTHING
    first = template.pieces[0]
    if not isinstance(first, str):
        return EVERYTHING
    return Span(first, first) if len(template.pieces) == 1 else Span(first, after(first))


def hull(spans: Iterable[Span]) -> Span:
    """Return the smallest span that contains all of these."""
    found = list(spans)
    return Span(min(each.low for each in found), max(each.high for each in found))


def literal_behind(longer: Template, shorter: Template) -> str:
    """Return the literal that follows another sort key in a longer one.

    It is `#ITEM#` for `ORDER#{order_id}#ITEM#{item_id}` and `ORDER#{order_id}`.
    """
    last = len(shorter.pieces) - 1
    ours, theirs = shorter.pieces[last], longer.pieces[last]
    text = theirs[len(ours) :] if isinstance(ours, str) and isinstance(theirs, str) else ""
    behind = takewhile(lambda piece: isinstance(piece, str), longer.pieces[last + 1 :])
    return "".join([text, *map(str, behind)])


def bound(
    key: KeyMap,
    arguments: tuple[Any, ...],
    whole: Span,
    others: list[Span],
    *,
    root_is_last: bool,
) -> SortCondition | None:
    """Return the condition that keeps a query inside of a span; None if nothing is outside.

    `key` and `arguments` are those of the root. Where they say exactly which it is, and it is at an
    end of the span, its key is the bound; `root_is_last`: no member's key extends the root's.
    """
    below = any(other.low < whole.low for other in others)
    above = any(other.high > whole.high for other in others)
    if not below and not above:
        return None
    low, high = whole.low, whole.high
    root = span_of(key.sort)
    (sort,) = key.sort_attributes
    if len(arguments) == len(key.parameters):
        text = key.encode(arguments)[sort]["S"]
        low = text if root.low == whole.low else low
        high = text if root.high == whole.high and root_is_last else high
    if below and above:
        return SortCondition(sort, "between", ({"S": low}, {"S": high}))
    if below:
        return SortCondition(sort, ">=", ({"S": low},))
    return SortCondition(sort, "<=", ({"S": high},))


class RowPlace(Struct, frozen=True):
    """Where the rows of an entity lie; `name` is that of the entity or of a unique value."""

    name: str
    sort: Template | None
    span: Span

    @property
    def shown(self) -> str:
        return "any key" if self.sort is None else self.sort.show()


class MemberPlace(RowPlace, frozen=True):
    """Where the rows of a member lie; `key` is that of its entity in the index."""

    member: Member
    key: KeyMap


class Layout(Struct, frozen=True):
    """Where the rows of an aggregate lie."""

    #: Whether the keys of all members extend that of the root.
    is_below: bool
    root: RowPlace
    #: Several for a member whose entity has alternative places in the index.
    members: tuple[MemberPlace, ...]
    #: Those of other entities in the same partition; below the root, if the members are.
    others: tuple[RowPlace, ...]
    #: The span of all rows of the aggregate.
    whole: Span
    #: Whether rows of other entities lie above it.
    has_rows_above: bool
    #: Whether other rows can lie between a root and the rows below it.
    has_rows_between: bool

    @property
    def other_inside(self) -> RowPlace | None:
        """Return rows of another entity that can lie between those of the aggregate."""
        return next((other for other in self.others if self.whole.overlaps(other.span)), None)


@lru_cache(maxsize=1024)  # 100 µs, more than a load of six rows
def layout_of(kind: AggregateMap, key: KeyMap, given: int, entities: int) -> Layout:
    """Return the layout of an aggregate by a key of its root, of which `given` parts are bound.

    Raise DeclarationError if one query cannot read it. `entities` is how many the table has: the
    layout changes with each that is added.
    """
    del entities
    root, is_below = key.sort, _check_members(kind, key, given)
    beside = kind.root.entity.table.sort_keys_beside(key, kind.entities()[1:])
    spans: Callable[[Template | None], Span]
    if is_below and root is not None:
        spans, root_span = partial(_span_below, root), Span("", "")
        others = [(name, sort) for name, sort in beside if _can_be_below(sort, root)]
    else:
        spans, root_span, others = span_of, span_of(root), beside
    members = tuple(
        MemberPlace(member.entity.name, own.sort, spans(own.sort), member, own)
        for member in kind.leaves()[1:]
        for own in _keys_beside(member, key)
    )
    whole = hull([root_span, *(place.span for place in members)])
    places = tuple(RowPlace(name, sort, spans(sort)) for name, sort in others)
    return Layout(
        is_below=is_below,
        root=RowPlace(kind.root.entity.name, root, root_span),
        members=members,
        others=places,
        whole=whole,
        has_rows_above=any(place.span.high > whole.high for place in places),
        has_rows_between=is_below
        and root is not None
        and root.stored_tag == "S"
        # Several rows of an index can have the key of the root.
        and (key.index is not None or _has_rows_between(root, [sort for _, sort in beside])),
    )


def _keys_beside(member: Member, key: KeyMap) -> list[KeyMap]:
    """Return the keys of a member in the partitions of another key, without that key itself."""
    entity = member.entity
    keys = [entity.primary] if key.index is None else entity.indexes
    return [
        own
        for own in keys
        if own.index == key.index
        and own is not key
        and templates_can_collide(key.partition, own.partition)
    ]


def _span_below(root: Template, sort: Template | None) -> Span:
    """Return where rows lie, as the texts behind the key of the root."""
    if sort is None or not extends(sort, root):
        return EVERYTHING
    text = literal_behind(sort, root)
    return Span(text, after(text)) if sort.parts[len(root.parts) :] else Span(text, text)


def _can_be_below(sort: Template | None, root: Template) -> bool:
    """Return whether a sort key can be that of a root, or continue it."""
    below = sequence(root.language(), literal(root.delimiter.text))
    return sort is None or templates_can_collide(sort, root) or can_begin_with(sort, below)


def _has_rows_between(root: Template, beside: Sequence[Template | None]) -> bool:
    """Return whether rows can lie between a root and the rows below it: `O1 x`, before `O1#…`."""
    last, delimiter = root.pieces[-1], root.delimiter.text
    is_free_text = isinstance(last, KeyPart) and not last.sorts_before(delimiter)
    if is_free_text or len(delimiter) > 1:
        return True
    lower = Chars(frozenset(map(chr, range(ord(delimiter)))))
    between = sequence(root.language(), lower)
    return any(sort is None or can_begin_with(sort, between) for sort in beside)


def _check_members(kind: AggregateMap, key: KeyMap, given: int) -> bool:
    """Return whether all members are below the root; raise if one is not in its partition."""
    root = kind.root.entity
    below = given == len(key.parameters)
    if not below and given > key.partition_arity:
        labels = ", ".join(part.label for part in key.parameters[given:])
        raise DeclarationError(
            f"{kind.name}.of() takes the partition of its root or its whole key; {key.name} lacks "
            f"{labels}: add them, or find the root first: {kind.name}.of(….first())"
        )
    kind.root.check_projected(key)
    if root in kind.entities()[1:] and not below:
        raise DeclarationError(
            f"{kind.name}: {root.name} is its root and a member, so the root "
            f"must be known: use every part of {key.name}"
        )
    for member in kind.leaves()[1:]:
        entity = member.entity
        keys = _keys_beside(member, key)
        if not keys and entity is root:
            raise DeclarationError(
                f"{kind.name}: {root.name} is its root and a member, but {key.show()} is its only "
                "key there, so nothing says which row is the root; give one of the two another "
                "place, or query them themselves"
            )
        if not keys:
            raise DeclarationError(
                f"{kind.name}: {entity.name} is not in the partitions of "
                f"{key.name}, {key.partition.show()}; one query cannot read both"
            )
        for theirs in keys:
            member.check_projected(theirs)
            below = _check_member(kind, key, theirs, given) and below
    _check_nested(kind, key)
    return below


def _check_member(kind: AggregateMap, key: KeyMap, theirs: KeyMap, given: int) -> bool:
    """Return whether a member is below the root; raise if nothing says whose it is."""
    root = kind.root.entity
    if key.sort is None or theirs.sort is None:
        return False
    if extends(theirs.sort, key.sort):
        if given < len(key.parameters):
            raise DeclarationError(
                f"{kind.name}: {theirs.name} is below one {root.name}; say "
                f"which, with every part of {key.name}"
            )
        return True
    if given == len(key.parameters) > key.partition_arity:
        within = f"{key.name}.within(…)" if key.index is None else f"{key.name}(…)"
        raise DeclarationError(
            f"{kind.name}: {theirs.name} is beside {key.name}, not below "
            f"it: {theirs.sort.show()} does not extend {key.sort.show()}, so "
            f"nothing says whose it is; if a partition has one {root.name} only, use {within}"
        )
    return False


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
