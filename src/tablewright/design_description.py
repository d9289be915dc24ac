"""Design description: everything in a design that decides what is stored, as one value.

    plan/description    makes the description of a declared table
    read_lock           canonical JSON, as a lock file contains it -> DesignDescription
    write_lock          the other way round; equal descriptions give equal texts
    show_key            a key as text: `PK=CUST#{customerId}, SK=ORDER#{orderId}`

A description has the names under which tables, types and attributes are stored, and neither names
in Python nor an order of the source. So renaming and moving code does not change it. Code is not
described: of a codec, and of a type that only pydantic knows, the description has the name of the
class; of constraints and validators it has nothing.

Two designs whose descriptions are equal store the same items for the same values, and read each
other's items. What follows from a difference is the business of `tablewright.design_changes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, astuple, fields, replace

from tablewright.errors import LockRefused
from tablewright.schema import KeyAttribute, KeySchema, ProjectedAttributes
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Value

#: The version of the format of lock files.
FORMAT = 1
#: The longest line of a lock file, except for single values.
LINE_WIDTH = 110


class _Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a description."""


class PartDescription(_Described, frozen=True):
    """A value in a key: a stored attribute, and the format in which the key has it."""

    #: A number for an attribute that is stored only in keys.
    attribute: str
    #: With {} for the attribute: `day({})`, `padded({}, 6)`.
    format: str = "{}"

    @property
    def is_optional(self) -> bool:
        """Whether keys may end before it: `optional({}, '#ITEM#')`."""
        return self.format.startswith("optional(")


class TemplateDescription(_Described, frozen=True):
    """What one key attribute is made of: literals and values."""

    #: The key attribute.
    name: str
    pieces: tuple[str | PartDescription, ...]
    type: str = "S"
    #: Of a key whose values can contain the delimiter; "" for the default, an escaped `#`.
    delimiter: str = ""
    escapes: bool = True

    @property
    def parts(self) -> tuple[PartDescription, ...]:
        return tuple(each for each in self.pieces if isinstance(each, PartDescription))

    @property
    def is_natural(self) -> bool:
        """Whether the key attribute is an attribute of the entity itself."""
        return self.pieces == (PartDescription(self.name),)


class ConditionDescription(_Described, frozen=True):
    """A condition with stored names and values: a test, or several conditions."""

    #: For example an attribute, and ` = 'open'`.
    test: tuple[str | PartDescription, ...] = ()
    joined: Literal["", "AND", "OR", "NOT"] = ""
    #: Sorted by their texts: their order has no meaning.
    members: tuple[ConditionDescription, ...] = ()

    @property
    def attributes(self) -> frozenset[str]:
        """The stored attributes that the condition reads."""
        parts = [each.attribute for each in self.test if isinstance(each, PartDescription)]
        return frozenset(parts).union(*(each.attributes for each in self.members))

    def renamed(self, names: Mapping[str, str]) -> ConditionDescription:
        """Return the condition on attributes with other names."""
        members = [each.renamed(names) for each in self.members]
        return ConditionDescription(
            rename_pieces(self.test, names),
            self.joined,
            tuple(sorted(members, key=show_condition)),
        )


class KeyDescription(_Described, frozen=True):
    """A primary key, the key of a unique value, or a place in an index."""

    templates: tuple[TemplateDescription, ...]
    #: The condition for an item to be in the index.
    when: ConditionDescription | None = None

    @property
    def attributes(self) -> frozenset[str]:
        """The stored attributes of which the key is made."""
        return frozenset(part.attribute for each in self.templates for part in each.parts)

    @property
    def is_composed(self) -> bool:
        """Whether the program writes it; DynamoDB takes a natural key from the item."""
        return not all(each.is_natural for each in self.templates)

    @property
    def depends_on(self) -> frozenset[str]:
        """The stored attributes of the key and of its condition."""
        return self.attributes | (frozenset() if self.when is None else self.when.attributes)

    def renamed(self, names: Mapping[str, str]) -> KeyDescription:
        """Return the key of an entity whose attributes have other names."""
        return KeyDescription(
            tuple(
                replace(each, pieces=rename_pieces(each.pieces, names)) for each in self.templates
            ),
            None if self.when is None else self.when.renamed(names),
        )


class AttributeDescription(_Described, frozen=True):
    """A stored attribute of an entity."""

    #: The type of its values: `str`, `datetime`, `list[Decimal]`, `choice`; with ` | None` if None
    #: is stored.
    type: str
    #: The type tag of its stored values; "" if they have several.
    stored: str = ""
    #: The stored values of an Enum or a Literal, as texts.
    choices: tuple[str, ...] = ()
    #: Whether reads fail without it.
    is_required: bool = False
    #: Its stored value where an item has none; None if that is nothing, or another one each time.
    default: Value | None = None
    computes_default: bool = False
    role: Literal["", "version", "created_at", "updated_at", "ttl", "counter"] = ""
    #: Its stored name in earlier versions of the design; several if its entity is merged.
    renamed_from: str | tuple[str, ...] = ""

    @property
    def former_names(self) -> tuple[str, ...]:
        """Its stored names in earlier versions of the design."""
        return _former(self.renamed_from)


class UniqueDescription(_Described, frozen=True):
    """A unique value: the key of its sentinel, and the attributes that the sentinel contains."""

    key: KeyDescription
    keeps: tuple[str, ...] = ()


class HistoryDescription(_Described, frozen=True):
    """A history: the type of its events, and the source of each of their attributes."""

    event: str
    sources: dict[str, str] = {}
    #: Whether a write of the same value also adds an event.
    always: bool = False


class CounterDescription(_Described, frozen=True):
    """A counter of a parent: the types that it counts, and how their items name the parent."""

    child: tuple[str, ...]
    #: The attribute of the child that has the value of each attribute of the parent's key.
    by: dict[str, str]
    #: The attribute that is summed; "" for a count.
    summed: str = ""
    when: ConditionDescription | None = None

    def renamed(
        self, own: Mapping[str, str], theirs: Mapping[str, str], types: Mapping[str, str]
    ) -> CounterDescription:
        """Return the counter with other names of attributes of the parent, the child, and types."""
        return CounterDescription(
            tuple(sorted(types.get(each, each) for each in self.child)),
            {own.get(name, name): theirs.get(each, each) for name, each in self.by.items()},
            theirs.get(self.summed, self.summed),
            None if self.when is None else self.when.renamed(theirs),
        )


class EntityDescription(_Described, frozen=True):
    """The items of one type."""

    key: KeyDescription
    attributes: dict[str, AttributeDescription] = {}
    #: By index; an entity with alternative places in an index is in one of them at a time.
    places: dict[str, tuple[KeyDescription, ...]] = {}
    #: By the type of the sentinels.
    uniques: dict[str, UniqueDescription] = {}
    #: By the attribute whose changes are recorded.
    histories: dict[str, tuple[HistoryDescription, ...]] = {}
    #: By the attribute that counts.
    counters: dict[str, CounterDescription] = {}
    #: The types of the attributes that are stored only in keys, by their numbers.
    in_keys: dict[str, str] = {}
    #: The type of its items in earlier versions of the design; several if it is merged from them.
    renamed_from: str | tuple[str, ...] = ""

    @property
    def former_types(self) -> tuple[str, ...]:
        """The types of its items in earlier versions of the design."""
        return _former(self.renamed_from)


class KeyAttributes(_Described, frozen=True):
    """The key attributes of a table or an index, each with its type."""

    partition: tuple[tuple[str, str], ...]
    sort: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, keys: KeySchema) -> KeyAttributes:
        sides = (
            tuple((each.name, each.type) for each in side) for side in (keys.partition, keys.sort)
        )
        return cls(*sides)

    @property
    def schema(self) -> KeySchema:
        return KeySchema(
            *(tuple(KeyAttribute(*each) for each in side) for side in (self.partition, self.sort))
        )


class IndexDesign(_Described, frozen=True):
    """An index: its keys, and the attributes that it contains."""

    kind: Literal["local", "global"]
    keys: KeyAttributes
    projection: str = "ALL"
    include: tuple[str, ...] = ()


class TenancyDescription(_Described, frozen=True):
    """The partitions of a tenant."""

    tenant: str
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()


class TableDesign(_Described, frozen=True):
    """A table: its structure, and the entities in it."""

    keys: KeyAttributes
    indexes: dict[str, IndexDesign] = {}
    ttl: str = ""
    stream: str = ""
    type_attribute: str = ""
    type_form: Literal["text", "set", "list"] = "text"
    tenancy: TenancyDescription | None = None
    #: By the type of their items; None if only the structure is known, as of a template.
    entities: dict[str, EntityDescription] | None = None

    @classmethod
    def of(cls, table: TableDescription) -> TableDesign:
        """Return what a table is, without what is in it."""
        return cls(
            keys=KeyAttributes.of(table.keys),
            indexes={
                each.name: IndexDesign(
                    "local" if each.is_local else "global",
                    KeyAttributes.of(each.keys),
                    each.projection.type,
                    tuple(sorted(each.projection.include)),
                )
                for each in table.indexes
            },
            ttl=table.ttl or "",
            stream=table.stream or "",
        )

    def structure(self, name: str) -> TableDescription:
        """Return the table as the readers of `table_description` know it."""
        return TableDescription(
            name,
            self.keys.schema,
            tuple(
                IndexDescription(
                    index,
                    each.kind,
                    each.keys.schema,
                    ProjectedAttributes(each.projection, each.include),
                )
                for index, each in self.indexes.items()
            ),
            stream=self.stream or None,
            ttl=self.ttl or None,
        )


class DesignDescription(_Described, frozen=True):
    """The tables of a design, by name."""

    tables: dict[str, TableDesign]


def _former(renamed_from: str | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(renamed_from, tuple):
        return renamed_from
    return (renamed_from,) if renamed_from else ()


def describe_former(names: Iterable[str]) -> str | tuple[str, ...]:
    """Return `renamed_from` for former names, whose order has no meaning.

    >>> describe_former([]), describe_former(["b"]), describe_former(["b", "a"])
    ('', 'b', ('a', 'b'))
    """
    first, *others = sorted({*names}) or [""]
    return (first, *others) if others else first


def show_key(key: KeyDescription) -> str:
    """Return what a key is made of as text.

    >>> pieces = ("ORDER#", PartDescription("number", "padded({}, 6)"))
    >>> show_key(KeyDescription((TemplateDescription("PK", pieces),)))
    'PK=ORDER#{padded(number, 6)}'
    """
    text = ", ".join(f"{each.name}={show_template(each)}" for each in key.templates)
    return text if key.when is None else f"{text} when {show_condition(key.when)}"


def show_condition(condition: ConditionDescription) -> str:
    """Return a condition as text; OR is always in parentheses."""
    members = [show_condition(each) for each in condition.members]
    match condition.joined:
        case "AND":
            return " AND ".join(members)
        case "OR":
            return f"({' OR '.join(members)})"
        case "NOT":
            return f"NOT ({members[0]})"
    return "".join(piece if isinstance(piece, str) else piece.attribute for piece in condition.test)


def rename_pieces(
    pieces: tuple[str | PartDescription, ...], names: Mapping[str, str]
) -> tuple[str | PartDescription, ...]:
    """Return the pieces of a key or a condition on attributes with other names."""
    return tuple(
        piece
        if isinstance(piece, str)
        else PartDescription(names.get(piece.attribute, piece.attribute), piece.format)
        for piece in pieces
    )


def show_places(keys: Iterable[KeyDescription]) -> str:
    """Return the alternative places in an index as text; their order has no meaning."""
    return " | ".join(sorted(map(show_key, keys)))


def show_template(template: TemplateDescription) -> str:
    """Return what a key attribute is made of as text."""
    text = "".join(
        piece if isinstance(piece, str) else f"{{{piece.format.format(piece.attribute)}}}"
        for piece in template.pieces
    )
    if not template.delimiter:
        return text
    escaping = "" if template.escapes else ", not escaped"
    return f"{text} (delimiter {template.delimiter!r}{escaping})"


def read_lock(text: bytes, where: str) -> DesignDescription:
    """Return the description in a lock file; raise LockRefused, which names the file."""
    try:
        found = msgspec.json.decode(text, type=_Header).format
        if found > FORMAT:
            raise LockRefused(
                f"{where}: its format is {found}, and this version of Tablewright reads "
                f"formats up to {FORMAT}; use a newer version of Tablewright"
            )
        return msgspec.json.decode(text, type=_Lock).description
    except msgspec.MsgspecError as error:
        raise LockRefused(
            f"{where} is not a lock file: {error}; remove it, then write it again: tablewright lock"
        ) from None


class _Header(Struct):
    format: int


class _Lock(_Header, forbid_unknown_fields=True):
    tables: dict[str, TableDesign]

    @property
    def description(self) -> DesignDescription:
        return DesignDescription(self.tables)


def read_table_design(text: str) -> TableDesign:
    """Return the description of one table, as a record has it; raise msgspec.MsgspecError."""
    return msgspec.json.decode(text, type=TableDesign)


def write_table_design(table: TableDesign) -> str:
    """Return the description of one table on one line; equal descriptions give equal texts."""
    return json.dumps(_plain(table), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def write_lock(description: DesignDescription) -> str:
    """Return a description as canonical JSON: sorted, with one line for each small value."""
    return _write({"format": FORMAT, **_plain(description)}, 0) + "\n"


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it, without members that are equal to their defaults.

    (msgspec's `omit_defaults` leaves out identical objects only, so equal values would give several
    texts.)
    """
    if isinstance(value, Struct):
        members = zip(_fields(type(value)), astuple(value), strict=True)
        return {field.name: _plain(each) for field, each in members if each != _default(field)}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


@cache
def _fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return fields(kind)  # 0.2 ms: msgspec evaluates the annotations each time


def _default(field: FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is NODEFAULT else factory()


def _write(value: Any, indent: int) -> str:
    """Return JSON with as few lines as fit the width."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(text) + indent <= LINE_WIDTH or not isinstance(value, dict | list):
        return text
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        members = [
            f"{json.dumps(name, ensure_ascii=False)}: {_write(value[name], indent + 2)}"
            for name in sorted(value)
        ]
        opening, closing = "{", "}"
    else:
        members = [_write(each, indent + 2) for each in value]
        opening, closing = "[", "]"
    lines = ",\n".join(inner + member for member in members)
    return f"{opening}\n{lines}\n{' ' * indent}{closing}"
