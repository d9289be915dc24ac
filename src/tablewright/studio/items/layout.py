"""The layout of a table at the target: the keys of the table and of each of its indexes.

An `ItemCollection` is the table itself or an index: a place where items are grouped by a partition
key and sorted by a sort key. Texts that a person types become key values by the types of the key
attributes: a number as it is, a binary in base64.

This module must not know a design, or HTML.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.encoding.items import normalise
from tablewright.errors import InvalidValue, ValidationException
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.values import Item, Value, tag_of

Kind: TypeAlias = Literal["table", "global", "local"]


class ItemCollection(Struct, frozen=True):
    """The table, whose name is "", or an index."""

    name: str
    kind: Kind
    keys: KeySchema
    projection: str = "ALL"
    included: tuple[str, ...] = ()
    #: An index that is still being built cannot be read.
    is_ready: bool = True

    def contains(self, item: Mapping[str, Value]) -> bool:
        """Return whether DynamoDB has an item here: it has all key attributes, with their types."""
        return all(each.name in item and each.type in item[each.name] for each in self.keys)

    def partition_of(self, item: Mapping[str, Value]) -> tuple[Value, ...]:
        """Return the partition key of an item that is here."""
        return tuple(item[each.name] for each in self.keys.partition)

    @property
    def title(self) -> str:
        return self.name or "table"


class Layout(Struct, frozen=True):
    """A table: its own collection, and those of its indexes."""

    table: str
    base: ItemCollection
    indexes: tuple[ItemCollection, ...]
    #: About how many items it has; DynamoDB updates the number every six hours.
    item_count: int = 0

    @property
    def collections(self) -> tuple[ItemCollection, ...]:
        return (self.base, *self.indexes)

    def find(self, name: str) -> ItemCollection | None:
        """Return the index of a name, or the table for ""."""
        return next((each for each in self.collections if each.name == name), None)

    def can_read(self, name: str) -> bool:
        """Return whether an index exists and can be read; "" is the table."""
        found = self.find(name)
        return found is not None and found.is_ready

    def key(self, item: Mapping[str, Value]) -> Item:
        """Return the key of an item in the table."""
        return {name: item[name] for name in self.base.keys.names}

    def start_key(self, collection: ItemCollection, item: Mapping[str, Value]) -> Item:
        """Return the key after which a page of a collection starts: ExclusiveStartKey."""
        names = dict.fromkeys((*self.base.keys.names, *collection.keys.names))
        return {name: item[name] for name in names}


def read_layout(description: Mapping[str, Any]) -> Layout:
    """Return the layout of a table from its description, the response of DescribeTable."""
    types = {
        each["AttributeName"]: each["AttributeType"] for each in description["AttributeDefinitions"]
    }
    return Layout(
        description["TableName"],
        ItemCollection("", "table", _keys(description, types)),
        (
            *(_index(each, "local", types) for each in _of(description, "LocalSecondaryIndexes")),
            *(_index(each, "global", types) for each in _of(description, "GlobalSecondaryIndexes")),
        ),
        description.get("ItemCount", 0),
    )


def _of(description: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return description.get(name) or []


def _index(index: Mapping[str, Any], kind: Kind, types: Mapping[str, str]) -> ItemCollection:
    projection = index.get("Projection", {})
    return ItemCollection(
        index["IndexName"],
        kind,
        _keys(index, types),
        projection.get("ProjectionType", "ALL"),
        tuple(projection.get("NonKeyAttributes", ())),
        index.get("IndexStatus", "ACTIVE") != "CREATING",
    )


def _keys(holder: Mapping[str, Any], types: Mapping[str, str]) -> KeySchema:
    def of(kind: str) -> tuple[KeyAttribute, ...]:
        return tuple(
            KeyAttribute(each["AttributeName"], types[each["AttributeName"]])
            for each in holder["KeySchema"]
            if each["KeyType"] == kind
        )

    return KeySchema(of("HASH"), of("RANGE"))


# --- texts <-> key values ------------------------------------------------------------------------


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
