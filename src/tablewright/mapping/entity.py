"""Entities, compiled: what a declaration becomes, once, when its class is defined.

values (a dict by attribute)  ──EntityMap.encode──▶  item, with its key and index keys
item                          ──EntityMap.decode──▶  instance of the entity's class

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct, defstruct, field
from msgspec.json import Decoder
from msgspec.structs import astuple

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.converters import Converter
from tablewright.mapping.keys import (
    KeyMap,
    Template,
    encoded,
)
from tablewright.mapping.parts import Part
from tablewright.symbol import Symbol
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap

Values: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["", "version", "created_at", "updated_at", "ttl"]


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
    #: "old", "new", "version", "at", "by", "reason" with a colon in front.
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
        self.created_at = roles.get("created_at")
        self.updated_at = roles.get("updated_at")
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
            key = ", ".join(f'{name}="{content_of(item, name)}"' for name in names)
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
        if attribute.role in ("created_at", "updated_at"):
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


def _natural(attribute: AttributeMap) -> Template:
    """An attribute as a key: anything that it can hold."""
    return Template(
        (Part(attribute.name, None, str, ".+", attribute.name),), (0,), attribute.converter
    )


def _by_attribute(key: KeyMap) -> dict[str, Template]:
    pairs = zip(key.attributes, (key.partition, key.sort), strict=True)
    return {name: template for name, template in pairs if name and template is not None}


def content_of(item: Mapping[str, Value], name: str) -> str:
    for content in item.get(name, {}).values():
        return str(content)
    return ""
