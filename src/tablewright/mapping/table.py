"""Compiled tables: the entities of a table, and which of them can share a partition.

A `TableMap` knows all entities of a table. It decides whether a query needs a bound or a filter to
exclude other entities, what a stored item is, and whether two entities can have the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, Literal, TypeAlias

from tablewright.errors import (
    DeclarationError,
    DecryptionFailed,
    TablewrightError,
    UnreadableItem,
)
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.counters import AwaitedCounter
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import (
    INDEX_RECORD,
    RECORD_NAME,
    UNKNOWN,
    ItemKind,
    content_of,
    is_record,
)
from tablewright.mapping.key_condition import after
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.keys import IndexMap, KeyMap, NextPart
from tablewright.mapping.language import NOTHING, Language, intersects, literal, sequence
from tablewright.mapping.links import AwaitedLink
from tablewright.mapping.table_settings import TableSettings
from tablewright.mapping.template import Parser, Template, can_begin_with
from tablewright.values import Item, Value

TypeForm: TypeAlias = Literal["text", "set", "list"]
Match: TypeAlias = Callable[[str], bool]


@dataclass(eq=False, repr=False)
class TableMap:
    """A compiled table and its entities."""

    #: The name of the class that declares the table.
    owner: str
    name: str
    attributes: tuple[str, str | None]
    type_attribute: str | None
    indexes: dict[str, IndexMap]
    #: The delimiter of keys that do not declare their own.
    delimiter: Delimiter = Delimiter.DEFAULT
    #: Whether the type attribute is one name, or a set or a list of names.
    type_form: TypeForm = "text"
    settings: TableSettings = field(default_factory=TableSettings)

    def __post_init__(self) -> None:
        #: Whether a tenant's query of a key can be filtered by the partition key; for estimates.
        self.filters_for_tenants: Callable[[KeyMap], bool] = lambda _: False
        self.entities: list[EntityMap] = []
        #: Whether an entity has encrypted attributes.
        self.has_encrypted = False
        #: The counters that count entities which are not declared yet.
        self.awaited_counters: list[AwaitedCounter] = []
        #: The links of entities to others that are not declared yet.
        self.awaited_links: list[AwaitedLink] = []
        #: The access patterns of the table, by module and qualified name.
        self.patterns: dict[str, Any] = {}
        #: The type of every key attribute that the entities declared so far have.
        self.key_types: dict[str, str] = {}
        #: The types of all items: of entities, of sentinels, and of the index record.
        self.type_names: set[str] = {RECORD_NAME}
        self._by_type: dict[str, EntityMap] = {}
        #: The sentinels, by the names of their types.
        self._sentinels: dict[str, ItemKind] = {}
        #: The functions that match the keys of an entity or a sentinel; and those that match the
        #: keys of an entity in any spelling.
        self._recognizers: list[tuple[tuple[Match, Match], EntityMap | UniqueMap]] = []
        self._spelled: list[tuple[tuple[Match, Match], EntityMap]] = []
        self._exclusive: dict[KeyMap, bool] = {}
        self._beside: dict[tuple[tuple[KeyMap, ...], int], frozenset[str]] = {}

    def index_rows(self, stored: Collection[str]) -> int:
        """Return the number of indexes that can contain an item with these attributes.

        Every item has the key and the type, so `GSI("SK", "PK")` contains all items.
        """
        present = {*self.attributes, self.type_attribute, *stored}
        return sum(present.issuperset(index.attributes) for index in self.indexes.values())

    def add(self, entity: EntityMap) -> None:
        """Add an entity; raise DeclarationError if its items can be confused with another's."""
        inherited = [unique for unique in entity.uniques if unique.key in entity.inherits]
        own = [unique for unique in entity.uniques if unique not in inherited]
        types = [entity.type_name, *(unique.type_name for unique in own)]
        for name in types:
            if name in self.type_names or types.count(name) > 1:
                raise DeclarationError(
                    f"{entity.name}: {self.owner} already has items of type {name!r}; give one of "
                    "the two another type_name=…"
                )
        key_types = self._check_types(entity)
        for key, another in combinations(entity.table_keys, 2):
            self._refuse_collision(another, key)
        for other in self.entities:
            for key, theirs in product(entity.table_keys, other.table_keys):
                # Variants of one base share its keys.
                base = other.inherits.get(theirs)
                if base is None or entity.inherits.get(key) is not base:
                    self._refuse_collision(key, theirs)
        self.key_types = key_types
        self.entities.append(entity)
        self.has_encrypted = self.has_encrypted or entity.has_encrypted
        self.type_names.update(types)
        self._by_type[entity.type_name] = entity
        if entity.base is None:
            self._recognize(entity)
        self._recognize_sentinels(entity, own)
        self._exclusive.clear()
        self._beside.clear()

    def add_base(self, base: EntityMap) -> None:
        """Add the base of variants: its key recognizes items without a known type."""
        for other in self.entities:
            self._refuse_collision(base.primary, other.primary)
        self._recognize(base)
        self._recognize_sentinels(base, base.uniques)
        self.type_names.update(unique.type_name for unique in base.uniques)

    def _recognize(self, entity: EntityMap) -> None:
        self._recognizers.append((_recognizers(entity.primary, any_spelling=False), entity))
        self._spelled.append((_recognizers(entity.primary, any_spelling=True), entity))

    def _recognize_sentinels(self, owner: EntityMap, uniques: Iterable[UniqueMap]) -> None:
        for unique in uniques:
            self._sentinels[unique.type_name] = ItemKind(owner, unique)
            self._recognizers.append((_recognizers(unique.key, any_spelling=False), unique))

    def type_value(self, name: str) -> Value:
        """Return the type attribute of items of a type."""
        if self.type_form == "text":
            return {"S": name}
        return {"SS": [name]} if self.type_form == "set" else {"L": [{"S": name}]}

    def _check_types(self, entity: EntityMap) -> dict[str, str]:
        """Return the types of key attributes, with those of an entity.

        Raise DeclarationError if a key attribute has another type in another entity.
        """
        key_types = dict(self.key_types)
        keys = {*self.attributes, *(n for index in self.indexes.values() for n in index.attributes)}
        items = [*entity.templates(), *map(entity.sentinel_templates, entity.uniques)]
        for name, template in [pair for each in items for pair in each.items()]:
            if name in keys:
                tag = template.stored_tag
                known = key_types.setdefault(name, tag)
                if known != tag:
                    raise DeclarationError(
                        f"{entity.name}: the key attribute {name!r} of {self.owner} has type {tag} "
                        f"here and type {known} in other entities; declare it with one type"
                    )
        return key_types

    def _refuse_collision(self, key: KeyMap, theirs: KeyMap) -> None:
        if key.can_equal(key.attributes, theirs.templates):
            raise DeclarationError(
                f"{key.name}: {key.show()} can be the same key as {theirs.name}: "
                f"{theirs.show()}; begin each of them with its own literal"
            )

    def entity_of(self, item: Mapping[str, Value]) -> EntityMap | None:
        """Return the entity of an item: by its type, or by its key if no entity has its type.

        This is the part of `identify` that decoding needs.
        """
        if self.type_attribute is not None and self.type_attribute in item:
            for name in _type_names(item[self.type_attribute]):
                if name in self._by_type:
                    return self._by_type[name]
                if name in self.type_names:
                    return None
        texts = self._key_texts(item)
        recognized = self._recognized(texts)
        if recognized is not None:
            return recognized if isinstance(recognized, EntityMap) else None
        # A key in another spelling, if only one entity can have it.
        found = [
            entity
            for spelled, entity in self._spelled
            if all(match(text) for match, text in zip(spelled, texts, strict=True))
        ]
        return found[0] if len(found) == 1 else None

    def identify(self, item: Mapping[str, Value]) -> ItemKind:
        """Return what an item is: by its type, or by its key if its type is not declared."""
        key = [item.get(name, {}) for name in self.attributes if name is not None]
        types = _type_names(item.get(self.type_attribute or "", {}))
        if is_record(key) or RECORD_NAME in types:
            return INDEX_RECORD
        entity = self.entity_of(item)
        if entity is not None:
            return ItemKind(entity)
        recognized = self._recognized(self._key_texts(item))
        if isinstance(recognized, UniqueMap):
            types.append(recognized.type_name)
        return next((self._sentinels[name] for name in types if name in self._sentinels), UNKNOWN)

    def _recognized(self, texts: list[str]) -> EntityMap | UniqueMap | None:
        """Return the entity or the unique value that has such a key."""
        for exact, owner in self._recognizers:
            if all(match(text) for match, text in zip(exact, texts, strict=True)):
                return owner
        return None

    def has_foreign_type(self, item: Mapping[str, Value]) -> bool:
        """Return whether an item has a type attribute, with a type that is not declared."""
        return self.type_attribute in item and self.type_names.isdisjoint(
            _type_names(item[str(self.type_attribute)])
        )

    def _key_texts(self, item: Mapping[str, Value]) -> list[str]:
        return [content_of(item, name) if name else "" for name in self.attributes]

    def key(self, item: Mapping[str, Value]) -> Item:
        """Return the key of an item."""
        return {name: item[name] for name in self.attributes if name is not None}

    def show_key(self, item: Mapping[str, Value]) -> str:
        """Render the key of an item as `PK="CUST#C1", SK="ORDER#1"`."""
        return ", ".join(f'{name}="{content_of(item, name)}"' for name in self._key_names(item))

    def unreadable(
        self, problem: str | TablewrightError, item: Mapping[str, Value]
    ) -> UnreadableItem:
        """Return the error for an item that cannot be read; it names the item."""
        reason = str(problem)
        message = f"{reason} (the item with {self.show_key(item)})"
        facts: dict[str, Any] = {
            "reason": reason,
            "where": problem.where if isinstance(problem, UnreadableItem) else "",
            "key": {name: item[name] for name in self._key_names(item)},
            "item": dict(item),
        }
        if isinstance(problem, DecryptionFailed):
            return DecryptionFailed(message, key_id=problem.key_id, **facts)
        return UnreadableItem(message, **facts)

    def _key_names(self, item: Mapping[str, Value]) -> list[str]:
        return [name for name in self.attributes if name is not None and name in item]

    def is_exclusive(self, key: KeyMap) -> bool:
        """Return whether the partitions of this key contain only this entity, now and later.

        A partition of the table that belongs to an owner (`USER#{id}`) is never exclusive: other
        entities of that owner may be added later, so a query there is bounded from the start.
        """
        if key not in self._exclusive:
            self._exclusive[key] = not (key.index is None and key.partition.parts) and not any(
                key.can_equal(key.partition_attributes, other) for _, other in self._others(key)
            )
        return self._exclusive[key]

    def types_beside(self, key: KeyMap, bound: int, *fellows: KeyMap) -> frozenset[str]:
        """Return the types of other items that a query with `bound` arguments can return.

        `fellows` are the keys of other entities that the query should return.
        """
        facts, place = self._beside, ((key, *fellows), bound)
        if place not in facts:
            determined, following = key.determined(bound), key.next_part(bound)
            facts[place] = frozenset(
                name
                for name, other in self._others(key, *fellows)
                if key.can_equal(determined, other)
                and (following is None or _can_follow(following, other[following.attribute]))
            )
        return facts[place]

    def types_in_index_of(self, key: KeyMap) -> frozenset[str]:
        """Return the types of other items that are in the index of a key, in any partition."""
        return frozenset(name for name, _ in self._others(key))

    def sort_keys_beside(
        self, key: KeyMap, members: Collection[EntityMap]
    ) -> list[tuple[str, Template | None]]:
        """Return the sort keys that other items can have in a partition of a key.

        Those are items of entities that are not in `members`, in other places than that of the key.
        Each sort key comes with the name of its entity, or of its unique value.
        """
        found: list[tuple[str, Template | None]] = []
        sort = key.sort_attributes
        for entity in self.entities:
            is_member = any(member.includes(entity) for member in members)
            own = [] if is_member else entity.templates(other_than=(key,))
            holders = [(entity.name, templates) for templates in own]
            holders += [(u.key.name, entity.sentinel_templates(u)) for u in entity.uniques]
            found += [
                (name, templates[sort[0]] if sort else None)
                for name, templates in holders
                if _is_in_index(key, templates)
                and key.can_equal(key.partition_attributes, templates)
            ]
        return found

    def _others(self, key: KeyMap, *fellows: KeyMap) -> list[tuple[str, dict[str, Template]]]:
        """Return the types and templates of all other items that are in the same index."""
        holders: list[tuple[str, dict[str, Template]]] = []
        for entity in self.entities:
            own = entity.templates(other_than=(key, *fellows))
            holders += [(entity.type_name, templates) for templates in own]
            holders += [
                (unique.type_name, entity.sentinel_templates(unique)) for unique in entity.uniques
            ]
        return [each for each in holders if _is_in_index(key, each[1])]


def _type_names(value: Value) -> list[str]:
    """Return the names in a type attribute: a text, a set of texts, or a list of texts."""
    if "L" in value:
        return [member["S"] for member in value["L"] if "S" in member]
    return [value["S"]] if "S" in value else list(value.get("SS", ()))


def _is_in_index(key: KeyMap, templates: Mapping[str, Template]) -> bool:
    """Return whether items with these templates are in the index of a key.

    DynamoDB adds an item to every index whose key attributes it has, even if its entity does not
    declare that.
    """
    return all(name in templates for name in key.attributes)


def _can_follow(following: NextPart, other: Template) -> bool:
    """Return whether a query of a range of this part can return keys of another template."""
    beginning = following.template.language(last=following.position)
    return can_begin_with(other, beginning) or intersects(other.language(), _end(following))


def _end(following: NextPart) -> Language:
    """Return the upper bounds of the sort keys, which BETWEEN includes: `ORDER$`."""
    before = following.template.pieces[: following.position]
    if not before or not isinstance(before[-1], str):
        return NOTHING
    return sequence(following.template.language(last=len(before) - 1), literal(after(before[-1])))


def _recognizers(key: KeyMap, *, any_spelling: bool) -> tuple[Match, Match]:
    """Return the functions that match the partition key and the sort key of items."""
    first = Parser(key.partition, any_spelling=any_spelling).matches
    if key.sort is None:
        return first, lambda text: not text
    return first, Parser(key.sort, any_spelling=any_spelling).matches
