"""Places: decide which of several keys of an entity in one index a row of the index has.

    open = index(Desk.by_state, "OPEN", "DUE" / due, when=closed.not_exists())
    done = index(Desk.by_state, "DONE", "AT" / closed)

Each of these keys is a place of the entity. An item has at most one of them at a time, and the
key of its index row shows which one, so no other attribute is read. If two places can have the same
key, or a key has another spelling, the conditions (`when=`) decide. An index in which two places
can have the same key must project the attributes of the conditions; the import checks that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tablewright.errors import UnreadableItem
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Parser
from tablewright.plan.expressions import Path
from tablewright.plan.reads import projection
from tablewright.plan.reference import Ref
from tablewright.values import Value


class Place:
    """The place of an entity in an index, among other ones of the entity."""

    def __init__(self, entity: EntityMap, key: KeyMap, others: list[KeyMap]) -> None:
        self._entity = entity
        self._key = key
        self._here = _KeyForm(key)
        self._others = [_KeyForm(other) for other in others]
        #: The attributes that decide whether an item is here.
        self._names = sorted(key.depends_on)
        self._columns: list[Ref[Any, Any]] = [getattr(entity.type, name) for name in self._names]
        #: Whether the index holds them.
        self._is_decided = not projection.missing(
            entity, key, [column.attribute for column in self._columns]
        )

    def paths(self) -> set[Path]:
        """Return the paths of an index row that `contains` looks at."""
        if not self._is_decided:
            return set()
        return projection.paths_of_columns(self._entity, self._key, self._columns)

    def contains(self, row: Mapping[str, Value]) -> bool:
        """Return whether an item of the entity is here; true for one that cannot be read."""
        for any_spelling in (False, True):
            here = self._here.matches(row, any_spelling=any_spelling)
            others = any(each.matches(row, any_spelling=any_spelling) for each in self._others)
            if here != others:
                return here
            if here:
                break
        if not self._is_decided:
            return True
        try:
            found = projection.read_columns(self._entity, self._columns, row)
        except UnreadableItem:
            return True  # reported when it is decoded
        return self._key.compose(dict(zip(self._names, found, strict=True))) is not None


class _KeyForm:
    """What the key attributes of the rows of a place look like."""

    def __init__(self, key: KeyMap) -> None:
        self._exact, self._any = (
            [
                (name, template.tag, Parser(template, any_spelling=any_spelling))
                for name, template in key.templates.items()
                if template.natural is None
            ]
            for any_spelling in (False, True)
        )

    def matches(self, row: Mapping[str, Value], *, any_spelling: bool) -> bool:
        """Return whether the key of an index row can be one of this place."""
        return all(
            parser.matches(row.get(name, {}).get(tag, ""))
            for name, tag, parser in (self._any if any_spelling else self._exact)
        )


@lru_cache(maxsize=1024)
def place_of(entity: EntityMap, key: KeyMap, kinds: int) -> Place | None:
    """Return the place of a key; None if it is the only one of the entity in its index.

    `kinds` is how many variants the entity has: each can add places.
    """
    del kinds
    others = [
        each
        for kind in entity.kinds
        for each in kind.indexes
        if each.index == key.index and each is not key and kind.inherits.get(each) is not key
    ]
    if key.index is None or not others:
        return None
    return Place(entity, key, others)
