"""Condition check: an item that must exist, and meet conditions, for a transaction to succeed.

transact(create(ingredient), condition_check(Category.primary(ingredient.category_id)))
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from tablewright.errors import DeclarationError, NotFound
from tablewright.plan.condition import Condition
from tablewright.plan.get import Fetch
from tablewright.plan.guard import Conditions, failed_condition, refusal
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape, key_condition
from tablewright.plan.write import Action, Prepared, Verdict, Write
from tablewright.values import Item

E = TypeVar("E")


class ConditionCheck(Write[None], Generic[E]):
    """Writes nothing; fails if the item is not there, or not as it should be."""

    _verb = "condition_check"

    def __init__(self, fetch: Fetch[E], conditions: tuple[Condition[Any], ...]) -> None:
        self._entity = fetch._entity
        self._key = fetch._key
        self._conditions = conditions

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity = self._entity
        conditions = Conditions()
        conditions.exists(entity.table)
        conditions.take(self._conditions)

        def failed(item: Item | None) -> Verdict:
            if item is None:
                return refusal(NotFound, entity, self._key, None, "it is not there")
            return failed_condition(entity, self._key, item, self._conditions)

        body = conditions.into({"Key": self._key})
        yield from ()  # it has nothing to read
        return Prepared([Action("ConditionCheck", entity.table, body, failed)], lambda _: None)

    def _shape(self) -> Shape:
        return Shape(
            operation="ConditionCheck",
            table=self._entity.table.name,
            entity=self._entity.name,
            condition=key_condition(self._key),
            filter=" AND ".join(map(repr, self._conditions)),
            page="1",
            write_units=1,
        )


def condition_check(item: Fetch[E], *conditions: Condition[E]) -> ConditionCheck[E]:
    """Let a transaction succeed only if an item exists and meets the conditions."""
    if not isinstance(item, Fetch):
        raise DeclarationError(
            f"condition_check() takes a key, such as Order.primary(…), not {item!r}"
        )
    for condition in conditions:
        check_condition(condition, item._entity)
    return ConditionCheck(item, conditions)
