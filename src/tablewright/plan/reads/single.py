"""Single: plans that return one entity or None, and what may follow from it.

    Ingredient.by_id("7").first().then(lambda found: Category.primary(found.category_id))

returns `(ingredient, category)`: the second request is made from the result of the first.

`read_item` reads an item as it is stored, for writes and for unique values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.facts import Paging, Target, item_read, total
from tablewright.plan.plan import DECLARED, Context, Plan, Request, Steps
from tablewright.plan.shape import Shape, distinct, read_shape, typical_size
from tablewright.values import Item

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


# -- stored items ---------------------------------------------------------------------------------


class ItemAnswer(Struct, rename="pascal"):
    """The answer of a GetItem, or one of those of a TransactGetItems."""

    item: Item | None = None


_decode = msgspec.json.Decoder(ItemAnswer).decode


def read_item(context: Context, entity: EntityMap, key: Item) -> Steps[Item | None]:
    """Read an item consistently; return None if it does not exist."""
    return _decode((yield item_request(context, entity, key))).item


def item_request(context: Context, entity: EntityMap, key: Item) -> Request:
    """Return the consistent read of an item."""
    body = {"TableName": context.name_of(entity.table), "Key": key, "ConsistentRead": True}
    return Request("GetItem", body)


def item_shape(entity: EntityMap, key: Item, target: Target | None = None) -> Shape:
    """Return the shape of the consistent read of an item."""
    request = item_request(DECLARED, entity, key)
    return replace(
        read_shape(request, [target or entity], [entity.table]),
        extent=Paging(1),
        read_units=read_units(typical_size(entity), consistent=True),
        read_range=item_read(consistent=True),
    )


def key_from(primary: KeyMap, arguments: tuple[Any, ...]) -> Item:
    """Return the key of the table that the arguments of a call give."""
    if len(arguments) != len(primary.parameters):
        primary.check_arguments(arguments, complete=True)
    return primary.encode(arguments)
