"""Pairing: which parts of two versions of a design are the same part.

Tables are paired by name, entities by the type of their items, attributes by their stored name, or
by `renamed_from`. A rename is never guessed: without `renamed_from`, one part is removed and
another one added. In a table without a type attribute, an entity is recognized by its key, so there
entities are also paired by equal keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from tablewright.design_description import (
    EntityDescription,
    HistoryDescription,
    UniqueDescription,
    show_key,
)

D = TypeVar("D")
#: For each renamed entity or attribute: its earlier name, and its new one.
Names: TypeAlias = Mapping[str, str]


def pair_parts(
    old: Mapping[str, D], new: Mapping[str, D]
) -> Iterator[tuple[str, D | None, D | None]]:
    """Yield the parts of two versions in the order of their names; None for a missing one."""
    for name in sorted({*old, *new}):
        yield name, old.get(name), new.get(name)


def find_renames(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the new names of renamed parts, by their earlier names."""
    claims = Counter(each.renamed_from for name, each in new.items() if name not in old)
    return {
        each.renamed_from: name
        for name, each in new.items()
        if name not in old
        and each.renamed_from in old
        and each.renamed_from not in new
        and claims[each.renamed_from] == 1
    }


def add_equal_keys(
    old: Mapping[str, EntityDescription], new: Mapping[str, EntityDescription], renamed: Names
) -> dict[str, str]:
    """Add the entities with equal keys: without a known type, an item is recognized by its key."""
    variants = variants_of(old) | variants_of(new)
    added = {show_key(each.key): name for name, each in new.items() if name not in old}
    removed = {
        name: show_key(each.key)
        for name, each in old.items()
        if name not in new and name not in variants
    }
    return {name: added[key] for name, key in removed.items() if key in added} | dict(renamed)


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
    entity: EntityDescription, types: Names, attributes: Mapping[str, Names]
) -> EntityDescription:
    """Return an entity whose histories write events with other names."""

    def rename(history: HistoryDescription) -> HistoryDescription:
        event = types.get(history.event, history.event)
        names = attributes.get(event, {})
        sources = {names.get(name, name): source for name, source in history.sources.items()}
        return HistoryDescription(event, sources, history.always)

    return replace(
        entity,
        histories={name: tuple(map(rename, each)) for name, each in entity.histories.items()},
    )
