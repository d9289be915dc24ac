"""Tables, compiled: the entities in one, and so what else can be in a partition.

A `TableMap` knows all entities of a table: whether a query needs a bound or a filter to keep others
out, which entity an item is, and whether two of them could have the same key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.mapping.entity import EntityMap, content_of
from tablewright.mapping.keys import IndexMap, KeyMap, Template, overlap, shares_beginning
from tablewright.mapping.parts import Part
from tablewright.values import Item, Value


class TableMap:
    """A compiled table, and the entities in it."""

    def __init__(
        self,
        owner: str,
        name: str,
        attributes: tuple[str, str | None],
        type_attribute: str | None,
        indexes: dict[str, IndexMap],
    ) -> None:
        #: The name of the class that declares it.
        self.owner = owner
        self.name = name
        self.attributes = attributes
        self.type_attribute = type_attribute
        self.indexes = indexes
        self.entities: list[EntityMap] = []
        #: The patterns that read or write them, by where they are defined.
        self.patterns: dict[str, Any] = {}
        #: Every key attribute that entities have shown so far, with its type.
        self.key_types: dict[str, str] = {}
        self._type_names: set[str] = set()
        self._by_type: dict[str, EntityMap] = {}
        self._recognisers: list[tuple[re.Pattern[str], re.Pattern[str], EntityMap]] = []
        self._alone: dict[KeyMap, bool] = {}
        self._mixed: dict[tuple[KeyMap, int], bool] = {}

    def add(self, entity: EntityMap) -> None:
        """Take an entity in; an error if its items could be taken for another's."""
        types = [entity.type_name, *(unique.type_name for unique in entity.uniques)]
        for name in types:
            if name in self._type_names or types.count(name) > 1:
                raise DeclarationError(
                    f"{entity.name}: {self.owner} has items of type {name!r} already; give one of "
                    "them type_name=…"
                )
        keys = [entity.primary, *(unique.key for unique in entity.uniques)]
        others = [
            key
            for other in self.entities
            for key in (other.primary, *(unique.key for unique in other.uniques))
        ]
        for position, key in enumerate(keys):
            for theirs in (*keys[:position], *others):
                self._refuse_overlap(key, theirs)
        self._check_types(entity)
        self.entities.append(entity)
        self._type_names.update(types)
        self._by_type[entity.type_name] = entity
        self._recognisers.append((*_recognisers(entity.primary), entity))
        self._alone.clear()
        self._mixed.clear()

    def _check_types(self, entity: EntityMap) -> None:
        """A key attribute has one type, whatever entity it is on."""
        keys = {*self.attributes, *(n for index in self.indexes.values() for n in index.attributes)}
        for name, template in entity.templates().items():
            if name in keys:
                tag = "S" if template.natural is None else template.natural.tag
                known = self.key_types.setdefault(name, tag or "S")
                if known != tag:
                    raise DeclarationError(
                        f"{entity.name}: {name!r} is a key of {self.owner}, of type {known} on "
                        f"other entities and {tag} here; a key attribute has one type"
                    )

    def _refuse_overlap(self, key: KeyMap, theirs: KeyMap) -> None:
        if overlap(key.partition, theirs.partition) and (
            key.sort is None or theirs.sort is None or overlap(key.sort, theirs.sort)
        ):
            raise DeclarationError(
                f"{key.name}: {key.show()} can be the same key as {theirs.name}: "
                f"{theirs.show()}; begin one of them with a literal of its own"
            )

    def entity_of(self, item: Mapping[str, Value]) -> EntityMap | None:
        """The entity that an item is: by its type, or by its key."""
        if self.type_attribute is not None and self.type_attribute in item:
            return self._by_type.get(item[self.type_attribute].get("S", ""))
        partition, sort = (content_of(item, name) if name else "" for name in self.attributes)
        for first, second, entity in self._recognisers:
            if first.fullmatch(partition) and second.fullmatch(sort):
                return entity
        return None

    def key(self, item: Mapping[str, Value]) -> Item:
        """The key of an item."""
        return {name: item[name] for name in self.attributes if name is not None}

    def alone(self, key: KeyMap) -> bool:
        """Whether the partitions of this key are for this entity alone, now and later.

        A partition of the table that belongs to something (`USER#{id}`) is where other things of
        it will be put some day; a query there says what it wants from the start.
        """
        if key not in self._alone:
            self._alone[key] = not (key.index is None and key.partition.parts) and not any(
                overlap(key.partition, partition) for partition, _ in self._others(key)
            )
        return self._alone[key]

    def mixed(self, key: KeyMap, bound: int) -> bool:
        """Whether a query with this many arguments bound can return items of other entities."""
        facts = self._mixed
        if (key, bound) not in facts:
            segments = [] if key.sort is None else _beginning(key, key.sort, bound)
            facts[key, bound] = any(
                overlap(key.partition, partition)
                and (sort is None or shares_beginning(segments, sort))
                for partition, sort in self._others(key)
            )
        return facts[key, bound]

    def _others(self, key: KeyMap) -> list[tuple[Template, Template | None]]:
        """The keys that all other items have in the same index: DynamoDB puts an item into every
        index whose key attributes it has, whether its entity declares that or not."""
        holders = []
        for entity in self.entities:
            if key is not entity.primary and key not in entity.indexes:
                holders.append(entity.templates())
            holders += [entity.sentinel_templates(unique) for unique in entity.uniques]
        partition, sort = key.attributes
        return [
            (templates[partition], None if sort is None else templates[sort])
            for templates in holders
            if partition in templates and (sort is None or sort in templates)
        ]


def _beginning(key: KeyMap, sort: Template, bound: int) -> list[str | Part]:
    """The segments that a query fixes when this many arguments are bound."""
    following = key.next_part(bound)
    segments: list[str | Part] = []
    for segment in sort.segments:
        if segment is following:
            break
        segments.append(segment)
    return segments


def _recognisers(key: KeyMap) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sort = "" if key.sort is None else key.sort.pattern()
    return re.compile(key.partition.pattern(), re.DOTALL), re.compile(sort, re.DOTALL)
