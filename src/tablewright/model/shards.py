"""Shards: the partitions of one tenant, as typed key values.

A shard is declared as text with the tenant's id in braces: `U#{user_id}#O`. Which key value that is
for one tenant follows from the keys of the table's entities:

    the table's partition key                      tenant     key value
    composed, "U" / user_id / "O"                  x#y        {"S": "U#x$!y#O"}
    composed, with user_id: Attr[int] padded to 4  7          {"S": "U#0007#O"}
    natural, user_id: Attr[str] is the key itself  x#y        {"S": "x#y"}
    natural, user_id: Attr[int]                    7          {"N": "7"}

Invariant: two tenants never have the same key value. So the shards of a declaration must not be
able to collide, an id that stands differently in two keys is an error, and so is an id that makes
the shard equal to a partition which belongs to no tenant (a sentinel's, for example).

This module must not know requests.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias
from uuid import UUID

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.errors import DeclarationError, InvalidValue, ValidationException
from tablewright.mapping.keys import KeyMap, Template, can_collide
from tablewright.mapping.parts import ANY_TEXT, DELIMITER, KeyPart, escape
from tablewright.mapping.table import TableMap
from tablewright.values import Value, tag_of

#: The type tag of a key value and its content, in a form in which equal values are equal.
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


class Shard(Struct, frozen=True):
    """A partition of each tenant: the literals around the tenant's id."""

    tenant: str
    #: What stands before the id and behind it, with the delimiters.
    prefix: str
    suffix: str

    @classmethod
    def parse(cls, tenant: str, text: str) -> Shard:
        """Read a declared shard; raise DeclarationError if the id is not one whole part of it."""
        prefix, found, suffix = text.partition(f"{{{tenant}}}")
        if not found or re.search(r"\{.*?\}", prefix + suffix):
            raise DeclarationError(
                f"Tenancy({tenant!r}): the shard {text!r} must hold {{{tenant}}} once, and "
                "nothing else in braces"
            )
        if (prefix and not prefix.endswith(DELIMITER)) or (
            suffix and not suffix.startswith(DELIMITER)
        ):
            raise DeclarationError(
                f"Tenancy({tenant!r}): in the shard {text!r}, {{{tenant}}} must be a whole part, "
                f"between two {DELIMITER!r}"
            )
        return cls(tenant, prefix, suffix)

    def __str__(self) -> str:
        return f"{self.prefix}{{{self.tenant}}}{self.suffix}"

    @property
    def is_whole_key(self) -> bool:
        """The id is the whole key."""
        return not self.prefix and not self.suffix

    def segments(self) -> list[str | None]:
        """The literals, with None where the id stands."""
        before = self.prefix.split(DELIMITER)[:-1]
        return [*before, None, *self.suffix.split(DELIMITER)[1:]]

    def pattern(self) -> re.Pattern[str]:
        """A regular expression for the key values of all tenants."""
        text = re.escape(self.prefix) + ANY_TEXT + re.escape(self.suffix)
        return re.compile(text, re.DOTALL)

    def part_in(self, template: Template) -> KeyPart | None:
        """Return the part of a composed key that holds the id; None if the key is another."""
        own, theirs = self.segments(), template.segments
        part = theirs[own.index(None)] if len(own) == len(theirs) else None
        if not isinstance(part, KeyPart) or not all(
            literal is None or can_collide(literal, segment)
            for literal, segment in zip(own, theirs, strict=True)
        ):
            return None
        return part


def refuse_collisions(shards: Sequence[Shard]) -> None:
    """Raise DeclarationError if two tenants can have the same shard, as with A#{id} and {id}#B."""
    for position, shard in enumerate(shards):
        for other in shards[:position]:
            here, there = shard.segments(), other.segments()
            if (
                shard != other
                and len(here) == len(there)
                and all(
                    one is None or another is None or one == another
                    for one, another in zip(here, there, strict=True)
                )
            ):
                raise DeclarationError(
                    f"Tenancy({shard.tenant!r}): the shards {str(shard)!r} and {str(other)!r} can "
                    "be the same partition for two tenants; begin each with a literal of its own"
                )


def shard_value(shard: Shard, others: Sequence[Shard], table: TableMap, tenant: object) -> Value:
    """Return the key value of a tenant's shard.

    Raise InvalidValue if the keys cannot hold the id, or if the shard would be a partition that
    is not the tenant's.
    """
    where = f"for_tenant({shard.tenant}={tenant!r})"
    try:
        found = {key_value(value): value for value in _values(shard, table, tenant)}
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error}") from None
    if len(found) > 1:
        shown = " and ".join(repr(value) for value in found.values())
        raise InvalidValue(
            f"{where}: the keys of {table.owner} hold this id in different forms, {shown}; give "
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


def _values(shard: Shard, table: TableMap, tenant: object) -> Iterator[Value]:
    """The values that the shard has in those keys of the table that hold the id."""
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
        yield {"S": shard.prefix + escape(text) + shard.suffix}


def _part_text(shard: Shard, key: KeyMap, part: KeyPart, tenant: object) -> str:
    if part.derive is not None and part.attribute == shard.tenant:
        raise DeclarationError(
            f"{key.name}: several values of {shard.tenant!r} have the same {part.label}, so the "
            f"partition {str(shard)!r} belongs to no single tenant"
        )
    try:
        return part.text(tenant)
    except InvalidValue:
        # An id may be given as its text, and a number or a UUID for a text.
        text = _plain_text(tenant) if part.is_free_text or isinstance(tenant, str) else None
        if text is None:
            raise
        return escape(text)


def _plain_text(tenant: object) -> str | None:
    """The text of an id; None for objects whose text could be mistaken for another id."""
    if isinstance(tenant, str):
        return str.__str__(tenant)
    if isinstance(tenant, (int, UUID)) and not isinstance(tenant, bool):
        return str(tenant)
    return None


def _refuse_foreign(
    shard: Shard, others: Sequence[Shard], table: TableMap, value: Value, where: str
) -> None:
    """Raise InvalidValue for an id that makes the shard equal to another key's partition."""
    text = value.get("S")
    if text is None:
        return
    foreign = [
        (key.name, re.compile(key.partition.pattern(), re.DOTALL))
        for key in _keys(table)
        if key.partition.natural is None and shard.part_in(key.partition) is None
    ]
    if shard.is_whole_key:
        foreign += [(str(other), other.pattern()) for other in others if other != shard]
    for name, pattern in foreign:
        if pattern.fullmatch(text):
            raise InvalidValue(
                f"{where}: the id reads like a partition of {name}, which is not this tenant's; "
                "use another id for the tenant"
            )


def _keys(table: TableMap) -> Iterator[KeyMap]:
    """Every key that an item of the table can have."""
    for entity in table.entities:
        yield entity.primary
        for unique in entity.uniques:
            yield unique.key
