"""Tables and indexes, ready to use: key bytes, index entries, and checks of key attributes.

A `Table` is made once from a `TableSchema` and used by every operation on it. Keys are checked
here, in DynamoDB's words; everything after a check may rely on it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.encoding.items import check_depth, value_size
from tablewright.encoding.keys import component, partition
from tablewright.errors import ValidationException
from tablewright.schema import IndexSchema, KeyAttribute, KeySchema, TableSchema
from tablewright.storage import Tree
from tablewright.values import Item, Value, tag_of

MAX_PARTITION_KEY = 2048
MAX_SORT_KEY = 1024

KEY_MISMATCH = "The provided key element does not match the schema"
_NOTHING: Value = {}
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

    def entry(self, item: Item, table_key: bytes) -> bytes | None:
        """Where the item's row is in this index; None if the item is not in it.

        It is not without all of the key attributes, nor where one of them is of another type: such
        items may have been there before the index.
        """
        for attribute in self.keys:
            if not item.get(attribute.name, _NOTHING).get(attribute.type):
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
        #: By name: where several indexes refuse an item, DynamoDB names the first of them.
        self.indexes = tuple(
            Index(index, schema.keys) for index in sorted(schema.indexes, key=lambda i: i.name)
        )
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
            raise ValidationException(KEY_MISMATCH)
        for attribute in self.key_attributes:
            value = key.get(attribute.name)
            if value is None or attribute.type not in value:
                raise ValidationException(KEY_MISMATCH)
            refuse_empty(attribute, value)
        _check_sizes(self.schema.keys, key)
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
            refuse_empty(attribute, value)
        _check_sizes(self.schema.keys, item)
        self.check_index_keys(item)
        return position(self.schema.keys, item)

    def check_updated(self, item: Item, changed: frozenset[str]) -> None:
        """Check what an update has changed: nesting, and key attributes of indexes."""
        for name in changed & item.keys():
            check_depth(item[name])
        for index in self.indexes:
            for attribute in index.keys:
                value = item.get(attribute.name)
                if value is not None and attribute.name in changed:
                    _check_index_key(index.name, attribute, value, updated=True)
            _check_index_sizes(index, item)

    def check_index_keys(self, item: Item) -> None:
        """An item may lack an index's key attributes, but not have them of another type."""
        for index in self.indexes:
            for attribute in index.keys:
                value = item.get(attribute.name)
                if value is not None:
                    _check_index_key(index.name, attribute, value)
            _check_index_sizes(index, item)


def position(keys: KeySchema, item: Item) -> bytes:
    """The key bytes of an item that has all of these key attributes."""
    return partition(components(keys.partition, item)) + components(keys.sort, item)


def components(attributes: Iterable[KeyAttribute], item: Item) -> bytes:
    return b"".join(
        [
            component(attribute.type, item[attribute.name][attribute.type])
            for attribute in attributes
        ]
    )


def refuse_empty(attribute: KeyAttribute, value: Value) -> None:
    """A key attribute is never empty."""
    if not value[attribute.type]:
        raise ValidationException(
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            f"cannot contain an empty {_EMPTY_KINDS[attribute.type]} value. Key: {attribute.name}"
        )


def _check_index_sizes(index: Index, item: Item) -> None:
    if all(attribute.name in item for attribute in index.keys):
        _check_sizes(index.schema.keys, item)


def _check_sizes(keys: KeySchema, item: Item) -> None:
    check_key_sizes(
        [item[attribute.name] for attribute in keys.partition],
        [item[attribute.name] for attribute in keys.sort],
    )


def check_key_sizes(partition: Iterable[Value], sort: Iterable[Value]) -> None:
    """The attributes of a key are not too long, all together."""
    if sum(map(value_size, partition)) > MAX_PARTITION_KEY:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        )
    if sum(map(value_size, sort)) > MAX_SORT_KEY:
        raise ValidationException(
            "One or more parameter values were invalid: "
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        )


def _check_index_key(
    index: str, attribute: KeyAttribute, value: Value, *, updated: bool = False
) -> None:
    if attribute.type not in value:
        raise ValidationException(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{attribute.name} Expected: {attribute.type} Actual: {tag_of(value)} "
            f"IndexName: {index}"
        )
    if not value[attribute.type]:
        empty = (
            "The AttributeValue for a key attribute cannot contain an empty "
            f"{_EMPTY_KINDS[attribute.type]} value."
        )
        raise ValidationException(
            "One or more parameter values are not valid. The update expression attempted to update "
            f"a secondary index key to a value that is not supported. {empty}"
            if updated
            else "One or more parameter values are not valid. A value specified for a secondary "
            f"index key is not supported. {empty} IndexName: {index}, IndexKey: {attribute.name}"
        )
