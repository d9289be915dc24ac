"""Tracking: what an entity was when it was last read or written, so that `save` finds changes.

A read must not get slower. So as little as possible is kept, and nothing for most attributes:

    an assigned attribute       its value before the first assignment, kept by the assignment
    an attribute that can       its stored value, encoded; or where that is: an answer of DynamoDB,
    change in place             and the item's position in it; kept by the read

Bytes cost the garbage collector nothing. Kept values, or stored values as dicts, made reading a
list of pages a tenth to a fifth slower. Entities of one page share the bytes of its answer.

Invariant: an entity that its constructor made is new until it is written. This module must not
know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_origin

import msgspec

from tablewright.mapping.converters import Converter
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.entity import AttributeMap

#: The stored values, encoded; or an answer, and the position of the item in its page.
Snapshot: TypeAlias = "bytes | tuple[bytes, int | None]"

#: In place of assigned values: the constructor made the entity, and it was not written yet.
NEW: Final = None

_set = object.__setattr__
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Tracking:
    """Finds what has changed in the entities of one class."""

    def __init__(self, attributes: Iterable[AttributeMap]) -> None:
        positions = []
        #: The attributes whose values can change in place.
        self._mutable: list[AttributeMap] = []
        for position, attribute in enumerate(attributes):
            if _can_change(attribute.converter):
                positions.append(position)
                self._mutable.append(attribute)
        #: Whether a read has to keep something.
        self.keeps = bool(positions)
        #: Picks the stored values of these attributes; of one attribute, the bare value.
        self._pick = itemgetter(*positions) if positions else None

    def keep_fields(self, entity: Any, stored: tuple[Value | None, ...]) -> None:
        """Keep what is stored of an entity; `stored` has the stored values of all attributes."""
        assert self._pick is not None
        _set(entity, "_snapshot", _pack(self._pick(stored)))

    def keep_page(self, entities: list[Any], answer: bytes) -> None:
        """Keep where the entities of a page are in its answer."""
        for source in enumerate(entities):
            _set(source[1], "_snapshot", (answer, source[0]))

    def keep_answer(self, entity: Any, answer: bytes) -> None:
        """Keep the answer of the GetItem that has read an entity."""
        _set(entity, "_snapshot", (answer, None))

    def remember(self, entity: Any, item: Item) -> None:
        """Take an entity as unchanged, after a write of this item."""
        _set(entity, "_assigned", {})
        if self.keeps:
            self._keep_values(entity, [item.get(attribute.stored) for attribute in self._mutable])

    def remember_some(self, entity: Any, item: Item, names: Collection[str]) -> None:
        """Take some attributes of an entity as unchanged, after a write of this item."""
        assigned = getattr(entity, "_assigned", {})
        if assigned is NEW:
            return
        for name in names:
            assigned.pop(name, None)
        if self.keeps:
            pairs = zip(self._mutable, self._kept_values(entity), strict=True)
            self._keep_values(
                entity,
                [
                    item.get(attribute.stored) if attribute.name in names else value
                    for attribute, value in pairs
                ],
            )

    def take_over(self, entity: Any, other: Any) -> None:
        """Give an entity the values of another one, and what is kept of that."""
        vars(entity).update(vars(other))
        for name in ("_assigned", "_snapshot"):
            if hasattr(other, name):
                _set(entity, name, getattr(other, name))

    def restore(self, target: Any, entity: Any, absent: Callable[[str], Any]) -> bool:
        """Make `target` what an entity was when it was last read or written; False if it never was.

        `absent` gives the value of an attribute that the stored item does not have.
        """
        assigned = getattr(entity, "_assigned", {})
        if assigned is NEW:
            return False
        values = vars(target)
        values.update(vars(entity) | assigned)
        if self.keeps:
            for attribute, stored in zip(self._mutable, self._kept_values(entity), strict=True):
                name, decode = attribute.name, attribute.converter.decode
                values[name] = absent(name) if stored is None else decode(stored)
            _set(target, "_snapshot", entity._snapshot)
        return True

    def _keep_values(self, entity: Any, stored: list[Value | None]) -> None:
        _set(entity, "_snapshot", _pack(stored if len(stored) > 1 else stored[0]))

    def _kept_values(self, entity: Any) -> list[Value | None]:
        """Return the stored values of the attributes that can change in place."""
        snapshot: Snapshot = entity._snapshot
        if isinstance(snapshot, bytes):
            values: Any = _unpack(snapshot)
            return list(values) if len(self._mutable) > 1 else [values]
        answer, position = snapshot
        found = _decoded(answer)
        item: Item = found["Item"] if position is None else found["Items"][position]
        return [item.get(attribute.stored) for attribute in self._mutable]


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
    """Whether values of this type can change in place."""
    plain = converter.tag in ("S", "N", "BOOL", "B")
    return not plain and get_origin(converter.kind) is not frozenset


@lru_cache(maxsize=1)
def _decoded(answer: bytes) -> dict[str, Any]:
    """Decode an answer; once, if several entities of one page are saved one after the other."""
    return _decode(answer)
