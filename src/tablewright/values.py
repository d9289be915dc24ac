"""Attribute values: what an item is made of, in the form DynamoDB's JSON gives them.

A value is a dict of one entry, its type tag and its content:

    {"S": "text"}  {"N": "12.5"}  {"B": "aGk="}  {"BOOL": true}  {"NULL": true}
    {"L": [value, ...]}  {"M": {name: value, ...}}  {"SS": [...]}  {"NS": [...]}  {"BS": [...]}

Everything inside the engine works on this form and on *normal* values (see
`tablewright.encoding.items`): numbers in their one canonical spelling, sets sorted. So two values
are equal exactly when their dicts are, and no code here ever changes a value in place.

This module knows how values compare; it knows nothing of expressions, tables or bytes on disk.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, TypeAlias

Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]

#: Wide enough that no sum or difference of two 38-digit numbers is rounded before it is checked.
EXACT = Context(prec=300)

SET_MEMBER = {"SS": "S", "NS": "N", "BS": "B"}


def tag_of(value: Mapping[str, Any]) -> str:
    """The type tag of a value: `tag_of({"S": "x"}) == "S"`."""
    for tag in value:
        return tag
    raise ValueError("a value has exactly one type")


def sorted_members(tag: str, members: Iterable[str]) -> list[str]:
    """The members of a set in the order of their type."""
    kind = SET_MEMBER[tag]
    return sorted(members, key=lambda content: sort_key(kind, content))


def sort_key(tag: str, content: str) -> Any:
    """A Python value that orders as DynamoDB orders contents of this type.

    Strings order by their UTF-8 bytes, which is also the order of their code points; numbers by
    value; binaries by their bytes, not by their base64 text.
    """
    if tag == "N":
        return Decimal(content)
    if tag == "B":
        return binascii.a2b_base64(content)
    return content
