"""Unknown items: stored items that no entity of a table describes.

Neither their type nor their key is that of an entity or a sentinel. An item that has a type says
that it is something else; one without a type may be an item of an entity with a damaged key.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.errors import UnreadableItem
from tablewright.mapping.entity import content_of
from tablewright.mapping.table import TableMap
from tablewright.values import Value


class UnknownItem(dict[str, Value]):
    """An unknown item among those that a read found."""


def is_of_other_type(table: TableMap, item: Mapping[str, Value]) -> bool:
    """Return whether an unknown item has a type, which is that of no entity."""
    return table.has_foreign_type(item) and table.identify(item).is_unknown


def unknown_item(table: TableMap, item: Mapping[str, Value]) -> UnreadableItem:
    """Return the error that reports an unknown item."""
    problem = f"no entity has a key like {table.show_key(item)}"
    if table.type_attribute in item:
        problem += f", or the type {content_of(item, str(table.type_attribute))!r}"
    message = f"{table.owner}: {problem}; declare one"
    return UnreadableItem(message, key=table.key(item), item=dict(item))
