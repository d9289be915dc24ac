"""Entities and tables, compiled: what a declaration becomes, once, when its class is defined.

    values (a dict by attribute)  ──EntityMap.encode──▶  item, with its key and index keys
    item                          ──EntityMap.decode──▶  instance of the entity's class

A `TableMap` knows all entities of a table, and so what else can be in a partition: whether a
query needs a bound or a filter to keep others out, and which entity an item is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, defstruct, field
from msgspec.json import Decoder
from msgspec.structs import astuple

from tablewright.errors import InvalidValue, ModelError
from tablewright.mapping.converters import Converter
from tablewright.mapping.keys import (
    IndexMap,
    KeyMap,
    Template,
    encoded,
    overlap,
    shares_beginning,
)
from tablewright.mapping.parts import Part
from tablewright.symbol import Symbol
from tablewright.values import Item, Value

Values: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["", "version", "created", "updated", "ttl"]


_new = object.__new__


def _decoders(stored: tuple[str, ...]) -> tuple[Callable[[bytes], Any], Callable[[bytes], Any]]:
    """Decoders for the answers of GetItem and Query that take only these attributes out of them.

    Keys of indexes and whatever else an item holds are skipped, not built: a page of 20 orders
    decodes in two thirds of the time.
    """
    value = dict[str, Any] | None
    item: Any = defstruct(
        "Item", [(f"a{n}", value, field(default=None, name=name)) for n, name in enumerate(stored)]
    )
    got: Any = defstruct("Got", [("Item", item | None, None)])
    page: Any = defstruct("Page", [("Items", list[item]), ("LastEvaluatedKey", Item | None, None)])
    return Decoder(got).decode, Decoder(page).decode


class AttributeMap(Struct, frozen=True):
    """One attribute: its name in Python, its name in the item, and how its values are stored."""

    name: str
    stored: str
    converter: Converter
    role: Role = ""
    #: Gives the value where the item has none; None where absence has no meaning.
    default: Callable[[], Any] | None = None
    doc: str = ""


class UniqueMap(Struct, frozen=True):
    """A sentinel item beside the entity, which no second entity can have."""

    key: KeyMap
    #: The attributes that the sentinel holds.
    keeps: tuple[AttributeMap, ...]
    type_name: str


class HistoryMap(Struct, frozen=True):
    """An event that is written whenever an attribute changes."""

    attribute: str
    event: EntityMap
    #: What each attribute of the event is: an attribute of the entity, or one of
    #: "old", "new", "version", "at", "by", "why" with a colon in front.
    sources: dict[str, str]


class EntityMap:
    """A compiled entity."""

    def __init__(
        self,
        *,
        owner: type,
        type_name: str,
        table: TableMap,
        attributes: dict[str, AttributeMap],
        primary: KeyMap,
        indexes: tuple[KeyMap, ...],
    ) -> None:
        self.type = owner
        self.name = owner.__name__
        self.type_name = type_name
        self.table = table
        self.attributes = attributes
        self.primary = primary
        self.indexes = indexes
        self.uniques: tuple[UniqueMap, ...] = ()
        self.histories: tuple[HistoryMap, ...] = ()
        roles = {attribute.role: attribute for attribute in attributes.values()}
        self.version = roles.get("version")
        self.created = roles.get("created")
        self.updated = roles.get("updated")
        self.ttl = roles.get("ttl")
        self._stored = tuple(attribute.stored for attribute in attributes.values())
        self._readers = tuple(
            (attribute.name, attribute.converter.decode) for attribute in attributes.values()
        )
        self._got, self._page = _decoders(self._stored)
        self._composed = frozenset(name for key in (primary, *indexes) for name in key.composed)
        self._writers = tuple(
            (attribute.name, attribute.stored, attribute.converter.stored)
            for attribute in attributes.values()
        )

    def encode(self, values: Mapping[str, Any]) -> Item:
        """The item of an entity, with its key, its index keys and its type."""
        item = self._keys(values)
        if self.table.type_attribute is not None:
            item[self.table.type_attribute] = {"S": self.type_name}
        for name, stored, encode in self._writers:
            value = encode(values[name])
            if value is not None:
                item[stored] = value
        return item

    def rekey(self, item: Item) -> Item:
        """A stored item that has been changed, under the keys that its values give now.

        Attributes that the entity does not know stay as they are.
        """
        kept = {name: value for name, value in item.items() if name not in self._composed}
        return self._keys(self.values(item)) | kept

    def _keys(self, values: Mapping[str, Any]) -> Item:
        """The composed attributes: of the primary key, and of each index that it is in."""
        keys = self.primary.compose(values)
        if keys is None:
            missing = sorted(name for name in self.primary.names if values[name] is None)
            raise InvalidValue(f"{self.primary.name}: {', '.join(missing)} has no value")
        for key in self.indexes:
            keys.update(key.compose(values) or {})
        return keys

    def decode(self, item: Mapping[str, Value]) -> Any:
        """The entity that an item is."""
        return self._build(map(item.get, self._stored))

    def decode_got(self, answer: bytes) -> Any:
        """The entity in the answer of a GetItem, or None."""
        item = self._got(answer).Item
        return None if item is None else self._build(astuple(item))

    def decode_page(self, answer: bytes) -> tuple[list[Any], Item | None]:
        """The entities in the answer of a Query, and the key it ended at."""
        page = self._page(answer)
        return [self._build(astuple(item)) for item in page.Items], page.LastEvaluatedKey

    def _build(self, stored: Iterable[Value | None]) -> Any:
        """The entity with these stored attributes, in the order they are declared."""
        entity: Any = _new(self.type)
        values = entity.__dict__
        for (name, decode), value in zip(self._readers, stored, strict=True):
            values[name] = self.absent(name) if value is None else decode(value)
        return entity

    def values(self, item: Mapping[str, Value]) -> Values:
        """The values of the entity that an item is, by attribute."""
        return dict(vars(self.decode(item)))

    def absent(self, name: str) -> Any:
        """The value of an attribute that an item does not have."""
        attribute = self.attributes[name]
        if attribute.default is not None:
            return attribute.default()
        return attribute.converter.read({}, attribute.stored)

    def symbolic(self, name: str) -> Any:
        """An entity that is not known yet: a symbol for each attribute, in a list for a list."""
        entity: Any = _new(self.type)
        for attribute in self.attributes.values():
            symbol = Symbol(f"{name}.{attribute.name}")
            vars(entity)[attribute.name] = [symbol] if attribute.converter.tag == "L" else symbol
        return entity

    def arguments_of(self, entity: Any) -> tuple[Any, ...]:
        """What the primary key asks for, from an entity."""
        values = vars(entity)
        return tuple(part.asked(values[part.attribute]) for part in self.primary.asked)

    def key_of(self, values: Mapping[str, Any]) -> Item:
        """The key in the table of the entity with these values."""
        key = self.primary.compose(values) or {}
        return key | self._natural_key(values)

    def _natural_key(self, values: Mapping[str, Any]) -> Item:
        natural: Item = {}
        templates = (self.primary.partition, self.primary.sort)
        for name, template in zip(self.primary.attributes, templates, strict=True):
            if name is not None and template is not None and template.natural is not None:
                natural[name] = encoded(template.natural, values[template.parts[0].attribute])
        return natural

    def is_in(self, key: KeyMap) -> KeyMap | None:
        """This entity's key in the same index, if it is in it at all."""
        if key.index is None:
            return self.primary
        for own in self.indexes:
            if own.index == key.index:
                return own
        return None


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
        self._by_type: dict[str, EntityMap] = {}
        self._recognisers: list[tuple[re.Pattern[str], EntityMap]] = []
        self._alone: dict[KeyMap, bool] = {}
        self._mixed: dict[tuple[KeyMap, int], bool] = {}

    def add(self, entity: EntityMap) -> None:
        """Take an entity in; an error if its items could be taken for another's."""
        if entity.type_name in self._by_type:
            raise ModelError(
                f"{entity.name}: {self.name} has an entity of type {entity.type_name!r} already; "
                "give one of them type_name=…"
            )
        for other in self.entities:
            self._refuse_overlap(entity, entity.primary, other, other.primary)
            for unique in other.uniques:
                self._refuse_overlap(entity, entity.primary, other, unique.key)
            for unique in entity.uniques:
                self._refuse_overlap(entity, unique.key, other, other.primary)
                for theirs in other.uniques:
                    self._refuse_overlap(entity, unique.key, other, theirs.key)
        self.entities.append(entity)
        self._by_type[entity.type_name] = entity
        self._recognisers.append((_recogniser(entity.primary), entity))
        self._alone.clear()
        self._mixed.clear()

    def _refuse_overlap(
        self, entity: EntityMap, key: KeyMap, other: EntityMap, theirs: KeyMap
    ) -> None:
        if overlap(key.partition, theirs.partition) and (
            key.sort is None or theirs.sort is None or overlap(key.sort, theirs.sort)
        ):
            raise ModelError(
                f"{key.name}: {_shown(key)} can be the same key as {theirs.name}: "
                f"{_shown(theirs)}; begin one of them with a literal of its own"
            )

    def entity_of(self, item: Mapping[str, Value]) -> EntityMap | None:
        """The entity that an item is: by its type, or by its key."""
        if self.type_attribute is not None and self.type_attribute in item:
            return self._by_type.get(item[self.type_attribute].get("S", ""))
        partition, sort = self.attributes
        text = _content(item, partition) + "\n" + (_content(item, sort) if sort else "")
        for recognise, entity in self._recognisers:
            if recognise.fullmatch(text):
                return entity
        return None

    def alone(self, key: KeyMap) -> bool:
        """Whether no other entity can be in the partitions of this key."""
        if key not in self._alone:
            self._alone[key] = not any(
                overlap(key.partition, theirs.partition) for theirs in self._others(key)
            )
        return self._alone[key]

    def mixed(self, key: KeyMap, bound: int) -> bool:
        """Whether a query with so many arguments bound can meet items of other entities."""
        facts = self._mixed
        if (key, bound) not in facts:
            segments = [] if key.sort is None else _beginning(key, key.sort, bound)
            facts[key, bound] = any(
                overlap(key.partition, theirs.partition)
                and (theirs.sort is None or shares_beginning(segments, theirs.sort))
                for theirs in self._others(key)
            )
        return facts[key, bound]

    def _others(self, key: KeyMap) -> list[KeyMap]:
        """The keys of all other entities, and of sentinels, in the same index."""
        others: list[KeyMap] = []
        for entity in self.entities:
            theirs = entity.is_in(key)
            if theirs is not None and theirs is not key and key not in entity.indexes:
                others.append(theirs)
            if key.index is None:
                others += [unique.key for unique in entity.uniques]
        return others


def _beginning(key: KeyMap, sort: Template, bound: int) -> list[str | Part]:
    """The segments that a query has fixed when so many arguments are bound."""
    following = key.next_part(bound)
    segments: list[str | Part] = []
    for segment in sort.segments:
        if segment is following:
            break
        segments.append(segment)
    return segments


def _content(item: Mapping[str, Value], name: str) -> str:
    for content in item.get(name, {}).values():
        return str(content)
    return ""


def _recogniser(key: KeyMap) -> re.Pattern[str]:
    sort = "" if key.sort is None else _expression(key.sort)
    return re.compile(f"{_expression(key.partition)}\n{sort}", re.DOTALL)


def _expression(template: Template) -> str:
    if template.natural is not None:
        return ".+"
    return "#".join(
        re.escape(piece) if isinstance(piece, str) else f"(?:{piece.pattern})"
        for piece in template.pieces
    )


def _shown(key: KeyMap) -> str:
    partition = f"{key.attributes[0]}={key.partition.show()}"
    return partition if key.sort is None else f"{partition}, {key.attributes[1]}={key.sort.show()}"
