"""Keys taken apart: what each piece of a stored key attribute is.

    ORDER#O101#ITEM#I2      "ORDER#" fixed, "O101" order_id, "#ITEM#" fixed, "I2" item_id

Invariant: the texts of the pieces together are the stored text. This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.keys import KeyMap
from tablewright.studio.items.key_values import key_text
from tablewright.studio.items.kinds import parser
from tablewright.table_description import IndexDescription
from tablewright.values import Value

#: How much space is added at most to align a part.
MAX_PADDING = 12


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
    """Return what tells an item from others of its kind: the last value in its key."""
    names = collection.keys.names
    pieces = [piece for name in names for piece in key_pieces(collection, kind, item, name)]
    values = [piece.text for piece in pieces if piece.label]
    return values[-1] if values else pieces[-1].text


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


def label(entity: EntityMap, attribute: str, shown: str) -> str:
    """Return the label of a part, with the stored name of its attribute."""
    found = entity.attributes.get(attribute)
    return shown if found is None else shown.replace(attribute, found.stored)


def column_widths(keys: Iterable[list[KeyPiece]]) -> dict[tuple[str, ...], int]:
    """Return the width of each part that is followed by others, for aligning keys in a column.

    Parts align if what is before them is the same: the order of an item with the order itself.
    Texts whose lengths differ much do not: the space between would separate what belongs together.
    """
    lengths: dict[tuple[str, ...], set[int]] = {}
    for pieces in keys:
        for path, piece in paths(pieces):
            if piece.label:
                lengths.setdefault(path, set()).add(len(piece.text))
    return {
        path: max(found)
        for path, found in lengths.items()
        if max(found) - min(found) <= MAX_PADDING
    }


def short_title(entity: EntityMap, item: Mapping[str, Value]) -> str:
    """Return what a person calls an item: its first text that is not part of its key."""
    for attribute in entity.attributes.values():
        value = item.get(attribute.stored, {})
        if "S" in value and attribute.name not in entity.primary.depends_on:
            return key_text(value)
    return ""


def paths(pieces: list[KeyPiece]) -> list[tuple[tuple[str, ...], KeyPiece]]:
    """Return each piece with what is before it: fixed texts, and the labels of values."""
    found = []
    path: tuple[str, ...] = ()
    for piece in pieces:
        path = (*path, f"{{{piece.label}}}" if piece.label else piece.text)
        found.append((path, piece))
    return found
