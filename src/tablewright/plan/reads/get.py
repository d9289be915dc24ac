"""Get: one item by its key, or by a unique value; read it, update it or delete it.

    db.run(Order.primary("C1", "O1"))                                       Order | None
    db.run(Order.primary("C1", "O1").update(Order.status.set(PAID)))        Order
    db.run(Counter.primary("x").upsert(Counter.hits.increment(1)))          Counter
    db.run(Order.primary("C1", "O1").delete())                              Order | None
    db.run(User.by_email("ann@example.com"))                                User | None

A unique value leads to its entity through the sentinel that reserves it: two reads.
"""

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError, UnreadableItem
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap, Values
from tablewright.plan.change import Change
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.single import Single, item_request, item_shape, key_from, read_item
from tablewright.plan.shape import Shape, in_turn
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.effect import named_key
from tablewright.plan.writes.move import update_item
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.upsert import Upsert
from tablewright.plan.writes.write import Rewritable, refuse_undeletable
from tablewright.values import Item

E = TypeVar("E")


class Get(Single[E], Generic[E]):
    """The item with one key: run it to read, or write to it."""

    _is_consistent = False

    def __init__(self, entity: EntityMap, arguments: tuple[Any, ...]) -> None:
        self._entity = entity
        self._arguments = entity.enter_arguments(entity.primary, arguments)
        self._key = key_from(entity.primary, self._arguments)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_is_consistent=True)

    def update(self: Get[Rewritable], *changes: Change[Rewritable]) -> Update[Rewritable]:
        """Change attributes of the item; NotFound if it does not exist."""
        return update_item(self._entity, self._key, self._known(), changes)

    def upsert(self: Get[Rewritable], *changes: Change[Rewritable]) -> Upsert[Rewritable]:
        """Change attributes of the item; create it, with defaults and the changes, if missing."""
        return Upsert(self._entity, self._key, self._known(), changes)

    def _item_key(self) -> Item:
        return self._key

    def _known(self) -> Values:
        """Return the attributes whose values the key says."""
        return {
            part.attribute: value
            for part, value in zip(self._entity.primary.parameters, self._arguments, strict=True)
            if part.is_exact
        }

    def delete(self) -> Delete[E]:
        """Delete the item, whatever its version."""
        refuse_undeletable(self._entity, "delete")
        return Delete(self._entity, self._key)

    def _steps(self, context: Context) -> Steps[E | None]:
        entity = self._entity
        request = item_request(context, entity, self._key, consistent=self._is_consistent)
        found: E | None = entity.decode_get((yield request))
        return found

    def _shape(self) -> Shape:
        return item_shape(self._entity, self._key, consistent=self._is_consistent)


class GetByUnique(Single[E], Generic[E]):
    """The entity with a unique value: reads the sentinel first, then the entity."""

    def __init__(self, entity: EntityMap, unique: UniqueMap, arguments: tuple[Any, ...]) -> None:
        missing = entity.primary.depends_on - {kept.name for kept in unique.keeps}
        if missing:
            raise DeclarationError(
                f"{unique.key.name}: its sentinel does not keep {', '.join(sorted(missing))}, so "
                f"it cannot find the {entity.name}; keep it, or look up by an index"
            )
        self._entity = entity
        self._unique = unique
        self._arguments = entity.enter_arguments(unique.key, arguments)
        self._key = key_from(unique.key, self._arguments)

    def _steps(self, context: Context) -> Steps[E | None]:
        entity = self._entity
        context.require_reserved(self._unique, entity)
        sentinel = yield from read_item(context, entity, self._key)
        if sentinel is None:
            return None
        try:
            key = named_key(entity, self._unique, sentinel)
        except UnreadableItem as error:
            raise entity.table.unreadable(error, sentinel) from None
        item = yield from read_item(context, entity, key)
        if item is None or not entity.is_kind_of(item):
            return None
        found: E = entity.decode(item)
        # It may have released the value between the two reads.
        composed = self._unique.key.compose(entity.values(item)) or {}
        now = {name: composed.get(name) or item.get(name, {}) for name in self._key}
        return found if now == self._key else None

    def _shape(self) -> Shape:
        entity = self._entity
        return replace(
            in_turn(
                item_shape(entity, self._key, self._unique),
                item_shape(entity, entity.primary.symbolic().equal),
            ),
            targets=(entity,),
        )
