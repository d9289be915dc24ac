"""Compiled tables: the entities of a table, and which of them can share a partition.

A `TableMap` knows all entities of a table. It decides whether a query needs a bound or a filter to
exclude other entities, which entity an item belongs to, and whether two entities can have the same
key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.mapping.delimiter import Delimiter
from tablewright.mapping.entity import EntityMap, content_of
from tablewright.mapping.key_condition import after
from tablewright.mapping.keys import IndexMap, KeyMap, NextPart
from tablewright.mapping.language import (
    NOTHING,
    Language,
    intersects,
    literal,
    sequence,
    to_regex,
)
from tablewright.mapping.template import Template, can_begin_with
from tablewright.values import Item, Value


class TableMap:
    """A compiled table and its entities."""

    def __init__(
        self,
        owner: str,
        name: str,
        attributes: tuple[str, str | None],
        type_attribute: str | None,
        indexes: dict[str, IndexMap],
        delimiter: Delimiter = Delimiter.DEFAULT,
    ) -> None:
        #: The name of the class that declares the table.
        self.owner = owner
        self.name = name
        self.attributes = attributes
        self.type_attribute = type_attribute
        self.indexes = indexes
        #: What separates the parts of keys that do not name another.
        self.delimiter = delimiter
        self.entities: list[EntityMap] = []
        #: The access patterns of the table, by module and qualified name.
        self.patterns: dict[str, Any] = {}
        #: The type of every key attribute that the entities declared so far have.
        self.key_types: dict[str, str] = {}
        self._type_names: set[str] = set()
        self._by_type: dict[str, EntityMap] = {}
        self._recognizers: list[tuple[re.Pattern[str], re.Pattern[str], EntityMap]] = []
        self._exclusive: dict[KeyMap, bool] = {}
        self._shared: dict[tuple[KeyMap, int], bool] = {}

    def add(self, entity: EntityMap) -> None:
        """Add an entity; raise DeclarationError if its items can be confused with another's."""
        types = [entity.type_name, *(unique.type_name for unique in entity.uniques)]
        for name in types:
            if name in self._type_names or types.count(name) > 1:
                raise DeclarationError(
                    f"{entity.name}: {self.owner} already has items of type {name!r}; give one of "
                    "the two another type_name=…"
                )
        keys = [entity.primary, *(unique.key for unique in entity.uniques)]
        others = [
            key
            for other in self.entities
            for key in (other.primary, *(unique.key for unique in other.uniques))
        ]
        for position, key in enumerate(keys):
            for theirs in (*keys[:position], *others):
                self._refuse_collision(key, theirs)
        self._check_types(entity)
        self.entities.append(entity)
        self._type_names.update(types)
        self._by_type[entity.type_name] = entity
        self._recognizers.append((*_recognizers(entity.primary), entity))
        self._exclusive.clear()
        self._shared.clear()

    def _check_types(self, entity: EntityMap) -> None:
        """Raise DeclarationError if a key attribute has another type in another entity."""
        keys = {*self.attributes, *(n for index in self.indexes.values() for n in index.attributes)}
        templates = [
            *(pair for each in entity.templates() for pair in each.items()),
            *(
                each
                for unique in entity.uniques
                for each in entity.sentinel_templates(unique).items()
            ),
        ]
        for name, template in templates:
            if name in keys:
                tag = template.tag if template.natural is None else template.natural.tag
                known = self.key_types.setdefault(name, tag or "S")
                if known != tag:
                    raise DeclarationError(
                        f"{entity.name}: the key attribute {name!r} of {self.owner} has type {tag} "
                        f"here and type {known} in other entities; declare it with one type"
                    )

    def _refuse_collision(self, key: KeyMap, theirs: KeyMap) -> None:
        if key.can_equal(key.attributes, theirs.templates):
            raise DeclarationError(
                f"{key.name}: {key.show()} can be the same key as {theirs.name}: "
                f"{theirs.show()}; begin each of them with its own literal"
            )

    def entity_of(self, item: Mapping[str, Value]) -> EntityMap | None:
        """Return the entity of an item, by its type attribute or by its key."""
        if self.type_attribute is not None and self.type_attribute in item:
            return self._by_type.get(item[self.type_attribute].get("S", ""))
        partition, sort = (content_of(item, name) if name else "" for name in self.attributes)
        for first, second, entity in self._recognizers:
            if first.fullmatch(partition) and second.fullmatch(sort):
                return entity
        return None

    def key(self, item: Mapping[str, Value]) -> Item:
        """Return the key of an item."""
        return {name: item[name] for name in self.attributes if name is not None}

    def is_exclusive(self, key: KeyMap) -> bool:
        """Return whether the partitions of this key contain only this entity, now and later.

        A partition of the table that belongs to an owner (`USER#{id}`) is never exclusive: other
        entities of that owner may be added later, so a query there is bounded from the start.
        """
        if key not in self._exclusive:
            self._exclusive[key] = not (key.index is None and key.partition.parts) and not any(
                key.can_equal(key.partition_attributes, other) for other in self._others(key)
            )
        return self._exclusive[key]

    def may_contain_others(self, key: KeyMap, bound: int) -> bool:
        """Return whether a query with `bound` arguments can return items of other entities."""
        facts = self._shared
        if (key, bound) not in facts:
            determined, following = key.determined(bound), key.next_part(bound)
            facts[key, bound] = any(
                key.can_equal(determined, other)
                and (following is None or _can_follow(following, other[following.attribute]))
                for other in self._others(key)
            )
        return facts[key, bound]

    def _others(self, key: KeyMap) -> list[dict[str, Template]]:
        """Return the templates of all other items that are in the same index.

        DynamoDB adds an item to every index whose key attributes it has, even if its entity does
        not declare that.
        """
        holders = []
        for entity in self.entities:
            holders += entity.templates(other_than=key)
            holders += [entity.sentinel_templates(unique) for unique in entity.uniques]
        return [each for each in holders if all(name in each for name in key.attributes)]


def _can_follow(following: NextPart, other: Template) -> bool:
    """Return whether a query of a range of this part can match another template's values."""
    beginning = following.template.language(last=following.position)
    return can_begin_with(other, beginning) or intersects(other.language(), _end(following))


def _end(following: NextPart) -> Language:
    """Return the upper bounds of the sort keys, which BETWEEN includes: `ORDER$`."""
    before = following.template.pieces[: following.position]
    if not before or not isinstance(before[-1], str):
        return NOTHING
    return sequence(following.template.language(last=len(before) - 1), literal(after(before[-1])))


def _recognizers(key: KeyMap) -> tuple[re.Pattern[str], re.Pattern[str]]:
    templates = (key.partition, key.sort)
    first, second = (
        re.compile("" if each is None else to_regex(each.language()), re.DOTALL)
        for each in templates
    )
    return first, second
