"""Ranges: a partition, and the comparison of its sort key; unions of ranges.

    Order.timeline("C1")                         everything in the partition
    Order.timeline("C1").eq(day)                 where the next part has this value
    Order.timeline("C1").gte(monday)             where it is this value or above

A union reads several entities with one query, in the order of their sort keys:

    Item.by_date("C1").union(Invoice.by_date("C1")).gte(monday)        Query[Item | Invoice]

    PK=CUST#C1   SK=DATE#2026-03-01#INVOICE#7
                 SK=DATE#2026-03-02#ITEM#1

Its ranges are of one partition of one table or index. A comparison applies to a part that is at the
same place, behind the same text, in the sort keys of all; otherwise it is a DeclarationError.
Without a comparison the query reads the span of all sort keys. Items of entities that are not in
the union are left out.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, TypeVarTuple, overload

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition, after
from tablewright.mapping.key_parts import KeyPart
from tablewright.plan.condition import Condition
from tablewright.plan.explanation import item_key
from tablewright.plan.expressions import Path
from tablewright.plan.reads.layout import Span, hull
from tablewright.plan.reads.projection import check_kind
from tablewright.plan.reads.query import Query
from tablewright.symbol import TRACES, Symbol
from tablewright.values import Item

R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
Text = TypeVar("Text", bound=str)
Rest = TypeVarTuple("Rest")
#: The parts after the one that a method binds.
Behind = TypeVarTuple("Behind")
OtherBehind = TypeVarTuple("OtherBehind")

#: The state of a range without comparisons and options.
_PLAIN = {"_entity", "_key", "_arguments", "_pattern"}


class Range(Query[R], Generic[R, *Rest]):
    """A partition, and the parts of its sort key that are not bound yet."""

    @overload
    def eq(self: Range[R, A, *Behind], a: A, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, *Behind], a: A, b: B, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, C, *Behind], a: A, b: B, c: C, /) -> Range[R, *Behind]: ...
    @overload
    def eq(self: Range[R, A, B, C, D, *Behind], a: A, b: B, c: C, d: D, /) -> Range[R, *Behind]: ...
    @overload
    def eq(
        self: Range[R, A, B, C, D, F, *Behind], a: A, b: B, c: C, d: D, f: F, /
    ) -> Range[R, *Behind]: ...
    def eq(self, *values: Any) -> Any:
        """Where the next parts of the sort key have these values."""
        arguments = self._arguments + values
        if TRACES:
            self._key.check_names(arguments, len(self._arguments))
        if len(arguments) > len(self._key.parameters):
            self._key.check_arguments(arguments, complete=False)
        return self._replace(_arguments=self._entity.enter_arguments(self._key, arguments))

    @overload
    def begins_with(self: Range[R, Text, *Behind], start: Text) -> Query[R]: ...
    @overload
    def begins_with(self: Range[R, Text | None, *Behind], start: Text) -> Query[R]: ...
    def begins_with(self: Any, start: Any) -> Any:
        """Where the next part begins with this text."""
        found = self._key.next_part(len(self._arguments))
        if found and not found.part.is_free_text and found.template.natural is None:
            raise DeclarationError(
                f"{self._key.name}: {found.part.label} is not a text; compare whole values"
            )
        return self._compared("begins_with", start)

    def gte(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to this value and above."""
        return self._compared(">=", value)

    def gt(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to values above this one."""
        return self._compared(">", value)

    def lte(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to this value and below."""
        return self._compared("<=", value)

    def lt(self: Range[R, A, *Behind], value: A) -> Query[R]:
        """Limit the next part to values below this one."""
        return self._compared("<", value)

    def between(self: Range[R, A, *Behind], low: A, high: A) -> Query[R]:
        """Limit the next part to values from `low` to `high`, both included."""
        return self._compared("between", low, high)

    @overload
    def union(  # type: ignore[overload-overlap]  # the first is the more exact one
        self: Range[R, A, *Behind], other: Range[B, A, *OtherBehind], /
    ) -> Range[R | B, A]: ...
    @overload
    def union(self: Range[R, *Behind], other: Range[B, *OtherBehind], /) -> Range[R | B]: ...
    def union(self, other: Any) -> Any:
        """Query items of another entity as well, in one request, in the order of the sort keys.

        Both ranges are of one partition. Comparisons and options are called on the union.
        """
        from tablewright.plan.reads.range import union_of  # which is made of ranges

        return union_of(self, other)

    def _compared(self, comparison: Comparison, *operands: Any, is_named: bool = False) -> Query[R]:
        """Return the query with a comparison; `is_named`: the caller names the part."""
        if TRACES and not is_named:
            for operand in operands:
                self._key.check_names((*self._arguments, operand), len(self._arguments))
        key = self._key
        if self._comparison is not None:
            raise DeclarationError(
                f"{key.name}: DynamoDB compares a sort key once; for two bounds use "
                "between(low, high)"
            )
        found = key.next_part(len(self._arguments))
        if found is None:
            raise DeclarationError(
                f"{key.name}: every part is bound; there is nothing left to compare"
            )
        part = found.part
        if comparison != "begins_with":
            if not part.is_ordered:
                raise DeclarationError(f"{key.name}: {_unordered(part)}")
            if found.template.natural is None and not found.is_in_order:
                raise DeclarationError(
                    f"{key.name}: {part.label} is text followed by other parts, so keys do not "
                    "sort like its values; make it the last part, give its texts one width with "
                    "fixed_width(…), or use begins_with()"
                )
        if comparison == "between" and not any(isinstance(v, Symbol) for v in operands):
            low, high = operands
            is_text = found.template.is_text
            first, last = map(part.text, operands) if is_text else operands
            if first < last if is_text and part.is_descending else first > last:
                raise InvalidValue(
                    f"{key.name}: between(): the lower bound {low!r} exceeds the upper bound "
                    f"{high!r}"
                )
        return self._replace(_comparison=comparison, _operands=operands)


def _unordered(part: KeyPart) -> str:
    """Return why no range of a part can be queried."""
    if part.is_plain and part.notation.kind is int:
        return (
            f"{part.label} is an int without pad=…, so 10 sorts before 9, and no range of it can "
            f"be queried; write {part.attribute}: Attr[int] = attr(pad=…), or use eq(…)"
        )
    return (
        f"the texts of {part.label} do not sort as its values do, so no range of it can be "
        "queried; use eq(…), or declare ordered = True in its codec if they do"
    )


class UnionRange(Range[R, *Rest]):
    """Several entities in one range."""

    def __init__(self, ranges: tuple[Range[Any, *tuple[Any, ...]], ...]) -> None:
        first = ranges[0]
        self._entity, self._key, self._arguments = first._entity, first._key, first._arguments
        self._ranges = ranges
        _check_place(ranges)
        self._key_condition()  # raises if the ranges are not of one partition

    def eq(self, *values: Any) -> Any:
        return self._each(lambda each: each.eq(*values))

    def _compared(self, comparison: Comparison, *operands: Any, is_named: bool = False) -> Query[R]:
        compared: Query[R] = self._each(
            lambda each: each._compared(comparison, *operands, is_named=is_named)
        )
        return compared

    def _each(self, apply: Any) -> Any:
        """Return the union of the ranges after a further step."""
        ranges = tuple(apply(each) for each in self._ranges)
        first = ranges[0]
        changed = self._replace(
            _ranges=ranges,
            _arguments=first._arguments,
            _comparison=first._comparison,
            _operands=first._operands,
        )
        changed._key_condition()
        return changed

    def filter(self, condition: Condition[R]) -> Any:
        raise DeclarationError(
            f"{self._names}: a union has no filter(), because an attribute is that of one entity; "
            "query each entity by itself"
        )

    def select(self, *columns: Any) -> Any:
        raise DeclarationError(f"{self._names}: a union reads whole items; leave select() out")

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(each._entity for each in self._ranges)

    @property
    def _names(self) -> str:
        return f"union({', '.join(each._key.name for each in self._ranges)})"

    # -- the request -------------------------------------------------------------------------

    def _conditions(self) -> list[KeyCondition]:
        """Return the condition on the key of each entity by itself."""
        return [
            each._key.condition(
                each._arguments, each._comparison, each._operands, is_exclusive=False
            )
            for each in self._ranges
        ]

    def _key_condition(self) -> KeyCondition:
        first, *others = found = self._conditions()
        names = self._key.partition_attributes
        partition = {name: first.equal[name] for name in names}
        for other in others:
            theirs = {name: other.equal[name] for name in names}
            if partition != theirs:
                raise DeclarationError(
                    f"{self._names}: its ranges are of two partitions, {item_key(partition)} "
                    f"and {item_key(theirs)}; one query reads one"
                )
        if all(other == first for other in others):
            return first
        if self._comparison is not None:
            keys = " and ".join(each._key.show() for each in self._ranges)
            raise DeclarationError(
                f"{self._names}: one comparison cannot select from {keys}: the compared part must "
                "be at the same place, with the same text before and after it"
            )
        return KeyCondition(partition, _span_of_all(self._key.sort_attributes, found))

    @property
    def _types_beside(self) -> frozenset[str]:
        table = self._entity.table
        first, *others = self._conditions()
        if any(other != first for other in others):
            return frozenset(table.type_names)  # more is read than any of the entities needs
        keys = [each._key for each in self._ranges]
        return table.types_beside(keys[0], len(self._arguments), *keys[1:])

    @property
    def _type_names(self) -> tuple[str, ...]:
        return tuple(name for entity in self._entities() for name in entity.type_names)

    def _check_projection(self) -> None:
        for each in self._ranges:
            check_kind(each._entity, each._key, self._types_read)  # more is read than each needs
            each._replace(_reads_keys=self._reads_keys)._check_projection()

    def _needed_paths(self) -> set[Path]:
        return set[Path]().union(*(each._needed_paths() for each in self._ranges))

    # -- the results -------------------------------------------------------------------------

    def _decode(self, answer: bytes) -> None:
        return None  # each item is decoded by its own entity

    def _matching(self, items: list[Item], excluding: SortCondition | None) -> list[Item]:
        found = []
        for item in items:
            of = self._range_of(item)
            if of is not None and of._matching([item], excluding):
                found.append(item)
        return found

    def _range_of(self, item: Item) -> Range[Any, *tuple[Any, ...]] | None:
        entity = self._entity.table.entity_of(item)
        return next((each for each in self._ranges if each._entity.includes(entity)), None)

    def _read(self, item: Item) -> Any:
        return (self._range_of(item) or self._ranges[0])._read(item)

    @property
    def _has_places(self) -> bool:
        return any(each._has_places for each in self._ranges)


def union_of(*ranges: Any) -> UnionRange[Any, *tuple[Any, ...]]:
    """Return the union of ranges; raise DeclarationError if one query cannot read them."""
    members: list[Any] = []
    for each in ranges:
        if isinstance(each, UnionRange) and not vars(each).keys() - _PLAIN - {"_ranges"}:
            members += each._ranges
        elif isinstance(each, Range) and not vars(each).keys() - _PLAIN:
            members.append(each)
        else:
            raise DeclarationError(
                "union() joins ranges, such as Order.timeline(…); comparisons and options are "
                f"called on the union, not on {each!r}"
            )
    return UnionRange(tuple(members))


def _check_place(ranges: tuple[Range[Any, *tuple[Any, ...]], ...]) -> None:
    """Raise DeclarationError unless the ranges are of different entities at one place."""
    first = ranges[0]
    for position, each in enumerate(ranges):
        if each._entity.table is not first._entity.table or each._key.index != first._key.index:
            raise DeclarationError(
                f"union(): {first._key.name} and {each._key.name} are not in the same table or "
                "index; one query reads one"
            )
        if any(other._entity is each._entity for other in ranges[:position]):
            raise DeclarationError(f"union(): {each._entity.name} is in it twice; leave one out")


def _span_of_all(names: tuple[str, ...], conditions: list[KeyCondition]) -> SortCondition | None:
    """Return the condition for the span in which the sort keys of all lie; None for everything."""
    if not names:
        return None
    spans = []
    for each in conditions:
        value = each.equal.get(names[0])
        if value is not None and "S" in value:
            spans.append(Span(value["S"], value["S"]))
        elif each.sort is not None and each.sort.comparison == "begins_with":
            start = each.sort.values[0]["S"]
            spans.append(Span(start, after(start)))
        else:
            return None
    whole = hull(spans)
    if whole in spans:  # the keys of the others begin like those of one
        return conditions[spans.index(whole)].sort
    return SortCondition(names[0], "between", ({"S": whole.low}, {"S": whole.high}))
