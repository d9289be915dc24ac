"""Unions: several entities in one range, from one query, in the order of their sort keys.

    Item.by_date("C1").union(Invoice.by_date("C1")).gte(monday)        Query[Item | Invoice]

    PK=CUST#C1   SK=DATE#2026-03-01#INVOICE#7
                 SK=DATE#2026-03-02#ITEM#1

The ranges are of one partition of one table or index. A comparison applies to a part that stands at
the same place, behind the same text, in the sort keys of all; otherwise it is a DeclarationError.
Without a comparison the query reads the span in which the sort keys of all lie.
Items of entities that are not in the union are left out.
"""

from __future__ import annotations

from typing import Any, TypeVar, TypeVarTuple

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition, after
from tablewright.plan.condition import Condition
from tablewright.plan.explanation import item_key
from tablewright.plan.reads.projection import check_projected
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.range import Range
from tablewright.plan.reads.span import Span, hull
from tablewright.values import Item

R = TypeVar("R")
Rest = TypeVarTuple("Rest")


#: The state of a range without comparisons and options.
_PLAIN = {"_entity", "_key", "_arguments", "_pattern"}


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
            check_projected(each._entity, each._key)

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
    def _has_alternatives(self) -> bool:
        return any(each._has_alternatives for each in self._ranges)


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
