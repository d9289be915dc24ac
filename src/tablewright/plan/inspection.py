"""Inspection: the name, the entities and the writes of a plan, for the packages above.

These are functions, so that the methods of a plan are only those that users call. What a plan asks
of DynamoDB is its shape: see `tablewright.explain`. These functions say how a plan was declared,
which its shape does not:

    plans_in       the plans that a plan is made of
    ranges_in      the parts of keys by which its queries and aggregates select items
    follow_up_of   what is made from the item that a read finds
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import Comparison
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.plan.condition import Condition
from tablewright.plan.facts import Paging
from tablewright.plan.plan import Plan
from tablewright.plan.reads.aggregate import Load
from tablewright.plan.reads.aggregate_members import AggregateMap
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.page_query import PageQuery
from tablewright.plan.reads.query import Count, First, Query
from tablewright.plan.reads.scan import Scan
from tablewright.plan.reads.single import Then
from tablewright.plan.shape import Shape
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.returning import ReturningOld
from tablewright.plan.writes.several import Transaction
from tablewright.plan.writes.write import Write
from tablewright.symbol import Argument, AttributeOf, contains_symbol, expressions_in
from tablewright.values import Item

#: What a plan returns of the items that it selects.
Result: TypeAlias = Literal["rows", "first", "count"]


def label_of(plan: Plan[Any]) -> str:
    """Return the label of the pattern that made a plan, with its module; "" if none did."""
    return plan._pattern


def name_of(plan: Plan[Any]) -> str:
    """Return the name of the pattern that made a plan, or of the type of plan."""
    return plan._name


def entity_of(plan: Get[Any] | Write[Any]) -> EntityMap:
    """Return the entity that a plan gets or writes."""
    return plan._entity


def entities_of(plan: Plan[Any]) -> tuple[EntityMap, ...]:
    """Return every entity that a plan reads or writes."""
    return plan._entities()


def writes_of(plan: Transaction[Any]) -> tuple[Write[Any], ...]:
    """Return the writes of a transaction."""
    return plan._writes


def has_page_size(plan: Query[Any]) -> bool:
    """Return whether a query says how many items a page has."""
    return plan._size is not None


def conditions_of(plan: Write[Any]) -> tuple[Condition[Any], ...]:
    """Return the conditions that the caller sets for a write."""
    return plan._conditions


def create_only(plan: Put[Any]) -> Create[Any]:
    """Return the write of the same entity that fails if its item exists."""
    return Create(plan._instance)._replace(_pattern=plan._pattern, _stamps=plan._stamps)


def plans_in(plan: Plan[Any]) -> Iterator[Plan[Any]]:
    """Yield a plan, and every plan that it is made of; of a ReturningOld only its write."""
    if not isinstance(plan, ReturningOld):
        yield plan
    for part in _parts(plan):
        yield from plans_in(part)


def _parts(plan: Plan[Any]) -> Iterator[Plan[Any]]:
    for value in (*vars(plan).values(), plan._following() if isinstance(plan, Then) else None):
        for part in value if isinstance(value, tuple | list) else (value,):
            if isinstance(part, Plan):
                yield part


# -- ranges --------------------------------------------------------------------------------------


class SelectedRange(Struct, frozen=True, eq=False):
    """The items that a query, a scan or an aggregate selects, by the parts of a key.

    The shape has the same range as a condition on key attributes, in which parts are one text.
    """

    entity: EntityMap
    key: KeyMap
    #: The values of the first parts of the key; none of a scan.
    arguments: tuple[Any, ...]
    #: How the part behind them is compared.
    comparison: Comparison | None
    #: The aggregate of which the items are rows.
    aggregate: AggregateMap | None
    result: Result
    shape: Shape

    @property
    def bound(self) -> frozenset[str]:
        """The attributes that are equal in all items."""
        return frozenset(part.attribute for part in self.key.parameters[: len(self.arguments)])

    @property
    def free(self) -> tuple[KeyPart, ...]:
        """The parts of the key behind those with a value: the items are sorted by them."""
        return self.key.parameters[len(self.arguments) :]

    @property
    def is_anywhere(self) -> bool:
        """Whether any item of the entity can be in it, depending on the arguments of a pattern."""
        return self.comparison is None and all(map(contains_symbol, self.arguments))

    @property
    def limit(self) -> object:
        """The most results on all pages; None without a limit."""
        return self.shape.extent.total if isinstance(self.shape.extent, Paging) else None

    @property
    def filter(self) -> Condition[Any] | None:
        """The condition of the caller on the items."""
        return next((each for each in self.shape.filters if isinstance(each, Condition)), None)


def range_of(plan: PageQuery[Any] | Load[Any], result: Result = "rows") -> SelectedRange:
    """Return the items that a query, a scan or an aggregate selects."""
    return SelectedRange(
        plan._entity,
        plan._key,
        () if isinstance(plan, Scan) else plan._arguments,
        None if isinstance(plan, Load) else plan._comparison,
        plan._kind if isinstance(plan, Load) else None,
        result,
        plan._shape(),
    )


def ranges_in(plan: Plan[Any], result: Result = "rows") -> Iterator[SelectedRange]:
    """Yield the items that a plan, and every plan that it is made of, selects by a key."""
    if isinstance(plan, First | Count):
        result = "first" if isinstance(plan, First) else "count"
    if isinstance(plan, PageQuery | Load):
        yield range_of(plan, result)
    for part in _parts(plan):
        yield from ranges_in(part, result)


# -- follow-ups ----------------------------------------------------------------------------------


class FollowUp(Struct, frozen=True, eq=False):
    """A plan that is made from the item that a read before it finds."""

    plan: Plan[Any]
    #: The entity of the item, and the index in which it is found.
    entity: EntityMap
    index: IndexMap | None
    #: Whether the item is read as it was written last.
    is_consistent: bool

    def names_used_by(self, plan: Plan[Any]) -> set[str]:
        """Return the attributes of the item that a plan uses, in keys and values."""
        found = Argument(self.entity.name)
        instance = vars(plan).get("_instance")
        written = {} if instance is None else vars(instance)
        return {
            each.name
            for each in (*plan._shape().expressions(), *expressions_in(written))
            if isinstance(each, AttributeOf) and each.owner == found
        }


def follow_up_of(plan: Then[Any, Any]) -> FollowUp:
    """Return what follows from the item that a plan reads first."""
    single, index, is_consistent = plan._single, None, True
    if isinstance(single, First):
        index, is_consistent = single._query._key.index, single._query._is_consistent
    elif isinstance(single, Get):
        is_consistent = single._is_consistent
    return FollowUp(plan._following(), single._entity, index, is_consistent)


def filter_of(plan: Query[Any]) -> Condition[Any] | None:
    """Return the filter of a query; None if it has none."""
    return plan._filter


def images_of(event: Any) -> tuple[Item | None, Item | None]:
    """Return the stored item before and after a stream event."""
    return event._old_item, event._new_item
