"""Roles: what an item of a table is in its design.

An entity, an event of a history (which is an entity, too), the sentinel of a unique value, or an
item that the design does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from tablewright.mapping.entity import EntityMap, HistoryMap, UniqueMap, content_of
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser
from tablewright.values import Item, Value


class Role(Struct, frozen=True):
    """What an item is."""

    #: Its entity; of a sentinel, the entity whose value it reserves; None if it is unknown.
    entity: EntityMap | None
    #: The unique value that it reserves, if it is a sentinel.
    unique: UniqueMap | None = None
    #: The history that it belongs to, and the entity that has this history.
    history: HistoryMap | None = None
    history_of: EntityMap | None = None

    @property
    def text(self) -> str:
        """What the item is beside the entity's name; "" for a plain entity."""
        if self.unique is not None:
            assert self.entity is not None
            return f"sentinel of {self.unique.key.name}"
        if self.history is not None:
            assert self.history_of is not None
            return f"history of {self.history_of.name}.{self.history.attribute}"
        return "" if self.entity is not None else "not in the design"


def role_of(table: TableMap | None, item: Item) -> Role:
    """Return the role of an item."""
    if table is None:
        return Role(None)
    entity = table.entity_of(item)
    if entity is not None:
        return _history_role(table, entity)
    for owner, unique in _uniques(table):
        if _is_sentinel(table, unique, item):
            return Role(owner, unique=unique)
    return Role(None)


def _history_role(table: TableMap, entity: EntityMap) -> Role:
    for owner in table.entities:
        for history in owner.histories:
            if history.event is entity:
                return Role(entity, history=history, history_of=owner)
    return Role(entity)


def _uniques(table: TableMap) -> Iterator[tuple[EntityMap, UniqueMap]]:
    for entity in table.entities:
        for unique in entity.uniques:
            yield entity, unique


def _is_sentinel(table: TableMap, unique: UniqueMap, item: Mapping[str, Value]) -> bool:
    name = table.type_attribute
    if name is not None and name in item and item[name] != table.type_value(unique.type_name):
        return False
    texts = [content_of(item, name) for name in table.attributes if name is not None]
    return all(
        parser.texts(text) is not None
        for parser, text in zip(_parsers(unique.key), texts, strict=True)
    )


@cache
def _parsers(key: KeyMap) -> list[Parser]:
    return [Parser(each) for each in (key.partition, key.sort) if each is not None]
