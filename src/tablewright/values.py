"""Attribute values, in the form of DynamoDB's JSON.

A value is a dict with one entry, from its type tag to its content:

    {"S": "text"}  {"N": "12.5"}  {"B": "aGk="}  {"BOOL": true}  {"NULL": true}
    {"L": [value, ...]}  {"M": {name: value, ...}}  {"SS": [...]}  {"NS": [...]}  {"BS": [...]}

The engine works on this form and on *normal* values (see `tablewright.encoding.items`): numbers in
canonical form, sets sorted. So two values are equal exactly if their dicts are equal. Values are
never changed in place.

This module owns the comparison of values. It must not know expressions, tables or storage.
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
    """Return the type tag of a value: `tag_of({"S": "x"}) == "S"`."""
    for tag in value:
        return tag
    raise ValueError("a value has exactly one type")


def sorted_members(tag: str, members: Iterable[str]) -> list[str]:
    """Return the members of a set in the order of their type."""
    kind = SET_MEMBER[tag]
    if kind == "S":
        return sorted(members)
    return sorted(members, key=lambda content: sort_key(kind, content))


def sort_key(tag: str, content: str) -> Any:
    """Return a Python value that sorts as DynamoDB sorts contents of this type.

    Strings order by their UTF-8 bytes, which is also the order of their code points; numbers by
    value; binaries by their bytes, not by their base64 text.
    """
    if tag == "N":
        return Decimal(content)
    if tag == "B":
        return binascii.a2b_base64(content)
    return content
