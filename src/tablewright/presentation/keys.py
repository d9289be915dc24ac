"""Keys taken apart: what each piece of a stored key attribute is.

    ORDER#O101#ITEM#I2      "ORDER#" fixed, "O101" order_id, "#ITEM#" fixed, "I2" item_id

A text that a person typed becomes a key value by the type of its attribute: a number as it is, a
binary in base64. A whole key becomes one word, a token, for URLs and the command line; it is not
encrypted, unlike the cursors of `Page`.

Invariant: the texts of the pieces together are the stored text. This module must not know HTML. It
imports nothing of `mapping`, because commands without a design read keys, too, and start fast.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tablewright.encoding.items import normalise
from tablewright.errors import InvalidValue, ValidationException
from tablewright.presentation.values import middle

if TYPE_CHECKING:
    from tablewright.mapping.entity import EntityMap
    from tablewright.mapping.item_kind import ItemKind
    from tablewright.mapping.keys import KeyMap
    from tablewright.mapping.template import Parser
    from tablewright.schema import KeyAttribute
    from tablewright.table_description import IndexDescription
    from tablewright.values import Item, Value

#: The longest title of an item.
TITLE = 60
#: How messages name the types of key attributes.
KEY_TYPES = {"S": "a string", "N": "a number", "B": "a binary value in base64"}


class KeyPiece(Struct, frozen=True):
    """A piece of a key: fixed text, or the value of an attribute."""

    text: str
    #: The attribute in Python; "" for fixed text, and for a key that nothing explains.
    attribute: str = ""
    #: The attribute with its format, by its stored name: `createdAt`, `day(createdAt)`.
    label: str = ""
    #: The value is missing, so the item is not in the index.
    is_missing: bool = False


def take_apart(
    value: Value, key: KeyMap | None, attribute: str, entity: EntityMap | None
) -> list[KeyPiece]:
    """Return the pieces of a stored key attribute; one without a label if it is another key."""
    text = key_text(value)
    if key is None or entity is None or attribute not in key.templates:
        return [KeyPiece(text)]
    template = key.templates[attribute]
    if not template.is_text:
        part = template.parts[0] if template.parts else None
        if part is None:
            return [KeyPiece(text)]
        return [KeyPiece(text, part.attribute, label(entity, part.attribute, part.label))]
    texts = parser(key, attribute).texts(text)
    if texts is None:
        return [KeyPiece(text)]
    values = iter(texts)
    return [
        KeyPiece(piece)
        if isinstance(piece, str)
        else KeyPiece(next(values), piece.attribute, label(entity, piece.attribute, piece.label))
        for piece in template.pieces
    ]


def key_pieces(
    collection: IndexDescription, kind: ItemKind, item: Mapping[str, Value], attribute: str
) -> list[KeyPiece]:
    """Return the pieces of a key attribute of an item, in the table or in an index."""
    for key in kind.keys_in(collection.name):
        pieces = take_apart(item[attribute], key, attribute, kind.entity)
        if len(pieces) > 1 or pieces[0].label:
            return pieces
    return [KeyPiece(key_text(item[attribute]))]


def own_value(collection: IndexDescription, kind: ItemKind, item: Mapping[str, Value]) -> str:
    """Return what distinguishes an item from others of its kind: the last value in its key.

    The middle of a long one is left out.
    """
    names = collection.keys.names
    pieces = [piece for name in names for piece in key_pieces(collection, kind, item, name)]
    values = [piece.text for piece in pieces if piece.label]
    return middle(values[-1] if values else pieces[-1].text, TITLE)


def explain_missing(
    values: Mapping[str, object], key: KeyMap, attribute: str, entity: EntityMap
) -> list[KeyPiece]:
    """Return the pieces that a key attribute would have; those without a value are missing."""
    pieces = []
    for piece in key.templates[attribute].pieces:
        if isinstance(piece, str):
            pieces.append(KeyPiece(piece))
            continue
        shown = label(entity, piece.attribute, piece.label)
        value = values.get(piece.attribute)
        argument = None if value is None else piece.argument(value)
        if argument is None:
            pieces.append(KeyPiece("∅", piece.attribute, shown, is_missing=True))
        else:
            pieces.append(KeyPiece(piece.text(argument), piece.attribute, shown))
    return pieces


@cache
def label(entity: EntityMap, attribute: str, shown: str) -> str:
    """Return the label of a part, with the stored name of its attribute."""
    found = entity.attributes.get(attribute)
    return shown if found is None else shown.replace(attribute, found.stored)


@cache
def parser(key: KeyMap, attribute: str) -> Parser:
    """Return what takes the texts of a key attribute apart, in any spelling."""
    from tablewright.mapping.template import Parser

    return Parser(key.templates[attribute], any_spelling=True)


def short_title(entity: EntityMap, item: Mapping[str, Value]) -> str:
    """Return what a person calls an item: its first text that is not part of its key."""
    for attribute in entity.attributes.values():
        value = item.get(attribute.stored, {})
        if "S" in value and attribute.name not in entity.primary.depends_on:
            return middle(key_text(value), TITLE)
    return ""


def key_value(text: str, attribute: KeyAttribute) -> Value:
    """Return the value of a key attribute that a person typed.

    Raises InvalidValue, which names the attribute, if the text is empty or not of its type.
    """
    problem = f"{text!r} is not" if text else "it is empty"
    try:
        value = normalise({attribute.type: text})
        if attribute.type == "B":
            binascii.a2b_base64(text, strict_mode=True)
        if text:
            return value
    except (ValidationException, ValueError):
        pass
    raise InvalidValue(f"{attribute.name} must be {KEY_TYPES[attribute.type]}; {problem}")


def key_text(value: Value) -> str:
    """Return a key value as a person types it."""
    (text,) = value.values()
    return str(text)


def key_token(key: Item) -> str:
    """Return a key as one word, which a URL can contain."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def read_key_token(token: str, problem: str) -> Item:
    """Return the key of a token; raise InvalidValue with the problem if it is none.

    The names and values of the key are not checked: the target does that.
    """
    try:
        data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return msgspec.json.decode(data, type=dict[str, dict[str, str]])
    except (ValueError, msgspec.MsgspecError):  # binascii.Error is a ValueError
        raise InvalidValue(problem) from None
