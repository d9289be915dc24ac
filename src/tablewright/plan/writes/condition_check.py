"""Condition check: an item that must exist, and meet conditions, for a transaction to succeed.

transact(create(ingredient), condition_check(Category.primary(ingredient.category_id)))
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.condition import Condition
from tablewright.plan.facts import Actions, Exists, Requirement
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape
from tablewright.plan.units import ITEM_WRITE, UnitRange
from tablewright.plan.writes.action import Action, Prepared
from tablewright.plan.writes.guard import Guard
from tablewright.plan.writes.write import Write
from tablewright.values import Item

E = TypeVar("E")


class ConditionCheck(Write[None, None], Generic[E]):
    """Write nothing; fail if the item does not exist, or does not meet the conditions."""

    _verb = "condition_check"

    def __init__(
        self, entity: EntityMap, key: Item, conditions: tuple[Condition[Any], ...]
    ) -> None:
        self._entity = entity
        self._key = key
        self._conditions = conditions

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, key = self._entity, self._key
        guard = Guard(entity, key, self._requirements())
        yield from ()  # it has nothing to read
        body = guard.expressions().add_to({"Key": key})
        return Prepared(
            [Action("ConditionCheck", entity.table, body, guard.verdict)], lambda _: None
        )

    def _requirements(self) -> tuple[Requirement, ...]:
        return (Exists(), *self._conditions)

    def _shape(self) -> Shape:
        return Shape(
            operation="ConditionCheck",
            tables=(self._entity.table,),
            targets=(self._entity,),
            keys=(KeyCondition(self._key),),
            filters=self._conditions,
            requirements=self._requirements(),
            extent=Actions(1),
            write_units=TRANSACTION_FACTOR,
            write_range=UnitRange(1, ITEM_WRITE) * TRANSACTION_FACTOR,
        )


def condition_check(item: Get[E], *conditions: Condition[E]) -> ConditionCheck[E]:
    """Let a transaction succeed only if an item exists and meets the conditions."""
    if not isinstance(item, Get):
        raise DeclarationError(
            f"condition_check() takes a key, such as Order.primary(…), not {item!r}"
        )
    for condition in conditions:
        check_condition(condition, item._entity)
    return ConditionCheck(item._entity, item._key, conditions)
