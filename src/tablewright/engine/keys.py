"""Keys: encode the key of an item's row, and check its key attributes.

One `Keys` exists for each table and index. A valid key is encoded without separate checks; only if
encoding fails are the attributes checked for the fault to raise.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.encoding.items import value_size
from tablewright.encoding.keys import (
    END,
    EmptyComponent,
    decode_component,
    encode_component,
    partition,
)
from tablewright.errors import ValidationException, invalid
from tablewright.limits import MAX_PARTITION_KEY_SIZE, MAX_SORT_KEY_SIZE
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.values import Item, Value, tag_of

KEY_MISMATCH = "The provided key element does not match the schema"
_NO_VALUE: Value = {}
_EMPTY_KINDS = {"S": "string", "B": "binary"}


class Keys:
    """Encodes and checks the key attributes of a table or an index."""

    __slots__ = (
        "_components",
        "attributes",
        "names",
        "partition_names",
        "schema",
        "sort_names",
        "types",
    )

    def __init__(self, schema: KeySchema) -> None:
        self.schema = schema
        self.attributes = tuple(schema)
        self.names = schema.names
        self.partition_names = tuple(attribute.name for attribute in schema.partition)
        self.sort_names = tuple(attribute.name for attribute in schema.sort)
        self.types = {attribute.name: attribute.type for attribute in schema}
        #: The name and type of each attribute, and whether it is the last one of the partition key.
        self._components = tuple(
            (attribute.name, attribute.type, attribute is schema.partition[-1])
            for attribute in schema
        )

    def encode(self, item: Item) -> bytes | None:
        """Return the key bytes of an item; None if an attribute is missing, empty or mistyped."""
        key = b""
        try:
            for name, tag, ends_partition in self._components:
                content = item[name][tag]
                if tag == "S" and content and "\x00" not in content:  # most of them, without a call
                    key += content.encode() + END
                else:
                    key += encode_component(tag, content)
                if ends_partition:
                    key = partition(key)
        except (KeyError, EmptyComponent):
            return None
        return key

    def decode(self, components: bytes) -> tuple[Item, bytes]:
        """Decode the key attributes of a row key (without its checksum); return them and the rest.

        Raise ValueError or IndexError if the bytes are not a valid key.
        """
        values: Item = {}
        for name, tag, _ in self._components:
            content, components = decode_component(tag, components)
            values[name] = {tag: content}
        return values, components

    def check_key(self, key: Item) -> bytes:
        """Check the `Key` of a request and return the key of its row."""
        position = self.encode(key)
        if position is None or len(key) != len(self.names):
            raise self._key_error(key)
        if len(position) > MAX_SORT_KEY_SIZE:  # otherwise no part of the key can be too long
            self._check_sizes(key)
        return position

    def reject_empty(self, values: Item) -> None:
        """Reject empty key attributes. (Other invalid keys cancel a transaction instead.)"""
        for attribute in self.attributes:
            if values.get(attribute.name, _NO_VALUE).get(attribute.type) == "":
                raise empty_key_error(attribute)

    def check_item(self, item: Item) -> bytes:
        """Check the key attributes of a new item and return the key of its row."""
        position = self.encode(item)
        if position is None:
            raise self._item_error(item)
        if len(position) > MAX_SORT_KEY_SIZE:
            self._check_sizes(item)
        return position

    def check_index_key_sizes(self, item: Item) -> None:
        """Check the sizes of the key attributes if the item has all of them."""
        if all(name in item for name in self.names):
            self._check_sizes(item)

    def _check_sizes(self, item: Item) -> None:
        check_key_sizes(
            [item[name] for name in self.partition_names], [item[name] for name in self.sort_names]
        )

    def _key_error(self, key: Item) -> ValidationException:
        if len(key) == len(self.names):
            for attribute in self.attributes:
                value = key.get(attribute.name, _NO_VALUE)
                if attribute.type not in value:
                    break
                if not value[attribute.type]:
                    return empty_key_error(attribute)
        return ValidationException(KEY_MISMATCH)

    def _item_error(self, item: Item) -> ValidationException:
        for attribute in self.attributes:
            value = item.get(attribute.name)
            if value is None:
                return invalid(f"Missing the key {attribute.name} in the item")
            if attribute.type not in value:
                return invalid(
                    "Type mismatch for key "
                    f"{attribute.name} expected: {attribute.type} actual: {tag_of(value)}"
                )
            if not value[attribute.type]:
                return empty_key_error(attribute)
        raise AssertionError("a key that cannot be encoded is invalid")


def empty_key_error(attribute: KeyAttribute) -> ValidationException:
    """Return the fault for an empty key attribute."""
    return ValidationException(
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        f"cannot contain an empty {_EMPTY_KINDS[attribute.type]} value. Key: {attribute.name}"
    )


def check_key_sizes(partition: Iterable[Value], sort: Iterable[Value]) -> None:
    """Check the total sizes of the partition key and of the sort key."""
    if sum(map(value_size, partition)) > MAX_PARTITION_KEY_SIZE:
        raise invalid("Size of hashkey has exceeded the maximum size limit of2048 bytes")
    if sum(map(value_size, sort)) > MAX_SORT_KEY_SIZE:
        raise invalid("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")


def index_key_error(
    index: str, attribute: KeyAttribute, value: Value, *, updated: bool
) -> ValidationException:
    """Return the fault for an index key attribute that is empty or has another type."""
    if attribute.type not in value:
        return invalid(
            "Type mismatch for Index Key "
            f"{attribute.name} Expected: {attribute.type} Actual: {tag_of(value)} "
            f"IndexName: {index}"
        )
    what = (
        "The AttributeValue for a key attribute cannot contain an empty "
        f"{_EMPTY_KINDS[attribute.type]} value."
    )
    if updated:
        return ValidationException(
            "One or more parameter values are not valid. The update expression attempted to update "
            f"a secondary index key to a value that is not supported. {what}"
        )
    return ValidationException(
        "One or more parameter values are not valid. A value specified for a secondary index key "
        f"is not supported. {what} IndexName: {index}, IndexKey: {attribute.name}"
    )
