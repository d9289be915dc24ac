"""Visibility: which queries of one version of a design read items that it does not know.

A query that reads an item of an unknown type only reports it. Where the type is not stored, or not
projected into the index, or where variants share the key of the item, the query fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from tablewright.design_changes.change import DesignChange
from tablewright.design_changes.kinds import Reading
from tablewright.design_changes.pairing import variants_of
from tablewright.design_description import (
    EntityDescription,
    KeyDescription,
    TableDesign,
    TemplateDescription,
    UniqueDescription,
)

#: How kinds begin after which items have other key attributes.
_STORING = ("attribute-", "required-attribute-", "place-", "index-", "primary-")
#: What an item stores under each name: a template, or None for an attribute with any value.
_Stored: TypeAlias = Mapping[str, list[TemplateDescription | None]]


class Reader:
    """A version of a table that may read items of another version."""

    def __init__(self, table: TableDesign, type_attribute: str) -> None:
        """The type attribute is "" if the other version stores none, or another one."""
        self._entities: Mapping[str, EntityDescription] = table.entities or {}
        self._is_typed = bool(type_attribute)
        #: The indexes that do not show the type of an item.
        self._untyped = {
            name
            for name, index in table.indexes.items()
            if not type_attribute
            or (
                index.projection != "ALL"
                and type_attribute not in (*index.include, *index.keys.schema.names)
            )
        }

    def fails_for_entity(
        self, name: str, entity: EntityDescription, others: Mapping[str, EntityDescription]
    ) -> bool:
        """Return whether reads may fail because of items of an entity, which `others` has, too."""
        return (
            name in variants_of(others)
            or self._reads(_stored_by_entity(entity))
            or any(map(self.fails_for_sentinels, entity.uniques.values()))
        )

    def fails_for_sentinels(self, unique: UniqueDescription) -> bool:
        """Return whether reads may fail because of the sentinels of a unique value."""
        return self._reads(_stored_by_sentinel(unique))

    def fails_for_places(self, name: str, entity: EntityDescription) -> bool:
        """Return whether queries of others may read items of the entity `name`, and did not before.

        `entity` is the other version of it.
        """
        known = self._reads(_stored_by_entity(self._entities[name]), without=name)
        return not known and self._reads(_stored_by_entity(entity), without=name)

    def _reads(self, stored: _Stored, without: str = "") -> bool:
        """Return whether a query of an entity may read an item and not see its type.

        A query of the table is bounded by the literal of its sort key if other entities may be in
        its partition; one of an index, or of a partition that is a literal, may not be.
        """
        return any(
            self._reads_by(entity, stored)
            for name, entity in self._entities.items()
            if name != without
        )

    def _reads_by(self, entity: EntityDescription, stored: _Stored) -> bool:
        templates = entity.key.templates
        compared = templates if templates[0].parts else templates[:1]
        if not self._is_typed and _may_match(stored, entity.key, compared):
            return True
        return any(
            _may_match(stored, key, key.templates[:1])
            for index, places in entity.places.items()
            if index in self._untyped
            for key in places
        )


def _may_match(
    stored: _Stored, key: KeyDescription, compared: Iterable[TemplateDescription]
) -> bool:
    """Return whether an item may have a key that equals some templates of another key."""
    return all(each.name in stored for each in key.templates) and all(
        any(_may_be_equal(own, each) for own in stored[each.name]) for each in compared
    )


def _stored_by_entity(entity: EntityDescription) -> _Stored:
    stored: dict[str, list[TemplateDescription | None]] = {
        name: [None] for name in entity.attributes
    }
    keys = (entity.key, *(each for places in entity.places.values() for each in places))
    for key in keys:
        for template in key.templates:
            stored.setdefault(template.name, []).append(template)
    return stored


def _stored_by_sentinel(unique: UniqueDescription) -> _Stored:
    stored: dict[str, list[TemplateDescription | None]] = {name: [None] for name in unique.keeps}
    for template in unique.key.templates:
        stored[template.name] = [template]
    return stored


def _may_be_equal(one: TemplateDescription | None, other: TemplateDescription) -> bool:
    """Return whether two key attributes may have equal values, by the literals that begin them."""
    if one is None:
        return True
    first, second = (each.pieces[0] if each.pieces else "" for each in (one, other))
    if not isinstance(first, str) or not isinstance(second, str):
        return True
    return first.startswith(second) or second.startswith(first)


def with_unknown_items(
    found: Iterable[DesignChange],
    old: TableDesign,
    new: TableDesign,
    name: str,
    type_attribute: str,
) -> Iterator[DesignChange]:
    """Yield the changes of an entity, each with what follows from items where they were not.

    `name` is that of the entity in the old version.
    """
    before, after = old.entities or {}, new.entities or {}
    old_reader, new_reader = (Reader(each, type_attribute) for each in (old, new))
    for each in found:
        fails = [False, False]
        kind = each.kind.name
        if kind in ("unique-added", "unique-changed"):
            unique = after[each.entity].uniques[each.part]
            fails[1] = old_reader.fails_for_sentinels(unique)
        if kind in ("unique-removed", "unique-changed"):
            fails[0] = new_reader.fails_for_sentinels(before[name].uniques[each.part])
        if kind.startswith(_STORING):
            fails[0] = new_reader.fails_for_places(each.entity, before[name])
            fails[1] = old_reader.fails_for_places(name, after[each.entity])
        reads = (
            Reading.FAILS if fails[0] else each.new_reads,
            Reading.FAILS if fails[1] else each.old_reads,
        )
        yield replace(each, reads=reads) if any(fails) else each
