"""Compiled entities: the result of a declaration, made once when its class is defined.

values (a dict by attribute)  ──EntityMap.encode──▶  item, with its key and index keys
item                          ──EntityMap.decode──▶  instance of the entity's class

This module must not know requests or plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import InitVar, dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import ValidationError, defstruct, to_builtins
from msgspec.json import Decoder
from msgspec.structs import astuple

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.attributes import STAMPS, AttributeMap, HistoryMap, UniqueMap
from tablewright.mapping.counters import CounterMap
from tablewright.mapping.key_parts import natural_part
from tablewright.mapping.key_writer import KeyWriter, make_key_writer
from tablewright.mapping.keys import KeyMap, group_by_index, places_of
from tablewright.mapping.links import CascadeMap, LinkMap
from tablewright.mapping.reader import Reader, item_type, make_reader
from tablewright.mapping.stored_key import StoredKey, check_key_only
from tablewright.mapping.template import Template, encode_natural
from tablewright.mapping.tracking import Tracking
from tablewright.symbol import Argument, AttributeOf, Expression, Symbol
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap

Values: TypeAlias = dict[str, Any]
#: An item, or the fields of one.
Fields = TypeVar("Fields", bound=Mapping[str, Any])

#: The time of creation or of the last write, for an item without a timestamp.
UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)

_new = object.__new__
_keep = object.__setattr__
_plain = Decoder(dict[str, Any]).decode


@dataclass(kw_only=True, eq=False, repr=False)
class EntityMap:
    """A compiled entity."""

    owner: InitVar[type]
    type_name: str
    table: TableMap
    attributes: dict[str, AttributeMap]
    primary: KeyMap
    indexes: tuple[KeyMap, ...]
    uniques: tuple[UniqueMap, ...]
    histories: tuple[HistoryMap, ...]
    #: Whether its items are created, but never changed.
    is_write_once: bool
    is_deletable: bool
    #: The inherited keys of a variant, each with the key of its base.
    inherits: Mapping[KeyMap, KeyMap]
    #: The types of its items in earlier versions of the design.
    renamed_from: tuple[str, ...] = ()
    #: Says of an item of such a type, as a dict, whether a migration makes it one of this entity.
    renamed_when: Callable[[dict[str, Any]], bool] | None = None
    #: The base of a variant: see `variants.py`.
    base: EntityMap | None = None

    def __post_init__(self, owner: type) -> None:
        attributes, primary, indexes = self.attributes, self.primary, self.indexes
        self.type = owner
        self.name = owner.__name__
        #: The stored attributes that cannot change after the item was created.
        self.immutable = tuple(
            each for each in attributes.values() if each.is_immutable and not each.is_key_only
        )
        #: Those that may only change to some values.
        self.stateful = tuple(each for each in attributes.values() if each.transitions is not None)
        #: What an item belongs to or refers to, and what belongs to it; see `links.py`.
        self.links: tuple[LinkMap, ...] = ()
        self.cascades: tuple[CascadeMap, ...] = ()
        #: The keys in indexes, with the alternatives of each index together.
        self.index_keys = group_by_index(indexes)
        roles = {attribute.role: attribute for attribute in attributes.values()}
        self.version = roles.get("version")
        self.created_at = roles.get("created_at")
        self.updated_at = roles.get("updated_at")
        self.ttl = roles.get("ttl")
        #: The attributes that the library sets.
        self.stamps = tuple(each for each in attributes.values() if each.role in STAMPS)
        #: The attributes that count other items; what they count, once that is declared; and the
        #: counters of parents that count the items of this entity.
        self.maintained = tuple(each for each in self.stamps if each.role == "counter")
        self.counters: tuple[CounterMap, ...] = ()
        self.counted: tuple[CounterMap, ...] = ()
        self._validates = any(
            each.validate is not None or each.converter.cut is not None
            for each in attributes.values()
        )
        stored = [each for each in attributes.values() if not each.is_key_only]
        self._ciphers = [
            (each.stored, each.converter.cipher)
            for each in attributes.values()
            if each.converter.cipher is not None
        ]
        self.has_encrypted = bool(self._ciphers)
        self._key_only = {each.name for each in attributes.values() if each.is_key_only}
        self._stored_key = StoredKey(primary, self.index_keys, self._key_only)
        #: The type attribute of its items; empty if the table has none.
        self._type_item: Item = {}
        if self.table.type_attribute is not None:
            self._type_item = {self.table.type_attribute: self.table.type_value(self.type_name)}
        self._names = tuple(attribute.stored for attribute in stored)
        self._readers = tuple((each.name, each.stored, each.converter.decode) for each in stored)
        self._fields = (*self._stored_key.names, *self._names)
        self.tracking = Tracking(stored)
        self._composed = frozenset(name for key in (primary, *indexes) for name in key.composed)
        self._writers = tuple(
            (attribute.name, attribute.stored, attribute.writer) for attribute in stored
        )
        only_indexed = self._key_only - primary.depends_on
        indexed = [part for index in indexes for part in index.parameters]
        self._checks = (
            *(part for part in primary.parameters if part.attribute in self._key_only),
            *(part for part in indexed if part.attribute in only_indexed),
        )
        #: The attributes that only an index key stores, each with that key attribute.
        self.only_in_indexes = tuple(
            (part.attribute, name)
            for index in indexes
            for name in index.composed
            for part in index.templates[name].parts
            if part.attribute in only_indexed
        )

    @property
    def table_keys(self) -> tuple[KeyMap, ...]:
        """The keys in the table: of its items, and of the sentinels of its unique values."""
        return (self.primary, *(unique.key for unique in self.uniques))

    @property
    def index_rows(self) -> int:
        """The number of indexes that can contain an item, declared by the entity or not."""
        return self.table.index_rows({*self._names, *self._composed})

    # -- kinds: a base of variants has several, see `variants.py` -----------------------------

    @property
    def kinds(self) -> tuple[EntityMap, ...]:
        """The entity itself, and the variants of a base."""
        return (self,)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The types of its items."""
        return (self.type_name,)

    def includes(self, entity: EntityMap | None) -> bool:
        """Return whether `entity` is this entity, or a variant of it."""
        return entity is self

    def has_attribute(self, attribute: AttributeMap) -> bool:
        """Return whether an attribute belongs to this entity or to its base."""
        own = self.attributes.get(attribute.name)
        return own is attribute or (self.base is not None and self.base.has_attribute(attribute))

    def kind_of(self, item: Mapping[str, Value]) -> EntityMap:
        """Return the entity of an item with a key of this entity: a base returns the variant."""
        return self

    def is_kind_of(self, item: Mapping[str, Value]) -> bool:
        """Return whether an item with a key of this entity is not of another variant."""
        return True

    def decode_kind(self, item: Mapping[str, Value]) -> Any:
        """Decode an item; return None if it is of another variant."""
        return self.decode(item)

    # -- items -------------------------------------------------------------------------------

    def encode(self, values: Mapping[str, Any]) -> Item:
        """Return the item of an entity, with its key, its index keys and its type."""
        for part in self._checks:
            if values[part.attribute] is not None:
                check_key_only(part, values[part.attribute])
        item = self._compose(values)
        if self.only_in_indexes:
            self.check_only_in_indexes(item, values)
        item.update(self._type_item)
        for name, stored, encode in self._writers:
            value = encode(values[name])
            if value is not None:
                item[stored] = value
        return item

    def check_only_in_indexes(self, item: Mapping[str, Value], values: Mapping[str, Any]) -> None:
        """Raise InvalidValue for a value that only an absent index key would store."""
        for name, key in self.only_in_indexes:
            if values.get(name) is not None and key not in item:
                raise InvalidValue(
                    f"{self.name}.{name} is {values[name]!r}, which cannot be stored: it is stored "
                    f"only in {key!r}, and this item has no {key!r}, because another part "
                    "of that key is None or its when= is false",
                    attribute=name,
                )

    def rekey(self, item: Item, values: Mapping[str, Any] | None = None) -> Item:
        """Return a stored item with its keys recomputed from `values`, by default its own.

        Attributes that the entity does not declare are kept.
        """
        kept = {name: value for name, value in item.items() if name not in self._composed}
        return self._compose(self.values(item) if values is None else values) | kept

    @cached_property
    def _compose(self) -> KeyWriter:
        """The function that composes the primary key and the keys in indexes."""
        return make_key_writer(self.primary, self.index_keys, self._incomplete)

    def _incomplete(self, values: Mapping[str, Any]) -> InvalidValue:
        missing = [
            part.label
            for part in self.primary.parameters
            if values[part.attribute] is None or part.argument(values[part.attribute]) is None
        ]
        return InvalidValue(
            f"{self.primary.name}: {', '.join(missing)} is None; a primary key needs every part"
        )

    def decode(self, item: Mapping[str, Value]) -> Any:
        """Decode an item; raise UnreadableItem, which names the item."""
        try:
            return self._decode(tuple(map(item.get, self._fields)))
        except UnreadableItem as error:
            raise self.table.unreadable(error, item) from None

    # Generated with the first read: each takes up to 0.6 ms, and many programs read few entities.

    @cached_property
    def _decode(self) -> Reader:
        return self._reader(self._decode_any, is_typed=False)

    @cached_property
    def _read(self) -> Reader:
        """Decodes an item of a typed response."""
        return self._reader(self._read_any, is_typed=True)

    def _reader(self, otherwise: Reader, *, is_typed: bool) -> Reader:
        return make_reader(
            self.type,
            tuple(self.attributes.values()),
            self._stored_key,
            tracking=self.tracking,
            absent=self.value_if_absent,
            otherwise=otherwise,
            is_typed=is_typed,
        )

    @cached_property
    def _item_type(self) -> Any:
        return item_type(tuple(self.attributes.values()), self._stored_key, self._names)

    @cached_property
    def _get(self) -> Callable[[bytes], Any]:
        got: Any = defstruct("Got", [("Item", self._item_type | None, None)], gc=False)
        return Decoder(got).decode

    @cached_property
    def _page(self) -> Callable[[bytes], Any]:
        items: Any = list[self._item_type]  # type: ignore[name-defined]
        page = defstruct(
            "Page", [("Items", items), ("LastEvaluatedKey", Item | None, None)], gc=False
        )
        return Decoder(page).decode

    def decode_get(self, answer: bytes) -> Any:
        """Return the entity in the response of a GetItem, or None."""
        try:
            item = self._get(answer).Item
            return None if item is None else self._read(item)
        except (UnreadableItem, ValidationError):
            return self.decode(_plain(answer)["Item"])  # names the item in an error

    def decode_page(self, answer: bytes) -> tuple[list[Any], Item | None] | None:
        """Return the entities in the response of a Query, and its last evaluated key.

        Return None if an item may be unreadable; then decode them one by one.
        """
        read = self._read
        try:
            page = self._page(answer)
            return [read(item) for item in page.Items], page.LastEvaluatedKey
        except (UnreadableItem, ValidationError):
            return None

    def _read_any(self, item: Any) -> Any:
        """Decode any item of a typed response."""
        return self._decode_any(tuple(to_builtins(astuple(item))))

    def _decode_any(self, fields: tuple[Value | None, ...]) -> Any:
        """Decode the fields of any item; the entity remembers a key in another spelling."""
        stored = dict(zip(self._fields, fields, strict=True))
        entity = self._build(stored)
        different = self._stored_key.check(entity.__dict__, stored, self._compose)
        if different is not None:
            _keep(entity, "_stored_key", different)
        if self._ciphers:
            stored = self.opened(stored)
            fields = tuple(stored[name] for name in self._fields)
        self.tracking.keep_fields(entity, fields[len(self._stored_key.names) :])
        return entity

    def _build(self, stored: Mapping[str, Value | None]) -> Any:
        """Return the entity of an item without checking its key."""
        stored = self.opened(stored)
        entity: Any = _new(self.type)
        values = entity.__dict__
        in_keys: Values | None = None
        if self._key_only:
            in_keys = self._stored_key.values(stored)
            values.update(dict.fromkeys(self.attributes) | in_keys)
        for name, stored_name, decode in self._readers:
            value = stored.get(stored_name)
            if value is not None:
                values[name] = decode(value)
            elif name in self.primary.depends_on:  # an index that contains only keys
                if in_keys is None:
                    in_keys = self._stored_key.values(stored)
                values[name] = in_keys[name] if name in in_keys else self.value_if_absent(name)
            else:
                values[name] = self.value_if_absent(name)
        return entity

    def opened(self, item: Fields) -> Fields:
        """Return an item with its encrypted values decrypted; raise DecryptionFailed."""
        if not self._ciphers:
            return item
        opened: Any = dict(item)
        key = self.table.key(opened)
        for name, cipher in self._ciphers:
            if opened.get(name) is not None:
                opened[name] = cipher.open(opened[name], key)
        return opened  # type: ignore[no-any-return]

    def key_sources(self, name: str) -> list[str]:
        """Return the key attributes that contain the value of an attribute."""
        return self._stored_key.sources(name)

    def values_in_keys(self, item: Mapping[str, Value]) -> Values:
        """Return the values that can be parsed from the key attributes of an item."""
        return self._stored_key.values(item)

    def values(self, item: Mapping[str, Value]) -> Values:
        """Return the values of an item, by attribute, without checking its key."""
        return dict(vars(self._build(item)))

    def stored_key(self, entity: Any) -> Item:
        """Return the key of an entity in the table, in the stored spelling if that still fits."""
        values = vars(entity)
        key = self.key_of(values)
        stored: Item | None = getattr(entity, "_stored_key", None)
        return key if stored is None else self.keep_spelling(key, stored, values)

    def stored_item(self, entity: Any, values: Mapping[str, Any]) -> Item:
        """Return the item of an entity with these values; keys keep a spelling that still fits."""
        item = self.encode(values)
        stored: Item | None = getattr(entity, "_stored_key", None)
        return item if stored is None else self.keep_spelling(item, stored, values)

    def keep_spelling(
        self, item: Item, stored: Mapping[str, Value], values: Mapping[str, Any]
    ) -> Item:
        """Give an item the stored spelling of each key that stands for the same values."""
        self._stored_key.keep_spelling(item, stored, values)
        return item

    def as_stored(self, entity: Any) -> Any:
        """Return an entity as it was last read or written; None if it never was."""
        before: Any = _new(self.type)
        key = getattr(entity, "_stored_key", None)
        if key is not None:
            _keep(before, "_stored_key", key)
        return before if self.tracking.restore(before, entity, self.value_if_absent) else None

    def value_if_absent(self, name: str) -> Any:
        """Return the value of an attribute that an item does not have."""
        attribute = self.attributes[name]
        if attribute.role in ("created_at", "updated_at"):
            return UNKNOWN_TIME  # the item was written before the attribute was declared
        if attribute.default is not None:
            return attribute.default()
        return attribute.converter.read({}, attribute.stored)

    def symbolic(self, owner: Expression | None = None) -> Any:
        """Return an entity with a symbol for each attribute; a list has one symbol.

        `owner` stands for the entity in expressions; by default, an item that a request found.
        """
        owner = owner or Argument(self.name)
        entity: Any = _new(self.type)
        for attribute in self.attributes.values():
            symbol = Symbol(AttributeOf(owner, attribute.name))
            vars(entity)[attribute.name] = [symbol] if attribute.converter.tag == "L" else symbol
        return entity

    def enter_arguments(self, key: KeyMap, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a key, validated by pydantic."""
        if not self._validates:
            return arguments
        entered = [
            self.attributes[part.attribute].enter(value)
            if part.is_exact and part.notation.derive is None
            else value
            for part, value in zip(key.parameters, arguments, strict=False)
        ]
        return (*entered, *arguments[len(entered) :])

    def key_arguments(self, entity: Any) -> tuple[Any, ...]:
        """Return the arguments of the primary key for an entity."""
        values = vars(entity)
        return tuple(part.argument(values[part.attribute]) for part in self.primary.parameters)

    def key_of(self, values: Mapping[str, Any]) -> Item:
        """Return the table key of the entity with these values."""
        composed = self.primary.compose(values)
        if composed is None:
            raise self._incomplete(values)
        return {
            name: composed[name]
            if template.natural is None
            else encode_natural(template.natural, values[template.parts[0].attribute])
            for name, template in self.primary.templates.items()
        }

    @cached_property
    def _own_templates(self) -> dict[str, Template]:
        """The templates of the stored attributes and of the type."""
        stored = (each for each in self.attributes.values() if not each.is_key_only)
        own = {each.stored: _natural(each) for each in stored}
        return own | self._type_template(self.type_name)

    def templates(self, other_than: Collection[KeyMap] = ()) -> list[dict[str, Template]]:
        """Return the template of each attribute that its items have.

        There is one dict for each combination of alternative places, except for those with a place
        in `other_than`.
        """
        found = self._own_templates | self.primary.templates
        choices = [tuple(places_of((each,))) for each in self.index_keys]
        combinations = []
        for chosen in product(*choices):
            places = (self.primary, *chosen)
            same = (*places, *(self.inherits.get(each) for each in places))
            if not any(key in same for key in other_than):
                whole = dict(found)
                for key in chosen:
                    whole |= key.templates
                combinations.append(whole)
        return combinations

    def sentinel_templates(self, unique: UniqueMap) -> dict[str, Template]:
        """Return the template of each attribute that the sentinels of a unique value have."""
        kept = {attribute.stored: _natural(attribute) for attribute in unique.keeps}
        return kept | self._type_template(unique.type_name) | unique.key.templates

    def _type_template(self, name: str) -> dict[str, Template]:
        attribute = self.table.type_attribute
        if attribute is None or self.table.type_form != "text":
            return {}
        return {attribute: Template((name,))}

    def key_in_index_of(self, key: KeyMap) -> KeyMap | None:
        """Return the key of this entity in the index of another key; None if it has none there."""
        if key.index is None:
            return self.primary
        own = [each for each in self.indexes if each.index == key.index]
        for each in own:
            if each is key or each.can_equal(each.partition_attributes, key.templates):
                return each
        return own[0] if own else None


def _natural(attribute: AttributeMap) -> Template:
    """Return the template of an attribute that is a key itself."""
    return Template(
        (natural_part(attribute.name, attribute.converter),), (0,), natural=attribute.converter
    )
