"""Compiled entities: the result of a declaration, made once when its class is defined.

values (a dict by attribute)  ──EntityMap.encode──▶  item, with its key and index keys
item                          ──EntityMap.decode──▶  instance of the entity's class

This module must not know requests or plans.
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
    encode_natural,
)
from tablewright.mapping.parts import KeyPart
from tablewright.symbol import Symbol
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap

Values: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["", "version", "created_at", "updated_at", "ttl"]


#: The time of creation, or of the last write, of an item without a timestamp.
UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)

_new = object.__new__
_plain = Decoder(dict[str, Any]).decode


def _decoders(stored: tuple[str, ...]) -> tuple[Callable[[bytes], Any], Callable[[bytes], Any]]:
    """Return decoders for the answers of GetItem and Query that read only these attributes.

    Index keys and other attributes are skipped, not built: a page of 20 orders decodes in two
    thirds of the time.
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
    #: Returns the value if the item does not have the attribute; None if it must have it.
    default: Callable[[], Any] | None = None
    doc: str = ""

    def store(self, value: Any) -> Value | None:
        """Return the stored value; None if the attribute is left out.

        An absent attribute is read as its default, so None is stored if it is not the default.
        """
        stored = self.converter.stored(value)
        if stored is None and value is None and self.has_value_if_absent:
            return {"NULL": True}
        return stored

    @property
    def has_value_if_absent(self) -> bool:
        """Whether an absent attribute is not None: it is optional and has another default."""
        if not self.converter.optional or self.default is None:
            return False
        return self.default() is not None


class UniqueMap(Struct, frozen=True):
    """A unique value: the sentinel item that reserves it."""

    key: KeyMap
    #: The attributes of the entity that the sentinel contains.
    keeps: tuple[AttributeMap, ...]
    type_name: str


class HistoryMap(Struct, frozen=True):
    """A history: the event that is written when an attribute changes."""

    attribute: str
    event: EntityMap
    #: The source of each attribute of the event: an attribute of the entity, or one of ":old",
    #: ":new", ":version", ":old_version", ":at", ":by" and ":reason".
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
        """Return the item of an entity, with its key, its index keys and its type."""
        item = self._keys(values)
        if self.table.type_attribute is not None:
            item[self.table.type_attribute] = {"S": self.type_name}
        for name, stored, encode in self._writers:
            value = encode(values[name])
            if value is not None:
                item[stored] = value
        return item

    def rekey(self, item: Item) -> Item:
        """Return a stored item with its keys recomputed from its values.

        Attributes that the entity does not declare are kept.
        """
        kept = {name: value for name, value in item.items() if name not in self._composed}
        return self._keys(self.values(item)) | kept

    def _keys(self, values: Mapping[str, Any]) -> Item:
        """Return the composed attributes of the primary key and of each index it is in."""
        keys = self.primary.compose(values)
        if keys is None:
            missing = sorted(name for name in self.primary.depends_on if values[name] is None)
            raise InvalidValue(
                f"{self.primary.name}: {', '.join(missing)} is None; a primary key needs every part"
            )
        for key in self.indexes:
            keys.update(key.compose(values) or {})
        return keys

    def decode(self, item: Mapping[str, Value]) -> Any:
        """Return the entity of an item; raise UnreadableItem, which names the item."""
        try:
            return self._build(map(item.get, self._stored))
        except UnreadableItem as error:
            names = [name for name in self.table.attributes if name is not None and name in item]
            key = ", ".join(f'{name}="{content_of(item, name)}"' for name in names)
            raise UnreadableItem(f"{error} (the item with {key})") from None

    def decode_get(self, answer: bytes) -> Any:
        """Return the entity in the answer of a GetItem, or None."""
        item = self._got(answer).Item
        try:
            return None if item is None else self._build(astuple(item))
        except UnreadableItem:
            return self.decode(_plain(answer)["Item"])  # raises an error that names the item

    def decode_page(self, answer: bytes) -> tuple[list[Any], Item | None]:
        """Return the entities in the answer of a Query, and its last evaluated key."""
        page = self._page(answer)
        try:
            return [self._build(astuple(item)) for item in page.Items], page.LastEvaluatedKey
        except UnreadableItem:
            return [self.decode(item) for item in _plain(answer)["Items"]], page.LastEvaluatedKey

    def _build(self, stored: Iterable[Value | None]) -> Any:
        """Return the entity with these stored attributes, in the order of their declaration."""
        entity: Any = _new(self.type)
        values = entity.__dict__
        for (name, decode), value in zip(self._readers, stored, strict=True):
            values[name] = self.value_if_absent(name) if value is None else decode(value)
        return entity

    def values(self, item: Mapping[str, Value]) -> Values:
        """Return the values of an item's entity, by attribute."""
        return dict(vars(self.decode(item)))

    def value_if_absent(self, name: str) -> Any:
        """Return the value of an attribute that an item does not have."""
        attribute = self.attributes[name]
        if attribute.role in ("created_at", "updated_at"):
            return UNKNOWN_TIME  # the item was written before the attribute was declared
        if attribute.default is not None:
            return attribute.default()
        return attribute.converter.read({}, attribute.stored)

    def symbolic(self, name: str) -> Any:
        """Return an entity of symbols, one for each attribute; for a list, a list of one."""
        entity: Any = _new(self.type)
        for attribute in self.attributes.values():
            symbol = Symbol(f"{name}.{attribute.name}")
            vars(entity)[attribute.name] = [symbol] if attribute.converter.tag == "L" else symbol
        return entity

    def key_arguments(self, entity: Any) -> tuple[Any, ...]:
        """Return the arguments of the primary key for an entity."""
        values = vars(entity)
        return tuple(part.argument(values[part.attribute]) for part in self.primary.parameters)

    def key_of(self, values: Mapping[str, Any]) -> Item:
        """Return the table key of the entity with these values."""
        key = self.primary.compose(values) or {}
        return key | self._natural_key(values)

    def _natural_key(self, values: Mapping[str, Any]) -> Item:
        natural: Item = {}
        templates = (self.primary.partition, self.primary.sort)
        for name, template in zip(self.primary.attributes, templates, strict=True):
            if name is not None and template is not None and template.natural is not None:
                natural[name] = encode_natural(
                    template.natural, values[template.parts[0].attribute]
                )
        return natural

    def templates(self) -> dict[str, Template]:
        """Return the template of each attribute of the items that can be a key."""
        found = {
            attribute.stored: _natural(attribute) for attribute in self.attributes.values()
        } | self._type_template(self.type_name)
        for key in (self.primary, *self.indexes):
            found |= _by_attribute(key)
        return found

    def sentinel_templates(self, unique: UniqueMap) -> dict[str, Template]:
        """Return the same for the sentinel items of a unique value."""
        kept = {attribute.stored: _natural(attribute) for attribute in unique.keeps}
        return kept | self._type_template(unique.type_name) | _by_attribute(unique.key)

    def _type_template(self, name: str) -> dict[str, Template]:
        attribute = self.table.type_attribute
        return {} if attribute is None else {attribute: Template((name,), ())}

    def key_in_index_of(self, key: KeyMap) -> KeyMap | None:
        """Return this entity's key in the index of another key; None if it is not in it."""
        if key.index is None:
            return self.primary
        for own in self.indexes:
            if own.index == key.index:
                return own
        return None


def _natural(attribute: AttributeMap) -> Template:
    """Return the template of an attribute that is a key itself."""
    return Template(
        (KeyPart(attribute.name, None, str, ".+", attribute.name),), (0,), attribute.converter
    )


def _by_attribute(key: KeyMap) -> dict[str, Template]:
    pairs = zip(key.attributes, (key.partition, key.sort), strict=True)
    return {name: template for name, template in pairs if name and template is not None}


def content_of(item: Mapping[str, Value], name: str) -> str:
    """Return the content of an attribute as text; "" if the item does not have it."""
    for content in item.get(name, {}).values():
        return str(content)
    return ""
