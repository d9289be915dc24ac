"""Kinds of items: what an item is for its design, and how people and URLs name it.

An item that the design does not know is never hidden: it has a kind of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.errors import UnreadableItem
from tablewright.mapping.item_kind import UNKNOWN, ItemKind
from tablewright.mapping.table import TableMap
from tablewright.values import Value

#: The names of the kinds that are no entity; no class can have such a name.
UNIQUE_VALUES = "-unique"
UNKNOWN_ITEMS = "-unknown"
INDEX_RECORD = "-record"


def kind_of(table: TableMap | None, item: Mapping[str, Value]) -> ItemKind:
    """Return the kind of an item of a table, or of a table without a design."""
    return UNKNOWN if table is None else table.identify(item)


def filter_name(kind: ItemKind) -> str:
    """Return how the filter of a page names a kind."""
    if kind.unique is not None:
        return UNIQUE_VALUES
    if kind.is_record:
        return INDEX_RECORD
    return UNKNOWN_ITEMS if kind.entity is None else kind.entity.name


def side_of(kind: ItemKind) -> str:
    """Return what an item is if it is no plain entity: a sentinel, an event of a history, …"""
    if kind.is_record:
        return "the record of complete indexes"
    if kind.is_unknown:
        return "not in the design"
    if kind.unique is not None:
        return f"sentinel: reserves {kind.unique.key.name}"
    if kind.history is None:
        return ""
    owner, history = kind.history
    return f"history of {owner.name}.{history.attribute}"


def unreadable(kind: ItemKind, item: Mapping[str, Value]) -> str:
    """Return why a whole item cannot be decoded; "" if it can, or if it is of no entity."""
    if kind.stored is None:
        return ""
    try:
        kind.stored.decode(item)
    except UnreadableItem as error:
        return str(error)
    return ""


def stored_names(table: TableMap | None) -> list[str]:
    """Return the stored attributes of all entities, without those that are only in keys."""
    return [
        attribute.stored
        for entity in (() if table is None else table.entities)
        for attribute in entity.attributes.values()
        if not attribute.is_key_only
    ]
