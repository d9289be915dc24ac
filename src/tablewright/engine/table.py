"""Tables and indexes, ready to use: key bytes, index entries, and checks of key attributes.

A `Table` is made once from a `TableSchema` and used by every operation on it. Keys are checked
here, in DynamoDB's words; everything after a check may rely on it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.encoding.items import value_size
from tablewright.encoding.keys import component, partition
from tablewright.errors import ValidationException
from tablewright.schema import IndexSchema, KeyAttribute, KeySchema, TableSchema
from tablewright.storage import Tree
from tablewright.values import Item, Value, tag_of

MAX_PARTITION_KEY = 2048
MAX_SORT_KEY = 1024

_MISMATCH = "The provided key element does not match the schema"
_EMPTY_KINDS = {"S": "string", "B": "binary"}


class Index:
    """A local or global secondary index: which items are in it, where, and with what."""

    __slots__ = ("held", "keys", "name", "names", "schema", "tree")

    def __init__(self, schema: IndexSchema, table_keys: KeySchema) -> None:
        self.schema = schema
        self.name = schema.name
        self.tree = Tree(schema.tree)
        self.keys = tuple(schema.keys)
        #: The attributes of a position in the index: its own keys, then the table's.
        self.names = tuple(dict.fromkeys((*schema.keys.names, *table_keys.names)))
        #: The attributes the index holds; None is all of them.
        self.held: frozenset[str] | None = None
        if schema.projection.type != "ALL":
            self.held = frozenset((*self.names, *schema.projection.include))

    @property
    def is_global(self) -> bool:
        return self.schema.kind == "global"

    def contains(self, item: Item) -> bool:
        """An item without one of the key attributes is not in the index."""
        return all(attribute.name in item for attribute in self.keys)

    def fits(self, item: Item) -> bool:
        """Whether an item that was there before the index can be in it."""
        try:
            check_index_keys(self, item)
        except ValidationException:
            return False
        return True

    def entry(self, item: Item, table_key: bytes) -> bytes | None:
        """Where the item's row is in this index; None if the item is not in it."""
        for attribute in self.keys:
            if attribute.name not in item:
                return None
        return position(self.schema.keys, item) + table_key[4:]


class Table:
    """A table with its indexes."""

    __slots__ = ("by_name", "indexes", "key_attributes", "names", "schema", "tree")

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.tree = Tree(schema.tree)
        self.names = schema.keys.names
        self.key_attributes = tuple(schema.keys)
        self.indexes = tuple(Index(index, schema.keys) for index in schema.indexes)
        self.by_name = {index.name: index for index in self.indexes}

    @property
    def name(self) -> str:
        return self.schema.name

    def key(self, item: Item) -> bytes:
        """Where the item's row is. Its key attributes have been checked."""
        return position(self.schema.keys, item)

    def key_of(self, item: Item) -> Item:
        return {name: item[name] for name in self.names}

    def check_key(self, key: Item) -> bytes:
        """Check the `Key` of a request, and say where its row is."""
        if len(key) != len(self.names):
            raise ValidationException(_MISMATCH)
        for attribute in self.key_attributes:
            value = key.get(attribute.name)
            if value is None or attribute.type not in value:
                raise ValidationException(_MISMATCH)
        check_key_contents(self.schema.keys, key)
        return position(self.schema.keys, key)

    def check_item(self, item: Item) -> bytes:
        """Check the key attributes of a new item, and say where its row is."""
        for attribute in self.key_attributes:
            value = item.get(attribute.name)
            if value is None:
                raise ValidationException(
                    "One or more parameter values were invalid: "
                    f"Missing the key {attribute.name} in the item"
                )
            if attribute.type not in value:
                raise ValidationException(
                    "One or more parameter values were invalid: Type mismatch for key "
                    f"{attribute.name} expected: {attribute.type} actual: {tag_of(value)}"
                )
        check_key_contents(self.schema.keys, item)
        self.check_index_keys(item)
        return position(self.schema.keys, item)

    def check_index_keys(self, item: Item) -> None:
        """An item may lack an index's key attributes, but not have them of another type."""
        for index in self.indexes:
            check_index_keys(index, item)


def position(keys: KeySchema, item: Item) -> bytes:
    """The key bytes of an item that has all of these key attributes."""
    return partition(components(keys.partition, item)) + components(keys.sort, item)


def components(attributes: Iterable[KeyAttribute], item: Item) -> bytes:
    return b"".join(
        [component(attribute.type, item[attribute.name][attribute.type]) for attribute in attributes]
    )


def check_key_contents(keys: KeySchema, item: Item) -> None:
    """Key attributes are never empty, and not too long."""
    for attribute in keys:
        refuse_empty(attribute, item[attribute.name])
    check_key_sizes(keys, item)


def refuse_empty(attribute: KeyAttribute, value: Value) -> None:
    if not value[attribute.type]:
        raise ValidationException(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            f"cannot contain an empty {_EMPTY_KINDS[attribute.type]} value. Key: {attribute.name}"
        )


def check_key_sizes(keys: KeySchema, item: Item) -> None:
    if _size(keys.partition, item) > MAX_PARTITION_KEY:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        )
    if _size(keys.sort, item) > MAX_SORT_KEY:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        )


def check_index_keys(index: Index, item: Item) -> None:
    for attribute in index.keys:
        value = item.get(attribute.name)
        if value is not None:
            _check_index_key(index.name, attribute, value)
    if index.contains(item):
        check_key_sizes(index.schema.keys, item)


def _size(attributes: Iterable[KeyAttribute], item: Item) -> int:
    return sum([value_size(item[attribute.name]) for attribute in attributes])


def _check_index_key(index: str, attribute: KeyAttribute, value: Value) -> None:
    if attribute.type not in value:
        raise ValidationException(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{attribute.name} Expected: {attribute.type} Actual: {tag_of(value)} "
            f"IndexName: {index}"
        )
    if not value[attribute.type]:
        raise ValidationException(
            "One or more parameter values are not valid. A value specified for a secondary index "
            "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
            f"{_EMPTY_KINDS[attribute.type]} value. IndexName: {index}, IndexKey: {attribute.name}"
        )
