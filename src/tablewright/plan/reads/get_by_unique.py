"""Get by a unique value: read an entity through the sentinel that reserves the value."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError, UnreadableItem
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.members import UniqueMap
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.item import item_shape, key_from, read_item
from tablewright.plan.reads.single import Single, in_turn
from tablewright.plan.shape import Shape
from tablewright.values import Item

E = TypeVar("E")


class GetByUnique(Single[E], Generic[E]):
    """The entity with a unique value: reads the sentinel first, then the entity."""

    def __init__(self, entity: EntityMap, unique: UniqueMap, arguments: tuple[Any, ...]) -> None:
        missing = entity.primary.depends_on - {kept.name for kept in unique.keeps}
        if missing:
            raise DeclarationError(
                f"{unique.key.name}: its sentinel does not keep {', '.join(sorted(missing))}, so "
                f"it does not lead to the {entity.name}; keep it, or look up by an index"
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
        item = yield from read_item(context, entity, entity.key_of(self._kept(sentinel)))
        if item is None or not entity.is_kind_of(item):
            return None
        found: E = entity.decode(item)
        # It may have released the value between the two reads.
        return found if self._key_now(item) == self._key else None

    def _kept(self, sentinel: Item) -> Values:
        """Return the values that a sentinel keeps."""
        try:
            return {
                attribute.name: attribute.converter.read(sentinel, attribute.stored)
                for attribute in self._unique.keeps
            }
        except UnreadableItem as error:
            raise self._entity.table.unreadable(str(error), sentinel) from None

    def _key_now(self, item: Item) -> Item:
        """Return the key of the sentinel that the entity has now."""
        composed = self._unique.key.compose(self._entity.values(item)) or {}
        return {name: composed.get(name) or item.get(name, {}) for name in self._key}

    def _shape(self) -> Shape:
        entity = self._entity
        return replace(
            in_turn(
                item_shape(entity, self._key, self._unique),
                item_shape(entity, entity.primary.symbolic().equal),
            ),
            targets=(entity,),
        )
