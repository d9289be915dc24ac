"""Single: plans that return one entity or None, and what may follow from it.

    Ingredient.by_id("7").first().then(lambda found: Category.primary(found.category_id))

returns `(ingredient, category)`: the second request is made from the result of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.shape import Shape, distinct
from tablewright.plan.units import total

E = TypeVar("E")
T = TypeVar("T")


class Single(Plan[E | None], Generic[E]):
    """One entity, or None."""

    def then(self, follow: Callable[[E], Plan[T]]) -> Then[E, T]:
        """Return the entity and the result of the plan made from it; None if it does not exist."""
        return Then(self, follow)


class Then(Plan[tuple[E, T] | None], Generic[E, T]):
    """An entity, and what follows from it."""

    def __init__(self, single: Single[E], follow: Callable[[E], Plan[T]]) -> None:
        self._single = single
        self._follow = follow

    def _steps(self, context: Context) -> Steps[tuple[E, T] | None]:
        found = yield from self._single._steps(context)
        if found is None:
            return None
        following = yield from self._plan(found)._steps(context)
        return found, following

    def _plan(self, found: E) -> Plan[T]:
        plan = self._follow(found)
        if not isinstance(plan, Plan):
            raise DeclarationError(f"then() takes a function that returns a plan, not {plan!r}")
        return plan

    def _following(self) -> Plan[T]:
        entity = self._single._entity
        found: Any = entity.symbolic()
        return self._plan(found)

    def _entities(self) -> tuple[EntityMap, ...]:
        return (*self._single._entities(), *self._following()._entities())

    def _shape(self) -> Shape:
        return in_turn(self._single._shape(), self._following()._shape())


def in_turn(first: Shape, *following: Shape) -> Shape:
    """The shape of requests that are made one after the other."""
    steps = (first, *following)
    return Shape(
        operation=" + ".join(step.operation for step in steps),
        tables=distinct(table for step in steps for table in step.tables),
        targets=distinct(target for step in steps for target in step.targets),
        indexes=tuple(index for step in steps for index in step.indexes),
        keys=tuple(key for step in steps for key in step.keys),
        read_units=sum(step.read_units for step in steps),
        write_units=sum(step.write_units for step in steps),
        # The first request may find nothing.
        read_range=replace(total(step.read_range for step in steps), low=first.read_range.low),
        write_range=replace(total(step.write_range for step in steps), low=first.write_range.low),
        steps=steps,
    )
