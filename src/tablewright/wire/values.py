"""Attribute values on the wire: are they made of the JSON types that their tags demand?

Only the types are checked here (a SerializationException); whether a value means something, say
whether a number is one, is the business of `tablewright.encoding.items`. Tags that are null or
unknown are dropped, as DynamoDB's parser drops them.

An item whose lists, maps and sets have more entries than it may have bytes is refused before they
are read: each entry counts for at least one byte. (DynamoDB would report a mistake in an entry
first. In ExpressionAttributeValues, which hold up to 2 MB, it would take such a list; no item can
equal it.)
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from operator import is_
from typing import Any

from tablewright.encoding.items import ITEM_TOO_LARGE, TOO_DEEP
from tablewright.errors import SerializationException, ValidationException
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Value

# More than 32 levels are refused anyway; this only keeps hostile nesting off the stack.
MAX_LEVELS = 64
#: What DynamoDB counts for a list or a map beside its entries, in bytes.
COLLECTION_OVERHEAD = 3


class _Room:
    """How many more bytes the lists, maps and sets of one item may have, at one byte an entry."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_ITEM_SIZE

    def take(self, size: int, level: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValidationException(ITEM_TOO_LARGE)
        if level > MAX_LEVELS:
            raise ValidationException(TOO_DEEP)


def read_value(raw: Any) -> Value:
    """A value whose contents have the right JSON types; the value itself if nothing is dropped."""
    return _value(raw, 0, None)


def read_values(raw: dict[str, Any]) -> dict[str, Value]:
    """The values of an item; the item itself if all of them are texts, as in most keys."""
    if len(raw) > MAX_ITEM_SIZE:
        raise ValidationException(ITEM_TOO_LARGE)
    for value in raw.values():
        if type(value) is not dict or len(value) != 1 or type(value.get("S")) is not str:
            break
    else:
        return raw
    room = _Room()
    room.take(len(raw), 0)
    return _values(raw, 0, room)


def _value(raw: Any, level: int, room: _Room | None) -> Value:
    if type(raw) is not dict:
        raise mismatch(raw, f"{MODEL}.AttributeValue", element=True)
    if len(raw) == 1:
        ((tag, content),) = raw.items()
        if type(content) is _PLAIN.get(tag):
            return raw
        if content is None or tag not in _READERS:
            return {}
        found = _READERS[tag](content, level, room or _Room())
        return raw if found is content else {tag: found}
    room = room or _Room()
    return {
        tag: _READERS[tag](content, level, room)
        for tag, content in raw.items()
        if content is not None and tag in _READERS
    }


def _values(raw: dict[str, Any], level: int, room: _Room) -> dict[str, Value]:
    """The values of an item or a map. Most are plain strings, and pass without a call."""
    return {
        name: value
        if type(value) is dict and len(value) == 1 and type(value.get("S")) is str
        else _value(value, level, room)
        for name, value in raw.items()
    }


def _text(raw: Any, level: int, room: _Room) -> str:
    if type(raw) is not str:
        raise mismatch(raw, "java.lang.String")
    return raw


def _boolean(raw: Any, level: int, room: _Room) -> bool:
    if type(raw) is not bool:
        raise mismatch(raw, "java.lang.Boolean")
    return raw


def _binary(raw: Any, level: int, room: _Room) -> str:
    if type(raw) is not str:
        if type(raw) in (bytes, bytearray):
            raise TypeError("in DynamoDB's JSON a binary is base64 text, not bytes")
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
    if not raw:
        return raw
    if len(raw) % 4:
        raise SerializationException(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(raw)}"
        )
    try:
        decoded = binascii.a2b_base64(raw, strict_mode=True)
    except ValueError:
        raise SerializationException("Invalid Base64 character in the value") from None
    # Unused bits of the last character may be set: two texts for the same bytes would not be equal.
    return binascii.b2a_base64(decoded, newline=False).decode()


def _list(raw: Any, level: int, room: _Room) -> list[Value]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    if not raw:
        return raw
    room.take(COLLECTION_OVERHEAD + len(raw), level)
    found = [
        value
        if type(value) is dict and len(value) == 1 and type(value.get("S")) is str
        else _value(value, level + 1, room)
        for value in raw
    ]
    return raw if all(map(is_, found, raw)) else found


def _map(raw: Any, level: int, room: _Room) -> dict[str, Value]:
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    if not raw:
        return raw
    room.take(COLLECTION_OVERHEAD + len(raw), level)
    found = _values(raw, level + 1, room)
    return raw if all(map(is_, found.values(), raw.values())) else found


def _texts(raw: Any, level: int, room: _Room) -> list[str]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    room.take(len(raw), level)
    if set(map(type, raw)) <= {str}:
        return raw
    return [_text(member, level, room) for member in raw]


def _binaries(raw: Any, level: int, room: _Room) -> list[str]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    room.take(len(raw), level)
    return [_binary(member, level, room) for member in raw]


#: What has nothing further to check than its JSON type.
_PLAIN = {"S": str, "N": str, "BOOL": bool, "NULL": bool}
_READERS: dict[str, Callable[[Any, int, _Room], Any]] = {
    "S": _text,
    "N": _text,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _boolean,
    "SS": _texts,
    "NS": _texts,
    "BS": _binaries,
    "L": _list,
    "M": _map,
}

_JSON_TYPES = (dict, list, str, int, float, bool, type(None))
MODEL = "com.amazonaws.dynamodb.v20120810"
VALUES = f"java.util.Map<java.lang.String, {MODEL}.AttributeValue>"


def mismatch(raw: Any, wanted: str, *, element: bool = False) -> SerializationException:
    """The fault for JSON of the wrong type, in the words of DynamoDB's parser.

    `wanted` is the Java type that DynamoDB has there; `element` says that it is one of several.
    """
    if type(raw) not in _JSON_TYPES:
        raise TypeError(f"{raw!r} is not a value of JSON; numbers and binaries are text there")
    if type(raw) is dict:
        return SerializationException("Start of structure or map found where not expected")
    if type(raw) is list:
        kind = "" if wanted.startswith("java.util.") else "class "
        return SerializationException(f"Unrecognized collection type {kind}{wanted}")
    if not wanted.startswith("java.lang."):
        return SerializationException(
            "Unexpected value type in payload" if element else "Unexpected field type"
        )
    if wanted == "java.lang.Boolean" and type(raw) is str:
        return SerializationException("Unexpected token received from parser")
    token = "DECIMAL_VALUE" if type(raw) is float else "NUMBER_VALUE"
    if type(raw) is str:
        token = "STRING_VALUE"
    elif type(raw) is bool:
        token = "TRUE_VALUE" if raw else "FALSE_VALUE"
    elif raw is None:
        token = "NULL_VALUE"
    return SerializationException(
        f"{token} cannot be converted to {wanted.removeprefix('java.lang.')}"
    )
