"""Delete: an item, and the sentinels of its unique values.

Order.primary("C1", "O1").delete()      whatever its version
delete(order)                           this version of it, if it is versioned
"""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from tablewright.mapping.entity import EntityMap
from tablewright.plan.condition import Condition
from tablewright.plan.guard import (
    Conditions,
    Read,
    expected_version,
    failed_condition,
    read_from,
    stale,
    version_read,
)
from tablewright.plan.keeping import sentinel_actions
from tablewright.plan.plan import Context, Steps
from tablewright.plan.put import Stored, entity_of, read_stored
from tablewright.plan.shape import Shape, key_condition, write_units
from tablewright.plan.write import Action, Prepared, Verdict, Write
from tablewright.values import Item

E = TypeVar("E")


class Delete(Write[E | None], Generic[E]):
    """Delete an item; gives what it was, or None if it was not there."""

    _verb = "delete"

    def __init__(self, entity: EntityMap, key: Item, version: Any = None) -> None:
        self._entity = entity
        self._key = key
        self._version = version

    def condition(self, condition: Condition[E]) -> Self:
        """Only if this holds for what is stored now."""
        return self._expecting(condition)

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, key = self._entity, self._key
        guards: Read = {} if self._version is None else version_read(entity, self._version)
        stored: Item | None = None
        if entity.uniques:
            stored = yield from read_stored(context, entity, key)
            if stored is None and not guards and not self._conditions:
                return Prepared([], lambda _: None)
            names = {name for unique in entity.uniques for name in unique.key.depends_on}
            guards |= read_from(stored, {entity.attributes[name].stored for name in names})
        old = None if stored is None else entity.values(stored)
        conditions = Conditions()
        conditions.still(guards)
        conditions.take(self._conditions)
        expected = expected_version(entity, self._conditions)
        if self._version is not None:
            expected = self._version

        def failed(current: Item | None) -> Verdict:
            refused = stale(entity, key, current, expected)
            if refused is not None:
                return refused
            if read_from(current, guards) != guards:
                return None
            return failed_condition(entity, key, current, self._conditions)

        actions = [Action("Delete", entity.table, conditions.into({"Key": key}), failed)]
        actions += sentinel_actions(entity, old, None, key)

        def result(returned: Item | None) -> E | None:
            item = returned or stored
            return None if item is None else entity.decode(item)

        return Prepared(actions, result, "ALL_OLD")

    def _shape(self) -> Shape:
        several = bool(self._entity.uniques)
        return Shape(
            operation="TransactWriteItems" if several else "DeleteItem",
            table=self._entity.table.name,
            entity=self._entity.name,
            condition=key_condition(self._key),
            page=str(1 + len(self._entity.uniques)),
            filter=" AND ".join(map(repr, self._conditions)),
            read_units=1 if several else 0,
            write_units=write_units(
                self._entity,
                index_entries=len(self._entity.indexes),
                others=len(self._entity.uniques),
                transaction=several,
            ),
        )


def delete(instance: Stored) -> Delete[Stored]:
    """Delete an entity: the version at hand, if it is versioned."""
    entity = entity_of(instance)
    values = vars(instance)
    version = None if entity.version is None else values[entity.version.name]
    return Delete(entity, entity.key_of(values), version)
