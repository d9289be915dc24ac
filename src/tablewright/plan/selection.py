"""One item by its key: read it, update it, delete it.

db.run(Order.primary("C1", "O1"))                                       Order | None
db.run(Order.primary("C1", "O1").update(Order.status.set(PAID)))        Order
db.run(Order.primary("C1", "O1").delete())                              Order | None
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap, Values
from tablewright.plan.change import Change
from tablewright.plan.delete import Delete
from tablewright.plan.get import Fetch
from tablewright.plan.move import Move
from tablewright.plan.put import Stored, entity_of
from tablewright.plan.update import Update
from tablewright.values import Item

E = TypeVar("E")


class Get(Fetch[E], Generic[E]):
    """The item with one key: run it to read, or write to it."""

    def update(self, *changes: Change[E]) -> Update[E]:
        """Change attributes of the item; NotFound if it is not there."""
        known = {
            part.attribute: value
            for part, value in zip(self._entity.primary.parameters, self._arguments, strict=True)
            if part.is_exact
        }
        return _update(self._entity, self._key, known, changes, None)

    def delete(self) -> Delete[E]:
        """Delete the item, whatever its version."""
        return Delete(self._entity, self._key)


def update(instance: Stored, *changes: Change[Stored]) -> Update[Stored]:
    """Change attributes of an entity at hand: of this version, if it is versioned."""
    entity = entity_of(instance)
    values = vars(instance)
    known = {name: values[name] for name in entity.primary.depends_on}
    return _update(entity, entity.key_of(values), known, changes, instance)


def _update(
    entity: EntityMap, key: Item, known: Values, changes: Sequence[Change[Any]], instance: Any
) -> Update[Any]:
    if not changes:
        raise InvalidValue(f"{entity.name}: update() needs at least one change")
    names = {
        getattr(change, "name", "") for change in changes
    }  # what is not a change is reported later
    moves = bool(names & entity.primary.depends_on)
    return (Move if moves else Update)(entity, key, known, changes, instance)
