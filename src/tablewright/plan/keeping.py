"""What is kept in step with an entity: sentinels for unique values, and history.

Both are items of their own, written in the same transaction as the entity. A sentinel exists
exactly while an entity has the value; an event is written when an attribute changes, and never
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tablewright.errors import AlreadyExists, InvalidValue, UniqueViolation
from tablewright.mapping.entity import EntityMap, HistoryMap, UniqueMap
from tablewright.plan.guard import Conditions, refusal
from tablewright.plan.write import Action, Verdict
from tablewright.values import Item


def sentinel(entity: EntityMap, unique: UniqueMap, values: Mapping[str, Any]) -> Item | None:
    """The sentinel of an entity with these values; None where the value is absent."""
    item = unique.key.compose(values)
    if item is None:
        return None
    if entity.table.type_attribute is not None:
        item[entity.table.type_attribute] = {"S": unique.type_name}
    for attribute in unique.keeps:
        value = attribute.converter.stored(values[attribute.name])
        if value is not None:
            item[attribute.stored] = value
    return item


def sentinel_actions(
    entity: EntityMap, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, key: Item
) -> list[Action]:
    """What moves an entity's sentinels from its old values to its new ones."""
    actions = []
    for unique in entity.uniques:
        before = None if old is None else sentinel(entity, unique, old)
        after = None if new is None else sentinel(entity, unique, new)
        if before == after:
            continue
        same = (
            before is not None
            and after is not None
            and entity.table.key(before) == entity.table.key(after)
        )
        if before is not None and not same:
            actions.append(_give_up(entity, before))
        if after is not None:
            actions.append(_take(entity, unique, after, key, owned=same))
    return actions


def _give_up(entity: EntityMap, item: Item) -> Action:
    def failed(_: Item | None) -> Verdict:
        return None

    return Action("Delete", entity.table, {"Key": entity.table.key(item)}, failed, sentinel=True)


def _take(entity: EntityMap, unique: UniqueMap, item: Item, key: Item, *, owned: bool) -> Action:
    conditions = Conditions()
    if not owned:
        conditions.not_exists(entity.table)
    shown = ", ".join(
        f"{name} {next(iter(item[entity.attributes[name].stored].values()))!r}"
        if entity.attributes[name].stored in item
        else name
        for name in sorted(unique.key.depends_on)
    )

    def failed(_: Item | None) -> Verdict:
        why = f"another {entity.name} has the {shown}; {unique.key.name} keeps it unique"
        return refusal(UniqueViolation, entity, key, None, why)

    return Action("Put", entity.table, conditions.into({"Item": item}), failed, sentinel=True)


def event_actions(
    entity: EntityMap,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    at: datetime,
    by: Any,
    reason: Any,
) -> list[Action]:
    """The events of the attributes that change."""
    actions = []
    for history in entity.histories:
        if old[history.attribute] != new[history.attribute]:
            event = _event(entity, history, old, new, {"at": at, "by": by, "reason": reason})
            actions.append(_append(history.event, event))
    return actions


def _event(
    entity: EntityMap,
    history: HistoryMap,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    told: dict[str, Any],
) -> dict[str, Any]:
    told["old"], told["new"] = old[history.attribute], new[history.attribute]
    if entity.version is not None:
        told["old_version"], told["version"] = old[entity.version.name], new[entity.version.name]
    values: dict[str, Any] = {}
    for name, attribute in history.event.attributes.items():
        source = history.sources.get(name)
        if source is None:
            values[name] = None if attribute.default is None else attribute.default()
        else:
            values[name] = told[source[1:]] if source.startswith(":") else new[source]
            if values[name] is None and attribute.default is not None:
                values[name] = attribute.default()
        if values[name] is None and not attribute.converter.optional:
            raise InvalidValue(
                f"{history.event.name}.{name} has no value; give it with the update: "
                f"….audit({'by' if source == ':by' else 'reason'}=…)"
            )
    return values


def _append(event: EntityMap, values: dict[str, Any]) -> Action:
    conditions = Conditions()
    conditions.not_exists(event.table)
    item = event.encode(values)
    key = event.table.key(item)

    def failed(item: Item | None) -> Verdict:
        return refusal(AlreadyExists, event, key, item, "this event has been written before")

    return Action("Put", event.table, conditions.into({"Item": item}), failed)
