"""Attribute values on the wire: are they made of the JSON types that their tags demand?

Only the types are checked here (a SerializationException); whether a value means something, say
whether a number is one, is the business of `tablewright.encoding.items`. Tags that are null or
unknown are dropped, as DynamoDB's parser drops them.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import Any

from tablewright.encoding.items import TOO_DEEP
from tablewright.errors import SerializationException, ValidationException
from tablewright.values import Value

# More than 32 levels are refused anyway; this only keeps hostile nesting off the stack.
_MAX_LEVELS = 64


def read_value(raw: Any, level: int = 0) -> Value:
    """A value whose contents have the right JSON types."""
    if type(raw) is not dict:
        raise mismatch(raw, f"{MODEL}.AttributeValue", element=True)
    return {
        tag: _READERS[tag](content, level)
        for tag, content in raw.items()
        if content is not None and tag in _READERS
    }


def read_values(raw: dict[str, Any], level: int = 0) -> dict[str, Value]:
    """The values of an item or a map. Most are plain strings, and pass without a call."""
    return {
        name: value
        if type(value) is dict and len(value) == 1 and type(value.get("S")) is str
        else read_value(value, level)
        for name, value in raw.items()
    }


def _text(raw: Any, level: int) -> str:
    if type(raw) is not str:
        raise mismatch(raw, "java.lang.String")
    return raw


def _boolean(raw: Any, level: int) -> bool:
    if type(raw) is not bool:
        raise mismatch(raw, "java.lang.Boolean")
    return raw


def _binary(raw: Any, level: int) -> str:
    if type(raw) is not str:
        if type(raw) in (bytes, bytearray):
            raise TypeError("in DynamoDB's JSON a binary is base64 text, not bytes")
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
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


def _list(raw: Any, level: int) -> list[Value]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    _bound(level)
    return [read_value(value, level + 1) for value in raw]


def _map(raw: Any, level: int) -> dict[str, Value]:
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    _bound(level)
    return read_values(raw, level + 1)


def _bound(level: int) -> None:
    if level > _MAX_LEVELS:
        raise ValidationException(TOO_DEEP)


def _set_of(member: Callable[[Any, int], str]) -> Callable[[Any, int], list[str]]:
    def read_set(raw: Any, level: int) -> list[str]:
        if type(raw) is not list:
            raise mismatch(raw, "java.util.List")
        return [member(element, level) for element in raw]

    return read_set


_READERS: dict[str, Callable[[Any, int], Any]] = {
    "S": _text,
    "N": _text,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _boolean,
    "SS": _set_of(_text),
    "NS": _set_of(_text),
    "BS": _set_of(_binary),
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
