"""Key values as texts, and back: as a person types them, and as parts of URLs.

A text becomes a key value by the type of its attribute: a number as it is, a binary in base64.
This module must not know a design, or HTML.
"""

from __future__ import annotations

import base64
import binascii

import msgspec

from tablewright.encoding.items import normalise
from tablewright.errors import InvalidValue, ValidationException
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value, tag_of


def key_value(text: str, attribute: KeyAttribute) -> Value:
    """Return the value of a key attribute that a person typed.

    Raises InvalidValue, which names the attribute, if the text is not of its type.
    """
    try:
        value = normalise({attribute.type: text})
        if attribute.type == "B":
            binascii.a2b_base64(text, strict_mode=True)
        if text:
            return value
    except (ValidationException, ValueError):
        pass
    wanted = {"S": "a text", "N": "a number", "B": "a binary value in base64"}[attribute.type]
    raise InvalidValue(f"{attribute.name} must be {wanted}; {text!r} is not")


def key_text(value: Value) -> str:
    """Return a key value as a person types it."""
    return str(value[tag_of(value)])


def encode_cursor(key: Item) -> str:
    """Return a key as a part of a URL."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def decode_cursor(text: str) -> Item:
    """Return the key of a cursor. Raises InvalidValue if it is none."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(data, type=dict[str, dict[str, str]])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        message = "the key in the URL is malformed; start at the first page"
        raise InvalidValue(message) from None
