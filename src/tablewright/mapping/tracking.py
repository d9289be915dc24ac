"""Tracking: what an entity was when it was last read or written, so that `save` finds changes.

A read must not get slower. So as little as possible is kept, and nothing for most attributes:

    an assigned attribute       its value before the first assignment, kept by the assignment
    an attribute that can       its stored value as JSON, or where that is: an answer of DynamoDB,
    change in place             and the item's position in it; kept by the read

Bytes cost the garbage collector nothing. Kept values, or stored values as dicts, made reading a
list of pages a tenth to a fifth slower. Entities of one page share the bytes of its answer.

Invariant: an entity that its constructor made is new until it is written. This module must not
know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_origin

import msgspec

from tablewright.mapping.converters import Converter
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.entity import AttributeMap

#: The stored values by name as JSON; or an answer, and the position of the item in its page.
Snapshot: TypeAlias = "bytes | tuple[bytes, int | None]"

#: In place of assigned values: the constructor made the entity, and it was not written yet.
NEW: Final = None

_set = object.__setattr__
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Tracking:
    """Finds what has changed in the entities of one class."""

    def __init__(self, attributes: Iterable[AttributeMap]) -> None:
        #: The attributes whose values can change in place, and their positions.
        self._mutable = [
            (position, attribute)
            for position, attribute in enumerate(attributes)
            if _can_change(attribute.converter)
        ]
        #: Whether a read has to keep something.
        self.keeps = bool(self._mutable)

    def keep_fields(self, entity: Any, stored: tuple[Value | None, ...]) -> None:
        """Keep what is stored of an entity; `stored` has the stored values of all attributes."""
        kept = {attribute.stored: stored[position] for position, attribute in self._mutable}
        _set(entity, "_snapshot", _encode(kept))

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
            kept = {attribute.stored: item.get(attribute.stored) for _, attribute in self._mutable}
            _set(entity, "_snapshot", _encode(kept))

    def remember_some(self, entity: Any, item: Item, names: Collection[str]) -> None:
        """Take some attributes of an entity as unchanged, after a write of this item."""
        assigned = getattr(entity, "_assigned", {})
        if assigned is NEW:
            return
        for name in names:
            assigned.pop(name, None)
        if self.keeps:
            kept: dict[str, Value | None] = {**_stored(entity._snapshot)}
            for _, attribute in self._mutable:
                if attribute.name in names:
                    kept[attribute.stored] = item.get(attribute.stored)
            _set(entity, "_snapshot", _encode(kept))

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
            kept = _stored(entity._snapshot)
            for _, attribute in self._mutable:
                stored, name = kept.get(attribute.stored), attribute.name
                decode = attribute.converter.decode
                values[name] = absent(name) if stored is None else decode(stored)
            _set(target, "_snapshot", entity._snapshot)
        return True


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


def _stored(snapshot: Snapshot) -> Item:
    if isinstance(snapshot, bytes):
        return _decode(snapshot)
    answer, position = snapshot
    found = _decoded(answer)
    item: Item = found["Item"] if position is None else found["Items"][position]
    return item


@lru_cache(maxsize=1)
def _decoded(answer: bytes) -> dict[str, Any]:
    """Decode an answer; once, if several entities of one page are saved one after the other."""
    return _decode(answer)
