"""Side items: the sentinels of an entity's unique values, and the events of its histories.

Both are items of their own, written in the same transaction as the entity. A sentinel exists
exactly while an entity has the value, and names this entity: no other one deletes or replaces it.
An event is written when an attribute changes (of a history
that is declared with `always`: when it is written), and is never changed itself.

This module computes items from values. It must not know requests or plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.encoding.items import value_size
from tablewright.errors import InvalidValue
from tablewright.limits import MAX_PARTITION_KEY_SIZE, MAX_SORT_KEY_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.values import Item

Values: TypeAlias = Mapping[str, Any]


class Audit(Struct, frozen=True):
    """When a write is made, by whom and why."""

    at: datetime
    by: Any = None
    reason: Any = None


class SideItem(Struct, frozen=True):
    """An item beside an entity, before and after a write of the entity."""

    #: The unique value that it reserves, or the history that it belongs to.
    declared: UniqueMap | HistoryMap
    old: Item | None
    new: Item | None


def sentinel(entity: EntityMap, unique: UniqueMap, values: Values) -> Item | None:
    """Return the sentinel of an entity with these values; None if the unique value is missing."""
    item = unique.key.compose(values)
    if item is None:
        return None
    if entity.table.type_attribute is not None:
        item[entity.table.type_attribute] = entity.table.type_value(unique.type_name)
    for attribute in unique.keeps:
        value = attribute.converter.stored(values[attribute.name])
        if value is not None:
            item[attribute.stored] = value
    return item


def sentinel_items(
    entity: EntityMap, uniques: Iterable[UniqueMap], old: Values | None, new: Values | None
) -> list[SideItem]:
    """Return the sentinels that change when the values of an entity do; None is no entity."""
    items = []
    for unique in uniques:
        before = None if old is None else sentinel(entity, unique, old)
        after = None if new is None else sentinel(entity, unique, new)
        if before == after:
            continue
        if before is not None and oversized_key(entity, before):
            before = None  # it cannot exist
            if after is None:
                continue
        if before is None or after is None or _same_key(entity, before, after):
            items.append(SideItem(unique, before, after))
        else:
            items += [SideItem(unique, before, None), SideItem(unique, None, after)]
    return items


def oversized_key(entity: EntityMap, item: Item) -> str:
    """Return which key of an item is larger than DynamoDB allows, and by how much; "" if none."""
    for name, most in zip(
        entity.table.attributes, (MAX_PARTITION_KEY_SIZE, MAX_SORT_KEY_SIZE), strict=True
    ):
        if name is not None and (size := value_size(item[name])) > most:
            return f"{name} has {size:,} bytes, and the maximum is {most:,}"
    return ""


def _same_key(entity: EntityMap, one: Item, other: Item) -> bool:
    return entity.table.key(one) == entity.table.key(other)


def event_items(
    entity: EntityMap, histories: Iterable[HistoryMap], old: Values, new: Values, audit: Audit
) -> list[SideItem]:
    """Return the events of the attributes that a write of `histories` changes or repeats."""
    return [
        SideItem(history, None, history.event.encode(_event(entity, history, old, new, audit)))
        for history in histories
        if history.always or old[history.attribute] != new[history.attribute]
    ]


def _event(
    entity: EntityMap, history: HistoryMap, old: Values, new: Values, audit: Audit
) -> dict[str, Any]:
    """Return the values of an event."""
    facts = {
        ":at": audit.at,
        ":by": audit.by,
        ":reason": audit.reason,
        ":old": old[history.attribute],
        ":new": new[history.attribute],
    }
    if entity.version is not None:
        facts[":version"] = new[entity.version.name]
        facts[":old_version"] = facts[":version"] - 1
    values: dict[str, Any] = {}
    for name, attribute in history.event.attributes.items():
        source = history.sources.get(name)
        value = None
        if source is not None:
            value = facts[source] if source.startswith(":") else new[source]
        if value is None and attribute.default is not None:
            value = attribute.default()
        if value is None and not attribute.converter.optional:
            raise InvalidValue(
                f"{history.event.name}.{name} has no value; give it with the write: "
                f"….audit({'by' if source == ':by' else 'reason'}=…)"
            )
        values[name] = value
    return values
