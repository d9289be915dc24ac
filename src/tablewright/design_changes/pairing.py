"""Pairing: which parts of two versions of a design are the same part.

Tables are paired by name, entities by the type of their items, attributes by their stored name, or
by `renamed_from`. A rename is never guessed: without `renamed_from`, one part is removed and
another one added. A split entity is paired with each of its parts, a merged one with each of the
entities that it is made of. In a table without a type attribute, an entity is recognized by its
key, so there entities are also paired by equal keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from tablewright.design_description import (
    AttributeDescription,
    EntityDescription,
    HistoryDescription,
    UniqueDescription,
    show_key,
)

D = TypeVar("D")
#: For each renamed entity or attribute: its earlier name, and its new one.
Names: TypeAlias = Mapping[str, str]
#: By the new type of items: their former types.
FormerTypes: TypeAlias = Mapping[str, tuple[str, ...]]
#: By the former and the new type of items: their renamed attributes.
AttributeNames: TypeAlias = Mapping[tuple[str, str], Names]


def pair_parts(
    old: Mapping[str, D], new: Mapping[str, D]
) -> Iterator[tuple[str, D | None, D | None]]:
    """Yield the parts of two versions in the order of their names; None for a missing one."""
    for name in sorted({*old, *new}):
        yield name, old.get(name), new.get(name)


def find_renames(
    old: Mapping[str, AttributeDescription], new: Mapping[str, AttributeDescription]
) -> dict[str, str]:
    """Return the new names of renamed attributes, by their earlier names.

    What several attributes claim, or an attribute that claims several, is not renamed.
    """
    claims = {
        name: [former for former in each.former_names if former in old]
        for name, each in new.items()
        if name not in old
    }
    claimed = Counter(former for formers in claims.values() for former in formers)
    return {
        formers[0]: name
        for name, formers in claims.items()
        if len(formers) == 1 and formers[0] not in new and claimed[formers[0]] == 1
    }


def find_former_types(
    old: Mapping[str, EntityDescription], new: Mapping[str, EntityDescription]
) -> dict[str, tuple[str, ...]]:
    """Return the former types of renamed, split and merged entities, by their new types."""
    found = {
        name: tuple(former for former in each.former_types if former in old and former not in new)
        for name, each in new.items()
        if name not in old
    }
    return {name: formers for name, formers in found.items() if formers}


def add_equal_keys(
    old: Mapping[str, EntityDescription],
    new: Mapping[str, EntityDescription],
    formers: FormerTypes,
) -> dict[str, tuple[str, ...]]:
    """Add the entities with equal keys: without a known type, an item is recognized by its key."""
    known = {*variants_of(old), *variants_of(new), *new}.union(*formers.values())
    added = {
        show_key(each.key): name
        for name, each in new.items()
        if name not in old and name not in formers
    }
    removed = {name: show_key(each.key) for name, each in old.items() if name not in known}
    return {added[key]: (name,) for name, key in removed.items() if key in added} | dict(formers)


def variants_of(entities: Mapping[str, EntityDescription]) -> set[str]:
    """Return the entities that share their keys with others."""
    keys = Counter(show_key(each.key) for each in entities.values())
    return {name for name, each in entities.items() if keys[show_key(each.key)] > 1}


def with_new_names(entity: EntityDescription, names: Names) -> EntityDescription:
    """Return an entity whose attributes have other names, also in its keys."""
    if not names:
        return entity

    def rename(name: str) -> str:
        return names.get(name, name)

    return replace(
        entity,
        attributes={rename(name): each for name, each in entity.attributes.items()},
        key=entity.key.renamed(names),
        places={
            name: tuple(sorted((each.renamed(names) for each in keys), key=show_key))
            for name, keys in entity.places.items()
        },
        uniques={
            name: UniqueDescription(each.key.renamed(names), tuple(sorted(map(rename, each.keeps))))
            for name, each in entity.uniques.items()
        },
        histories={
            rename(name): tuple(
                replace(each, sources={n: rename(source) for n, source in each.sources.items()})
                for each in histories
            )
            for name, histories in entity.histories.items()
        },
    )


def with_new_events(
    entity: EntityDescription, types: Names, attributes: AttributeNames
) -> EntityDescription:
    """Return an entity whose histories write events with other names."""

    def rename(history: HistoryDescription) -> HistoryDescription:
        event = types.get(history.event, history.event)
        names = attributes.get((history.event, event), {})
        sources = {names.get(name, name): source for name, source in history.sources.items()}
        return HistoryDescription(event, sources, history.always)

    return replace(
        entity,
        histories={name: tuple(map(rename, each)) for name, each in entity.histories.items()},
    )


def with_new_children(
    entity: EntityDescription, names: Names, types: Names, attributes: AttributeNames
) -> EntityDescription:
    """Return an entity, whose own attributes have new names, with counters of renamed children."""
    if not entity.counters:
        return entity
    renamed = {}
    for name, each in entity.counters.items():
        pairs = ((former, types.get(former, former)) for former in each.child)
        theirs = {old: new for pair in pairs for old, new in attributes.get(pair, {}).items()}
        renamed[names.get(name, name)] = each.renamed(names, theirs, types)
    return replace(entity, counters=renamed)
