"""Shards: the declared partitions of tenants, and which key values they are for one tenant.

A shard is declared as text with the tenant's id in braces: `U#{user_id}#O`. `ORG#{org_id}#*` is all
partitions that begin with `ORG#{org_id}#`. A shared partition, `CATALOG` or `CATALOG#*`, has no id:
all tenants may read it. Which key value a shard is for one tenant follows from the keys of the
table's entities:

    the table's partition key                      tenant     key value
    composed, "U" / user_id / "O"                  x#y        {"S": "U#x$!y#O"}
    composed, with user_id: Attr[int] padded to 4  7          {"S": "U#0007#O"}
    natural, user_id: Attr[str] is the key itself  x#y        {"S": "x#y"}
    natural, user_id: Attr[int]                    7          {"N": "7"}

Invariant: no partition belongs to two tenants. So declared shards must not be able to collide, an
id that two keys write differently is an error, and so is an id whose shard is a partition that
belongs to no tenant (that of a sentinel, for example).

For prefixes this follows from the text of an id, which never contains the delimiter: it is escaped,
or refused if the table does not escape, and a format whose texts contain it is an error. In
`ORG#` + id + `#` + anything, the id therefore ends at the first `#` behind `ORG#`. If one such
text belonged to the tenants x and y, both ids would end there, and x and y would be equal.

The partitions of one tenant are a set of single keys, and of all texts that begin with one of some
prefixes:

    >>> own = Partitions.of([({"S": "ORG#a"}, False), ({"S": "ORG#a#"}, True)])
    >>> [{"S": text} in own for text in ("ORG#a", "ORG#a#PROJECT#7", "ORG#ab", "ORG#b#a")]
    [True, True, False, False]
    >>> str(own)
    'ORG#a, ORG#a#*'

Invariant: a value that cannot be a key is in no set. Values are compared with their types.

This module must not know requests.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.errors import DeclarationError, InvalidValue, ValidationException
from tablewright.limits import MAX_PARTITION_KEY_SIZE
from tablewright.mapping.key_condition import SortCondition
from tablewright.mapping.key_parts import Delimiter, KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.language import (
    ANY_CHARACTER,
    ANYTHING,
    EMPTY,
    Language,
    Repeat,
    intersects,
    literal,
    sequence,
)
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.values import Value, tag_of

#: The type tag of a key value and its content, normalized so that equal values compare equal.
KeyValue: TypeAlias = tuple[str, str | bytes]


def key_value(value: object) -> KeyValue | None:
    """Return the comparable form of a key value; None if it is not the value of a key.

    >>> key_value({"N": "7.0"}) == key_value({"N": "7"}), key_value({"S": "7"})
    (True, ('S', '7'))
    >>> key_value("7"), key_value({"S": "a", "N": "7"}), key_value({"N": "seven"})
    (None, None, None)
    """
    if type(value) is not dict or len(value) != 1:
        return None
    ((tag, content),) = value.items()
    if type(content) is not str:
        return None
    try:
        if tag == "S":
            return tag, content
        if tag == "N":
            return tag, normalise_number(content)
        if tag == "B":
            return tag, binascii.a2b_base64(content, strict_mode=True)
    except (ValidationException, ValueError):
        pass
    return None


class Partitions(Struct, frozen=True):
    """A set of partition keys."""

    #: The single keys, by their comparable forms.
    keys: Mapping[KeyValue, Value]
    #: All texts that begin with one of these are in the set, too.
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Iterable[tuple[Value, bool]]) -> Partitions:
        """Return the set of these keys; with True, of all keys that begin with the value."""
        keys: dict[KeyValue, Value] = {}
        prefixes: list[str] = []
        for value, is_prefix in values:
            comparable = key_value(value)
            if is_prefix:
                prefixes.append(value["S"])
            elif comparable is not None:
                keys[comparable] = value
        return cls(keys, tuple(prefixes))

    def __contains__(self, value: object) -> bool:
        comparable = key_value(value)
        return comparable is not None and (
            comparable in self.keys or any(_begins(comparable, each) for each in self.prefixes)
        )

    def covers(self, condition: SortCondition) -> bool:
        """Return whether every key that matches a condition is in the set."""
        if condition.comparison == "=":
            return condition.values[0] in self
        if condition.comparison not in ("begins_with", "between"):
            return False
        bounds = [key_value(value) for value in condition.values]
        # All texts between two that begin with the same prefix begin with it.
        return any(all(_begins(bound, prefix) for bound in bounds) for prefix in self.prefixes)

    def __str__(self) -> str:
        texts = [str(next(iter(value.values()))) for value in self.keys.values()]
        return ", ".join(sorted([*texts, *(f"{prefix}*" for prefix in self.prefixes)]))


def _begins(value: KeyValue | None, prefix: str) -> bool:
    if value is None:
        return False
    tag, content = value
    return tag == "S" and isinstance(content, str) and content.startswith(prefix)


#: At the end of a shard: everything that begins with the text before it.
STAR = "*"


class TenantShard(Struct, frozen=True):
    """A declared shard: the text around the tenant's id in the partition key."""

    tenant: str
    #: The texts before and after the id, with the delimiters.
    prefix: str
    suffix: str
    #: Whether the shard is every partition that begins with this text.
    is_prefix: bool = False
    delimiter: Delimiter = Delimiter.DEFAULT

    @classmethod
    def parse(cls, tenant: str, text: str) -> TenantShard:
        """Parse a declared shard; raise DeclarationError unless it contains the id once."""
        prefix, found, suffix = text.partition(f"{{{tenant}}}")
        if not found or _BRACES(prefix + suffix):
            raise DeclarationError(
                f"Tenancy({tenant!r}): the shard {text!r} must contain {{{tenant}}} once, and "
                "nothing else in braces"
            )
        return cls(tenant, prefix, suffix.removesuffix(STAR), suffix.endswith(STAR))

    def bind(self, delimiter: Delimiter) -> TenantShard:
        """Return the shard with a delimiter; raise DeclarationError if it does not fit."""
        if (self.prefix and not self.prefix.endswith(delimiter.text)) or (
            self.suffix and not self.suffix.startswith(delimiter.text)
        ):
            raise DeclarationError(
                f"Tenancy({self.tenant!r}): in the shard {str(self)!r}, {{{self.tenant}}} must be "
                f"a whole part, between two {delimiter.text!r}"
            )
        _check_star(self.tenant, str(self), delimiter)
        return TenantShard(self.tenant, self.prefix, self.suffix, self.is_prefix, delimiter)

    def __str__(self) -> str:
        return f"{self.prefix}{{{self.tenant}}}{self.suffix}{STAR if self.is_prefix else ''}"

    @property
    def is_whole_key(self) -> bool:
        """Whether the id is the whole key."""
        return not self.prefix and not self.suffix

    @property
    def following(self) -> Language:
        """The texts that may follow the text of the shard."""
        return ANYTHING if self.is_prefix else EMPTY

    def language(self) -> Language:
        """Return the partition keys of the shard for all tenants."""
        ids = self.delimiter.language(Repeat(ANY_CHARACTER, 1, None))
        return sequence(literal(self.prefix), ids, literal(self.suffix), self.following)

    def part_in(self, template: Template) -> KeyPart | None:
        """Return the part of a composed key that is the id; None if the key has another form."""
        behind = sequence(literal(self.suffix), self.following)
        found = [
            piece
            for position, piece in enumerate(template.pieces)
            if isinstance(piece, KeyPart)
            and intersects(template.language(0, position), literal(self.prefix))
            and intersects(template.language(position + 1), behind)
        ]
        return next(iter(found), None)


class SharedPartition(Struct, frozen=True):
    """A partition that every tenant may read, or all partitions with a prefix."""

    text: str
    is_prefix: bool = False

    @classmethod
    def parse(cls, tenant: str, text: str, delimiter: Delimiter) -> SharedPartition:
        """Parse a declared partition; raise DeclarationError if it is not a plain text."""
        if not text or _BRACES(text):
            raise DeclarationError(
                f"Tenancy({tenant!r}): shared={text!r} must be the text of a partition key, "
                "without braces: all tenants have the same one"
            )
        _check_star(tenant, text, delimiter)
        return cls(text.removesuffix(STAR), text.endswith(STAR))

    def __str__(self) -> str:
        return self.text + (STAR if self.is_prefix else "")

    def language(self) -> Language:
        """Return the key values that are shared."""
        return sequence(literal(self.text), ANYTHING if self.is_prefix else EMPTY)


_BRACES = re.compile(r"\{.*?\}").search


def _check_star(tenant: str, text: str, delimiter: Delimiter) -> None:
    """Raise DeclarationError for a star that is not the last part of the key."""
    if STAR in text.removesuffix(delimiter.text + STAR):
        raise DeclarationError(
            f"Tenancy({tenant!r}): in {text!r}, {STAR} must be the last part, after "
            f"{delimiter.text!r}: it is everything that begins with the text before it"
        )


def refuse_collisions(shards: Sequence[TenantShard], shared: Sequence[SharedPartition]) -> None:
    """Raise DeclarationError if two tenants, or a tenant and all, can have the same partition.

    `A#{id}` and `{id}#B` can both be `A#B`.
    """
    for position, shard in enumerate(shards):
        for other in shards[:position]:
            # After the same prefix, the id is the same in both.
            if shard.prefix != other.prefix and intersects(shard.language(), other.language()):
                raise DeclarationError(
                    f"Tenancy({shard.tenant!r}): the shards {str(shard)!r} and {str(other)!r} can "
                    "be the same partition for two tenants; begin each with a literal of its own"
                )
        for partition in shared:
            # An id that is the whole key is checked in `shard_value`.
            if not shard.is_whole_key and intersects(shard.language(), partition.language()):
                raise DeclarationError(
                    f"Tenancy({shard.tenant!r}): the shared partition {str(partition)!r} can be "
                    f"the shard {str(shard)!r} of a tenant; begin each with a literal of its own"
                )


def shard_value(
    shard: TenantShard,
    others: Sequence[TenantShard | SharedPartition],
    table: TableMap,
    tenant: object,
) -> Value:
    """Return the partition key of a tenant's shard, or the prefix of its partition keys.

    Raise InvalidValue if the keys cannot contain the id, or if the shard would be a partition that
    does not belong to the tenant.
    """
    where = f"for_tenant({shard.tenant}={tenant!r})"
    try:
        found = {key_value(value): value for value in _values(shard, table, tenant)}
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error}") from None
    if len(found) > 1:
        shown = " and ".join(repr(value) for value in found.values())
        raise InvalidValue(
            f"{where}: the keys of {table.owner} contain this id in different forms, {shown}; give "
            f"the attribute one type, and the key {str(shard)!r} one form"
        )
    value = next(iter(found.values()))
    known = table.key_types.get(table.attributes[0], "S")
    if tag_of(value) != known:
        raise DeclarationError(
            f"{where}: the shard {str(shard)!r} is a text, and {table.attributes[0]!r} is a key "
            f"of type {known}; use the shard '{{{shard.tenant}}}'"
        )
    _refuse_foreign(shard, others, table, value, where)
    return value


def _values(shard: TenantShard, table: TableMap, tenant: object) -> Iterator[Value]:
    """Yield the value of the shard in each key of the table that contains the id."""
    is_declared = False
    for key in _keys(table):
        template = key.partition
        if template.natural is not None:
            if shard.is_whole_key:
                is_declared = True
                yield template.natural.encode(tenant)
            continue
        part = shard.part_in(template)
        if part is not None:
            is_declared = True
            yield {"S": shard.prefix + _part_text(shard, key, part, tenant) + shard.suffix}
    if not is_declared:
        text = _plain_text(tenant)
        if text is None:
            raise InvalidValue("the id must be a str, an int or a UUID")
        yield {"S": shard.prefix + shard.delimiter.write(text) + shard.suffix}


def _part_text(shard: TenantShard, key: KeyMap, part: KeyPart, tenant: object) -> str:
    if part.notation.derive is not None and part.attribute == shard.tenant:
        raise DeclarationError(
            f"{key.name}: several values of {shard.tenant!r} have the same {part.label}, so the "
            f"partition {str(shard)!r} belongs to no single tenant; use {shard.tenant} without a "
            "format"
        )
    _check_end_of_id(shard, key, part)
    try:
        return part.text(tenant)
    except InvalidValue:
        # An id may be passed as its text, and a number or a UUID for a text.
        text = _plain_text(tenant) if part.is_free_text or isinstance(tenant, str) else None
        if text is None:
            raise
        return shard.delimiter.write(text)


def _check_end_of_id(shard: TenantShard, key: KeyMap, part: KeyPart) -> None:
    """Raise DeclarationError if an id in a prefix can contain the delimiter that ends it."""
    end = literal(shard.delimiter.text)
    earlier = sequence(ANYTHING, end, ANY_CHARACTER, ANYTHING)
    if shard.is_prefix and intersects(sequence(part.language, end), earlier):
        raise DeclarationError(
            f"{key.name}: {part.label} can contain {shard.delimiter.text!r}, so the partitions "
            f"{str(shard)!r} of one tenant can begin like those of another; use another format, or "
            "declare the shards without a *"
        )


def _plain_text(tenant: object) -> str | None:
    """Return the text of an id; None for types whose text could equal that of another id."""
    if isinstance(tenant, str):
        return str.__str__(tenant)
    if isinstance(tenant, (int, UUID)) and not isinstance(tenant, bool):
        return str(tenant)
    return None


def _refuse_foreign(
    shard: TenantShard,
    others: Sequence[TenantShard | SharedPartition],
    table: TableMap,
    value: Value,
    where: str,
) -> None:
    """Raise InvalidValue for an id whose shard would contain a partition of other keys."""
    text = value.get("S")
    if text is None:
        return
    size = len(text.encode())
    if size > MAX_PARTITION_KEY_SIZE:  # comparing it with the keys below would take seconds
        raise InvalidValue(
            f"for_tenant({shard.tenant}=…): the id makes a partition key of {size:,} bytes; the "
            f"maximum is {MAX_PARTITION_KEY_SIZE:,}: use a shorter id"
        )
    if shard.is_prefix:
        _refuse_natural(shard, table)
    foreign = [
        (key.name, key.partition.language())
        for key in _keys(table)
        if key.partition.natural is None and shard.part_in(key.partition) is None
    ]
    if shard.is_whole_key:
        foreign += [(str(other), other.language()) for other in others if other != shard]
    own = sequence(literal(text), shard.following)
    for name, language in foreign:
        if intersects(language, own):
            raise InvalidValue(
                f"{where}: the id reads like a partition of {name}, which is not this tenant's; "
                "use another id for the tenant"
            )


def _refuse_natural(shard: TenantShard, table: TableMap) -> None:
    """Raise DeclarationError if a key that is not composed can begin with a tenant's prefix."""
    for key in _keys(table):
        if key.partition.natural is not None and intersects(
            key.partition.language(), shard.language()
        ):
            raise DeclarationError(
                f"{key.name}: its partition key can be any text, so it could equal a tenant's "
                f"partition {str(shard)!r}; compose the key, or declare the shards without a *"
            )


def _keys(table: TableMap) -> list[KeyMap]:
    """Return every key that an item of the table can have."""
    return [key for entity in table.entities for key in entity.table_keys]
