"""Entities and tables, compiled: what a declaration becomes, once, when its class is defined.

    values (a dict by attribute)  ──EntityMap.encode──▶  item, with its key and index keys
    item                          ──EntityMap.decode──▶  instance of the entity's class

A `TableMap` knows all entities of a table, and so what else can be in a partition: whether a
query needs a bound or a filter to keep others out, and which entity an item is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from msgspec import Struct, defstruct, field
from msgspec.json import Decoder
from msgspec.structs import astuple

from tablewright.errors import InvalidValue, ModelError, UnreadableItem
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


#: When an item was written that does not tell.
BEFORE = datetime(1970, 1, 1, tzinfo=UTC)

_new = object.__new__
_plain = Decoder(dict[str, Any]).decode


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

    def store(self, value: Any) -> Value | None:
        """The stored value; None where the attribute is left out.

        An absent attribute reads back as its default; so a None that is not the default is kept.
        """
        stored = self.converter.stored(value)
        if stored is None and value is None and self.absent_means_a_value:
            return {"NULL": True}
        return stored

    @property
    def absent_means_a_value(self) -> bool:
        """It is optional, and has a default other than None."""
        if not self.converter.optional or self.default is None:
            return False
        return self.default() is not None


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
            (attribute.name, attribute.stored, attribute.store) for attribute in attributes.values()
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
        try:
            return self._build(map(item.get, self._stored))
        except UnreadableItem as error:
            names = [name for name in self.table.attributes if name is not None and name in item]
            key = ", ".join(f'{name}="{_content(item, name)}"' for name in names)
            raise UnreadableItem(f"{error} (the item with {key})") from None

    def decode_got(self, answer: bytes) -> Any:
        """The entity in the answer of a GetItem, or None."""
        item = self._got(answer).Item
        try:
            return None if item is None else self._build(astuple(item))
        except UnreadableItem:
            return self.decode(_plain(answer)["Item"])  # which says what item that is

    def decode_page(self, answer: bytes) -> tuple[list[Any], Item | None]:
        """The entities in the answer of a Query, and the key it ended at."""
        page = self._page(answer)
        try:
            return [self._build(astuple(item)) for item in page.Items], page.LastEvaluatedKey
        except UnreadableItem:
            return [self.decode(item) for item in _plain(answer)["Items"]], page.LastEvaluatedKey

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
        if attribute.role in ("created", "updated"):
            return BEFORE  # the stamp was declared later than the item was written
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

    def templates(self) -> dict[str, Template]:
        """For each attribute of its items that can be a key, what it can be."""
        found = {
            attribute.stored: _natural(attribute) for attribute in self.attributes.values()
        } | self._type_template(self.type_name)
        for key in (self.primary, *self.indexes):
            found |= _by_attribute(key)
        return found

    def sentinel_templates(self, unique: UniqueMap) -> dict[str, Template]:
        """The same, for the items that keep a value unique."""
        kept = {attribute.stored: _natural(attribute) for attribute in unique.keeps}
        return kept | self._type_template(unique.type_name) | _by_attribute(unique.key)

    def _type_template(self, name: str) -> dict[str, Template]:
        attribute = self.table.type_attribute
        return {} if attribute is None else {attribute: Template((name,), ())}

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
                raise ModelError(
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
                    raise ModelError(
                        f"{entity.name}: {name!r} is a key of {self.owner}, of type {known} on "
                        f"other entities and {tag} here; a key attribute has one type"
                    )

    def _refuse_overlap(self, key: KeyMap, theirs: KeyMap) -> None:
        if overlap(key.partition, theirs.partition) and (
            key.sort is None or theirs.sort is None or overlap(key.sort, theirs.sort)
        ):
            raise ModelError(
                f"{key.name}: {key.show()} can be the same key as {theirs.name}: "
                f"{theirs.show()}; begin one of them with a literal of its own"
            )

    def entity_of(self, item: Mapping[str, Value]) -> EntityMap | None:
        """The entity that an item is: by its type, or by its key."""
        if self.type_attribute is not None and self.type_attribute in item:
            return self._by_type.get(item[self.type_attribute].get("S", ""))
        partition, sort = (_content(item, name) if name else "" for name in self.attributes)
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
        """Whether a query with so many arguments bound can meet items of other entities."""
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


def _natural(attribute: AttributeMap) -> Template:
    """An attribute as a key: anything that it can hold."""
    return Template(
        (Part(attribute.name, None, str, ".+", attribute.name),), (0,), attribute.converter
    )


def _by_attribute(key: KeyMap) -> dict[str, Template]:
    pairs = zip(key.attributes, (key.partition, key.sort), strict=True)
    return {name: template for name, template in pairs if name and template is not None}


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


def _recognisers(key: KeyMap) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sort = "" if key.sort is None else _expression(key.sort)
    return re.compile(_expression(key.partition), re.DOTALL), re.compile(sort, re.DOTALL)


def _expression(template: Template) -> str:
    if template.natural is not None:
        return ".+"
    return "#".join(
        re.escape(piece) if isinstance(piece, str) else f"(?:{piece.pattern})"
        for piece in template.pieces
    )
