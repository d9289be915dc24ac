"""Relations of an item: what it belongs to, what belongs to it, what refers to what.

    belongs to       its parent, whose key its own extends, and what its attributes refer to
    has              its children, and what refers to it by an attribute
    history          the events of its attributes
    reserves         the sentinels of its unique values; of a sentinel, its entity

The relations between entities are those of the entity-relationship diagram. Each becomes one
lookup, or none if no key serves it. This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from tablewright.mapping.attributes import HistoryMap, UniqueMap
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.plan.writes.effect import sentinel
from tablewright.plan.writes.followers import followers
from tablewright.presentation.erd import Relation, erd
from tablewright.presentation.keys import key_text, parser
from tablewright.studio.items.reading import Lookup, lookup
from tablewright.table_description import TableDescription
from tablewright.values import Item

Direction: TypeAlias = Literal["belongs to", "has"]


class Related(Struct, frozen=True):
    """Another entity that an item has to do with."""

    direction: Direction
    entity: EntityMap
    #: The attribute that refers to the other one; "" for an item collection.
    attribute: str
    #: None if no key finds the items.
    lookup: Lookup | None


class Event(Struct, frozen=True):
    """The events of a history of an item."""

    history: HistoryMap
    lookup: Lookup | None


class Reserved(Struct, frozen=True):
    """A unique value of an item, and the key of its sentinel; None if it has no value."""

    unique: UniqueMap
    key: Item | None


def relations_of(description: TableDescription, entity: EntityMap, values: Values) -> list[Related]:
    """Return the relations of an item with these values."""
    events = {history.event.name for history in entity.histories}
    found = [
        related
        for source, target, each in _relations(entity.table)
        if (related := _related(description, entity, values, source, target, each)) is not None
        and related.entity.name not in events
    ]
    return sorted(found, key=lambda each: each.direction)


def _related(
    description: TableDescription,
    entity: EntityMap,
    values: Values,
    source: EntityMap,
    target: EntityMap,
    relation: Relation,
) -> Related | None:
    """Return a relation of the diagram, seen from an entity; None if it has no part in it."""
    if relation.is_below:
        follows = next(each.follows for each in followers(source) if each.entity is target)
        if entity is source:
            known = {child: values[parent] for child, parent in follows.items()}
            return Related("has", target, "", lookup(description, target, known, known))
        if entity is target:
            known = {parent: values[child] for child, parent in follows.items()}
            return Related("belongs to", source, "", lookup(description, source, known))
        return None
    own_id, label = source.primary.parameters[-1].attribute, relation.attribute
    if entity is target:
        if values[label] is None:
            return None
        known = _shared(source, values) | {own_id: values[label]}
        return Related("belongs to", source, label, lookup(description, source, known, (own_id,)))
    if entity is source:
        known = _shared(target, values) | {label: values[own_id]}
        return Related("has", target, label, lookup(description, target, known, (label,)))
    return None


def _shared(entity: EntityMap, values: Values) -> Values:
    """Return the values for the key of another entity that have the same name and end with _id.

    `customer_id` is the same in an order and in its events; `id` is not.
    """
    names = {part.attribute for part in entity.primary.parameters}
    return {name: values[name] for name in names if name in values and name.endswith("_id")}


@cache
def _relations(table: TableMap) -> list[tuple[EntityMap, EntityMap, Relation]]:
    """Return the relations of the diagram between entities, not those with embedded models."""
    by_name = {entity.name: entity for entity in table.entities}
    diagram = erd(table.entities)
    nodes = {node.name: by_name[node.entity] for node in diagram.nodes if node.entity in by_name}
    return [
        (nodes[each.source], nodes[each.target], each)
        for each in diagram.relations
        if each.source in nodes and each.target in nodes and (each.is_below or each.attribute)
    ]


def events_of(description: TableDescription, entity: EntityMap, values: Values) -> list[Event]:
    """Return the lookups of the events of an item's histories, the newest first."""
    found = []
    for history in entity.histories:
        known = {
            name: values[source]
            for name, source in history.sources.items()
            if not source.startswith(":")
        }
        in_key = known.keys() & history.event.primary.depends_on
        found.append(
            Event(history, lookup(description, history.event, known, in_key, descending=True))
        )
    return found


def reserved_by(entity: EntityMap, values: Values) -> list[Reserved]:
    """Return the unique values of an item, with the keys of their sentinels."""
    found = []
    for unique in entity.uniques:
        item = sentinel(entity, unique, values)
        found.append(Reserved(unique, None if item is None else entity.table.key(item)))
    return found


def owner_of(description: TableDescription, kind: ItemKind, item: Item) -> Lookup | None:
    """Return the lookup of the item whose unique value a sentinel reserves."""
    if kind.entity is None or kind.unique is None:
        return None
    known = {
        each.name: each.converter.decode(item[each.stored])
        for each in kind.unique.keeps
        if each.stored in item
    } | dict(_key_values(kind, item))
    return lookup(description, kind.entity, known)


def _key_values(kind: ItemKind, item: Item) -> Iterator[tuple[str, object]]:
    assert kind.unique is not None
    key = kind.unique.key
    for name in key.attributes:
        texts = parser(key, name).texts(key_text(item[name]))
        for part, text in zip(key.templates[name].parts, texts or (), strict=False):
            if part.notation.derive is None:
                yield part.attribute, part.read(text)
