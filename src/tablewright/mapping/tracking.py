"""Tracking: the values of an entity when it was last read or written, for `save`.

Reads must stay fast, so an entity keeps as little as possible, and nothing for most attributes:

    an assigned attribute                   its value before the first assignment
    an attribute that can change in place   its stored value, encoded, when it is read

Encoded values cost 0.3 µs for an entity, and the garbage collector nothing. Kept values, or stored
values as dicts, made reading a list of pages a tenth to a fifth slower; so did answers as bytes.

Invariant: an entity that its constructor made is new until it is written. This module must not
know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, get_origin

import msgspec

from tablewright.mapping.converters import Converter
from tablewright.mapping.formats.encryption import Unsealed
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.attributes import AttributeMap

#: In place of assigned values: the entity is new, and was not written yet.
NEW: Final = None

_set = object.__setattr__

#: The extension of MessagePack that holds the content of an encrypted value.
_UNSEALED = 1


def _extension(value: Any) -> msgspec.msgpack.Ext:
    assert isinstance(value, Unsealed)
    return msgspec.msgpack.Ext(_UNSEALED, value.content)


def _from_extension(code: int, data: memoryview) -> Unsealed:
    return Unsealed(bytes(data))


pack = msgspec.msgpack.Encoder(enc_hook=_extension).encode
_unpack = msgspec.msgpack.Decoder(ext_hook=_from_extension).decode


class Tracking:
    """Finds what has changed in the entities of one class."""

    def __init__(self, attributes: Iterable[AttributeMap]) -> None:
        #: The positions of the attributes whose values can change in place.
        self.positions: list[int] = []
        #: The attributes whose values can change in place.
        self._mutable: list[AttributeMap] = []
        for position, attribute in enumerate(attributes):
            if _can_change(attribute.converter):
                self.positions.append(position)
                self._mutable.append(attribute)

    def remember(self, entity: Any, item: Item) -> None:
        """Mark an entity as unchanged, after a write of this item."""
        _set(entity, "_assigned", {})
        if self._mutable:
            self.keep_values(entity, [item.get(attribute.stored) for attribute in self._mutable])

    def remember_some(self, entity: Any, item: Item, names: Collection[str]) -> None:
        """Mark some attributes of an entity as unchanged, after a write of this item."""
        assigned = getattr(entity, "_assigned", {})
        if assigned is NEW:
            return
        for name in names:
            assigned.pop(name, None)
        if self._mutable:
            pairs = zip(self._mutable, self._kept_values(entity), strict=True)
            self.keep_values(
                entity,
                [
                    item.get(attribute.stored) if attribute.name in names else value
                    for attribute, value in pairs
                ],
            )

    def take_over(self, entity: Any, other: Any) -> None:
        """Give an entity the values and the tracked state of another one."""
        vars(entity).update(vars(other))
        _set(entity, "_assigned", other._assigned)
        if self._mutable:
            _set(entity, "_snapshot", other._snapshot)

    def restore(self, target: Any, entity: Any, absent: Callable[[str], Any]) -> bool:
        """Give `target` the values that an entity had when read or written; False if it is new.

        `absent` returns the value of an attribute that the stored item lacks.
        """
        assigned = getattr(entity, "_assigned", {})
        if assigned is NEW:
            return False
        values = vars(target)
        values.update(vars(entity) | assigned)
        _set(target, "_assigned", {})
        if self._mutable:
            for attribute, stored in zip(self._mutable, self._kept_values(entity), strict=True):
                name, decode = attribute.name, attribute.converter.decode
                values[name] = absent(name) if stored is None else decode(stored)
            _set(target, "_snapshot", entity._snapshot)
        return True

    def keep_fields(self, entity: Any, fields: tuple[Value | None, ...]) -> None:
        """Mark an entity as unchanged, after a read of these fields, as generated readers do."""
        if self._mutable:
            self.keep_values(entity, [fields[position] for position in self.positions])

    def keep_values(self, entity: Any, stored: list[Value | None]) -> None:
        _set(entity, "_snapshot", pack(stored))

    def _kept_values(self, entity: Any) -> list[Value | None]:
        """Return the stored values of the attributes that can change in place."""
        values: list[Value | None] = _unpack(entity._snapshot)
        return values


def note_assignment(entity: Any, name: str) -> None:
    """Keep the value of an attribute before it is assigned for the first time."""
    try:
        assigned: Any = entity._assigned
    except AttributeError:
        assigned = {}
        _set(entity, "_assigned", assigned)
    if assigned is not NEW:
        assigned.setdefault(name, vars(entity)[name])


def _can_change(converter: Converter) -> bool:
    """Return whether values of this type can change in place."""
    plain = converter.tag in ("S", "N", "BOOL", "B") and not converter.state
    return not plain and get_origin(converter.kind) is not frozenset
