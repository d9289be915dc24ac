"""Effects: what a write changes, computed once, as a value.

    old item ─┐                     ┌─▶ index keys    of each index that it is in
              ├──▶ WriteEffect ─────┼─▶ sentinels     one for each unique value
    new item ─┘                     ├─▶ events        one for each attribute with a history
                                    └─▶ counters      of the parents that count or sum the item

Every write becomes effects before it becomes a request: a put and a create have no old item or the
one that was read, a delete has no new one, an update has both, and a move has both under different
keys. The request, its guard and its result are made from the effect; anything else that needs to
know what a write does reads it here.

An update that needs to know nothing of the stored item does not read it. Its effect is partial:
it has no old item, and the new one has only the key and the index keys that the update sets.

Side items are items of their own, written in the same transaction as the entity. A sentinel exists
exactly while an entity has the unique value, and names this entity: no other one deletes or
replaces it. An event is written when an attribute with a history changes (if the history is
declared with `always`: when it is written), and is never changed itself. A counter is an attribute
of another entity, to which the transaction adds what the item adds after the write, less what it
added before.

Invariants: an effect does not change; its side items, its index keys and its changes of counters
follow from the old and the new item alone. This module must not know requests, conditions or plans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct

from tablewright.encoding.items import value_size
from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.limits import MAX_PARTITION_KEY_SIZE, MAX_SORT_KEY_SIZE
from tablewright.mapping.attributes import HistoryMap, UniqueMap
from tablewright.mapping.counters import CounterChange, CounterMap, counter_changes
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.keys import IndexKeys
from tablewright.mapping.links import LinkMap, new_targets
from tablewright.values import Item, Value


class Affected(Struct, frozen=True):
    """What writes of some attributes of an entity can change beside the item itself."""

    #: The composed index keys that change.
    indexes: tuple[IndexKeys, ...]
    uniques: tuple[UniqueMap, ...]
    histories: tuple[HistoryMap, ...]
    #: The counters of its parents.
    counters: tuple[CounterMap, ...]
    #: The links to items that must exist.
    links: tuple[LinkMap, ...]
    #: Whether other items may have to be written in the same transaction.
    has_side_items: bool
    #: The attributes that the index keys depend on.
    index_sources: frozenset[str]
    #: The attributes whose old values decide on the side items.
    side_sources: frozenset[str]

    @property
    def depends_on_whole(self) -> bool:
        """Whether the old and the new item decide on other actions."""
        return self.has_side_items or bool(self.links)


def unique_names(unique: UniqueMap) -> frozenset[str]:
    """Return the attributes of which a sentinel is made."""
    return unique.key.depends_on | {kept.name for kept in unique.keeps}


@lru_cache(maxsize=1024)
def affected_by(entity: EntityMap, names: frozenset[str]) -> Affected:
    """Return what a write of these attributes can change."""
    depending = [key for key in entity.index_keys if key.composed and key.depends_on & names]
    attributes = {name for key in depending for name in key.composed}
    # An attribute that another index shares stays while the item is in one of them.
    indexes = tuple(key for key in entity.index_keys if attributes.intersection(key.composed))
    uniques = tuple(unique for unique in entity.uniques if unique_names(unique) & names)
    histories = tuple(history for history in entity.histories if history.attribute in names)
    counters = tuple(counter for counter in entity.counted if counter.sources & names)
    compared = frozenset(history.attribute for history in histories)
    summed = (counter.sources for counter in counters)
    return Affected(
        indexes,
        uniques,
        histories,
        counters,
        tuple(link for link in entity.links if link.names & names),
        has_side_items=bool(uniques or histories or counters),
        index_sources=frozenset().union(*(key.depends_on for key in indexes)),
        side_sources=compared.union(*map(unique_names, uniques), *summed),
    )


@lru_cache(maxsize=1024)
def affected_by_all(entity: EntityMap) -> Affected:
    """Return what a write of the whole entity can change."""
    return affected_by(entity, frozenset(entity.attributes))


def forget_affected() -> None:
    """Compute anew what writes affect: a rule about an earlier entity was declared."""
    affected_by.cache_clear()
    affected_by_all.cache_clear()


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


class WriteEffect(Struct, frozen=True):
    """What a write changes: an item, its index rows, the items beside it, and counters."""

    entity: EntityMap
    #: The key of the item; if the write moves it, the new one.
    key: Item
    #: The stored item before the write; None if there is none, or if it was not read.
    old: Item | None
    #: The item after the write; None if the write deletes it.
    new: Item | None
    #: The values of the new item, by attribute; if the old item was not read, those that are known.
    values: Values
    side_items: tuple[SideItem, ...] = ()
    counters: tuple[CounterChange, ...] = ()
    #: The links that it makes, and the keys of the items that must exist.
    links: tuple[tuple[LinkMap, Item], ...] = ()


def write_effect(
    entity: EntityMap,
    key: Item,
    old: Item | None,
    new: Item | None,
    values: Values,
    affected: Affected,
    audit: Audit | None = None,
) -> WriteEffect:
    """Return the effect of a write that changes `old` to `new`, an item with these values."""
    side_items: list[SideItem] = []
    counters: list[CounterChange] = []
    if affected.has_side_items:
        before = None if old is None else read_values(entity, old, affected.side_sources)
        after = None if new is None else values
        side_items += sentinel_items(entity, affected.uniques, before, after)
        if before is not None and after is not None and audit is not None:
            side_items += event_items(entity, affected.histories, before, after, audit)
        counters = counter_changes(affected.counters, before, after)
    links: tuple[tuple[LinkMap, Item], ...] = ()
    if affected.links and new is not None:
        names = frozenset[str]().union(*(link.names for link in affected.links))
        linked = None if old is None else read_values(entity, old, names)
        links = tuple(new_targets(affected.links, linked, values))
    return WriteEffect(entity, key, old, new, values, tuple(side_items), tuple(counters), links)


def read_values(entity: EntityMap, item: Mapping[str, Value], names: Iterable[str]) -> Values:
    """Decode some attributes of a stored item; raise UnreadableItem, as for a whole one."""
    values: dict[str, Any] = {}
    try:
        item = entity.opened(item)
        for name in names:
            attribute = entity.attributes.get(name)
            if attribute is not None:
                if attribute.is_key_only:
                    values[name] = entity.values(item)[name]
                    continue
                value = item.get(attribute.stored)
                values[name] = (
                    entity.value_if_absent(name)
                    if value is None
                    else attribute.converter.decode(value)
                )
    except UnreadableItem:
        entity.decode(item)  # raises the same, and names the item
        raise
    return values


def with_index_keys(
    entity: EntityMap, item: Item, values: Values, keys: Collection[IndexKeys]
) -> Item:
    """Return an item with the keys of these indexes as its values give them."""
    changed = dict(item)
    for key in keys:
        for name in key.composed:
            changed.pop(name, None)
    for key in keys:
        changed.update(key.compose(values) or {})
    if entity.only_in_indexes:
        entity.check_only_in_indexes(changed, values)
    return entity.keep_spelling(changed, item, values)


# -- side items -----------------------------------------------------------------------------------


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


def names_owner(entity: EntityMap, unique: UniqueMap) -> bool:
    """Return whether the sentinels of a unique value say which item they belong to."""
    return entity.primary.depends_on <= {kept.name for kept in unique.keeps}


def named_key(entity: EntityMap, unique: UniqueMap, found: Item) -> Item:
    """Return the key of the entity that a stored sentinel names; raise UnreadableItem."""
    names = entity.primary.depends_on
    # Others may have another name, in a sentinel of another version of the design.
    kept = [each for each in unique.keeps if each.name in names]
    return entity.key_of({each.name: each.converter.read(found, each.stored) for each in kept})


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
        if before is None or after is None or entity.table.key(before) == entity.table.key(after):
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
        values[name] = attribute.fit(value)
    return values
