"""Declarations: the attributes, key and places that a module will declare.

Filled in by `entity` and named by `design`; `module` writes them.
"""

from __future__ import annotations

from msgspec import Struct

from tablewright.infer.kinds import KeySpelling, Kind
from tablewright.infer.regular import UnexplainedItem
from tablewright.infer.sample import Sample
from tablewright.mapping.key_parts import Delimiter
from tablewright.schema import KeyAttribute
from tablewright.table_description import IndexDescription
from tablewright.values import Item, Value, tag_of


class InferredAttribute(Struct, eq=False):
    """An attribute of an entity."""

    #: Its name in items. An attribute that is only in keys has that of its first key attribute.
    stored: str
    kinds: tuple[Kind, ...]
    #: Its content in each item, by the number of the item.
    values: dict[int, Value]
    is_optional: bool = False
    is_key_only: bool = False
    is_ttl: bool = False
    #: The literal before it, in its first key.
    word: str = ""
    #: The index that an item without its value is not in.
    index: str = ""
    name: str = ""
    #: Of an attribute that is only in keys: whether each variant also stores it, under some name.
    is_in_variants: bool = False

    @property
    def kind(self) -> Kind:
        return self.kinds[0]


class InferredPart(Struct, eq=False):
    """A part of a key: an attribute in a format."""

    attribute: InferredAttribute
    spelling: KeySpelling
    prefix: str = ""
    #: The key attribute is the attribute itself.
    is_natural: bool = False
    #: Other attributes that have the same texts in all items.
    alternatives: tuple[InferredAttribute, ...] = ()

    @property
    def source(self) -> str:
        return self.spelling.source.replace("{}", self.attribute.name, 1)


class InferredPath(Struct, eq=False):
    """The elements of one key attribute."""

    key: KeyAttribute
    elements: list[str | InferredPart]
    is_ragged: bool = False

    @property
    def parts(self) -> list[InferredPart]:
        return [each for each in self.elements if isinstance(each, InferredPart)]

    @property
    def is_natural(self) -> bool:
        return any(part.is_natural for part in self.parts)


class InferredCondition(Struct, frozen=True):
    """When an entity is in an index."""

    attribute: InferredAttribute
    #: The condition, with {} for the name of the attribute.
    form: str

    @property
    def source(self) -> str:
        return self.form.replace("{}", self.attribute.name, 1)


class InferredPlace(Struct, eq=False):
    """The place of an entity in an index."""

    index: IndexDescription
    #: The paths of the attributes of the partition key and of the sort key.
    partition: tuple[InferredPath, ...]
    sort: tuple[InferredPath, ...]
    when: InferredCondition | None = None
    delimiter: str | None = None

    @property
    def paths(self) -> list[InferredPath]:
        return [*self.partition, *self.sort]


class InferredUnique(Struct, eq=False):
    """A unique value of an entity, which sentinels reserve."""

    #: Of the sentinels, whose parts are attributes of the entity.
    paths: list[InferredPath]
    #: The attributes of the entity that a sentinel has.
    keep: list[InferredAttribute]
    attribute: InferredAttribute
    type_name: str | None
    #: The sentinels.
    items: list[Item]


class InferredVariant(Struct, eq=False):
    """A variant of an entity: its type, and the attributes that only its items have."""

    type_name: str
    attributes: list[InferredAttribute]
    name: str = ""
    #: The stored names of attributes of the base.
    stored_names: list[tuple[InferredAttribute, str]] = []


class InferredEntity(Struct, eq=False):
    """An entity, inferred from its items."""

    items: list[Item]
    type_name: str | None
    #: Of its primary key.
    paths: list[InferredPath]
    places: list[InferredPlace]
    attributes: list[InferredAttribute] = []
    #: Replaces the table's delimiter in the primary key.
    delimiter: str | None = None
    #: The indexes that cannot be declared, and the key attributes that they share with others.
    shared: dict[str, list[str]] = {}
    #: Attributes whose names a design cannot have.
    undeclared: list[str] = []
    name: str = ""
    #: Whether nothing in the items says what they are.
    is_guessed: bool = False
    #: The kinds of items at its key; empty for an entity with one kind.
    variants: list[InferredVariant] = []
    uniques: list[InferredUnique] = []

    @property
    def all_paths(self) -> list[InferredPath]:
        """The paths of its primary key and of its places."""
        return [*self.paths, *(path for place in self.places for path in place.paths)]

    @property
    def all_attributes(self) -> list[InferredAttribute]:
        """Its attributes and those of its variants."""
        return [*self.attributes, *(each for v in self.variants for each in v.attributes)]

    @property
    def class_names(self) -> list[str]:
        return [self.name, *(variant.name for variant in self.variants)]


class InferredDesign(Struct):
    """A table and its entities, by name."""

    sample: Sample
    #: None if no key text is separated.
    delimiter: Delimiter | None
    type_attribute: str | None
    entities: list[InferredEntity] = []
    name: str = ""
    #: The items that the entities do not describe.
    unexplained: list[UnexplainedItem] = []

    @property
    def separator(self) -> str:
        """The text between the parts of a key, also if no key has several."""
        return "#" if self.delimiter is None else self.delimiter.text

    @property
    def type_form(self) -> str:
        """Whether the type attribute is a text, a set or a list."""
        forms = {"S": "text", "SS": "set", "L": "list"}
        values = (
            item[self.type_attribute or ""]
            for item in self.sample.items
            if self.type_attribute in item
        )
        return next((forms[tag_of(value)] for value in values), "text")
