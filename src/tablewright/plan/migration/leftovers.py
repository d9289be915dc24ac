"""Leftovers: what only the old version of a design needs, in the items of a table.

A rollback removes what the new version has added, and `complete` what the old one has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tablewright.design_description import EntityDescription, TableDesign
from tablewright.mapping.entity import EntityMap
from tablewright.plan.migration.moves import FormerTemplate
from tablewright.plan.migration.renames import FORMER_TYPE, Renames
from tablewright.values import Item


class Leftovers:
    """What only the old version of a design needs: attributes and items.

    With `deletes_removed`, the items of removed entities are deleted, and no longer own values.
    """

    def __init__(
        self, old: TableDesign, new: TableDesign, renames: Renames, *, deletes_removed: bool = False
    ) -> None:
        before, after = old.entities or {}, new.entities or {}
        self._type_attribute = new.type_attribute
        #: Items without a type are recognized by the keys of both versions.
        self._keys = [] if new.type_attribute else [*_keys(before), *_keys(after)]
        pairs = [
            (name, target)
            for name in before
            for target in renames.targets_of(name)
            if target in after
        ]
        #: By the type of items in the new version.
        self._attributes: dict[str, frozenset[str]] = {
            name: frozenset({FORMER_TYPE}) for name in renames.merged
        }
        for source, name in pairs:
            names = _stored_names(before[source]) - _stored_names(after[name])
            self._attributes[name] = self._attributes.get(name, frozenset()) | names
        #: The attributes whose values are lost, by the type of items: `Order.note`.
        self.lost_values = tuple(
            sorted(
                {
                    f"{name}.{attribute}"
                    for source, name in pairs
                    for attribute in before[source].attributes.keys() - after[name].attributes
                    if attribute not in renames.attributes.get((source, name), {}).values()
                }
            )
        )
        #: The types of the items that no version needs any more.
        self.removed_entities = frozenset(before) - frozenset(after) - frozenset(renames.targets)
        kept = {name: unique for each in after.values() for name, unique in each.uniques.items()}
        former = {
            renames.uniques.get(name, name): unique
            for each in before.values()
            for name, unique in each.uniques.items()
        }
        #: The types of sentinels that may reserve values which the new version reserves elsewhere,
        #: or not at all.
        self._former_sentinels = frozenset(
            each
            for source, target in pairs
            for name, unique in before[source].uniques.items()
            if after[target].uniques.get(renames.uniques.get(name, name)) != unique
            for each in (name, renames.uniques.get(name, name))
        )
        #: The attributes that only the old version keeps in sentinels, by the types of these.
        self._in_sentinels = {
            name: frozenset(former[name].keeps) - frozenset(unique.keeps)
            for name, unique in kept.items()
            if name in former
        }
        #: Those that programs of the old version do not keep.
        self._new_sentinels = frozenset(
            name for name, unique in kept.items() if former.get(name) != unique
        )
        removed = {name for each in self.removed_entities for name in before[each].uniques}
        self._removed_types = self.removed_entities | (removed - kept.keys())
        if deletes_removed:  # sentinels of both versions may have the same type
            self._former_sentinels |= removed & kept.keys()

    def __bool__(self) -> bool:
        return bool(
            any(self._attributes.values())
            or any(self._in_sentinels.values())
            or self.removed_entities
            or self._former_sentinels
        )

    def attributes_of(self, entity: EntityMap | None, item: Item) -> list[str]:
        """Return the attributes of an item that only the old version needs.

        Without an entity, the item may be a sentinel.
        """
        if entity is not None:
            return sorted(self._attributes.get(entity.type_name, frozenset()) & {*item})
        kept = (self._in_sentinels.get(each, frozenset()) for each in self._types(item))
        return sorted(frozenset().union(*kept) & {*item})

    def is_of_removed_entity(self, item: Item, *, is_known: bool) -> bool:
        """Return whether an item is of an entity that only the old version has, or its sentinel.

        `is_known` says whether the new version has such a key: then only a type tells.
        """
        if is_known and not self._type_attribute:
            return False
        return not self._removed_types.isdisjoint(self._types(item))

    def is_former_sentinel(self, item: Item) -> bool:
        """Return whether an item is a sentinel that the new version may not need."""
        return not self._former_sentinels.isdisjoint(self._types(item))

    def is_new_sentinel(self, item: Item) -> bool:
        """Return whether an item is a sentinel that only the new version keeps."""
        return not self._new_sentinels.isdisjoint(self._types(item))

    def _types(self, item: Item) -> list[str]:
        if not self._type_attribute:
            has = {name: item.get(name, {}) for _, key in self._keys for name, _ in key}
            return [kind for kind, key in self._keys if all(t.matches(has[n]) for n, t in key)]
        value = item.get(self._type_attribute, {})
        if "L" in value:
            return [each["S"] for each in value["L"] if "S" in each]
        return [value["S"]] if "S" in value else list(value.get("SS", ()))


_Key: TypeAlias = list[tuple[str, FormerTemplate]]


def _keys(entities: Mapping[str, EntityDescription]) -> Iterator[tuple[str, _Key]]:
    """Yield the types of items and sentinels, and the keys that they have in the table."""
    for name, entity in entities.items():
        uniques = ((unique, each.key) for unique, each in entity.uniques.items())
        for kind, key in ((name, entity.key), *uniques):
            yield kind, [(each.name, FormerTemplate(each)) for each in key.templates]


def _stored_names(entity: EntityDescription) -> frozenset[str]:
    """Return the attributes that items of an entity can have, except the primary key."""
    keys = {
        each.name for place in entity.places.values() for key in place for each in key.templates
    }
    primary = {each.name for each in entity.key.templates}
    return frozenset({*entity.attributes, *keys} - primary)
