"""Tables as the engine uses them: keys, indexes, and the checks of their items.

A `StoredTable` is made from a schema of the catalog. One `Keys` exists for each table and index: it
encodes the key of an item's row. A valid key is encoded without separate checks; only if encoding
fails are the attributes checked for the fault to raise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tablewright.encoding.items import check_depth, value_size
from tablewright.encoding.keys import (
    END,
    EmptyComponent,
    decode_component,
    encode_component,
    partition,
)
from tablewright.engine.change_log.changes import ChangeLog
from tablewright.errors import ValidationException, invalid
from tablewright.expression import CompiledCondition, CompiledProjection, CompiledUpdate
from tablewright.expression.key import not_scalar
from tablewright.limits import MAX_PARTITION_KEY_SIZE, MAX_SORT_KEY_SIZE
from tablewright.schema import IndexSchema, KeyAttribute, KeySchema, TableSchema
from tablewright.storage import LogTree, Tree
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value, tag_of

REPEATED_KEYS = "Provided list of item keys contains duplicates"
KEY_MISMATCH = "The provided key element does not match the schema"
_NO_VALUE: Value = {}
_NOT_VALID = "One or more parameter values are not valid."
_EMPTY_KINDS = {"S": "string", "B": "binary"}


class Keys:
    """Encodes and checks the key attributes of a table or an index."""

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
    return ValidationException(f"{_NOT_VALID} {_empty_value(attribute)} Key: {attribute.name}")


def _empty_value(attribute: KeyAttribute) -> str:
    return (
        "The AttributeValue for a key attribute cannot contain an empty "
        f"{_EMPTY_KINDS[attribute.type]} value."
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
    """Return the fault for an index key attribute that is empty or has another type.

    An empty one does not cancel a transaction: DynamoDB refuses the request.
    """
    if attribute.type not in value:
        return invalid(
            "Type mismatch for Index Key "
            f"{attribute.name} Expected: {attribute.type} Actual: {tag_of(value)} "
            f"IndexName: {index}"
        )
    what = _empty_value(attribute)
    if updated:
        return ValidationException(
            f"{_NOT_VALID} The update expression attempted to update "
            f"a secondary index key to a value that is not supported. {what}",
            cancels=False,
        )
    return ValidationException(
        f"{_NOT_VALID} A value specified for a secondary index key "
        f"is not supported. {what} IndexName: {index}, IndexKey: {attribute.name}",
        cancels=False,
    )


class StoredIndex:
    """A local or global secondary index: which items it holds, their row keys and attributes."""

    def __init__(self, schema: IndexSchema, table_key_names: tuple[str, ...]) -> None:
        self.schema = schema
        self.name = schema.name
        self.is_global = schema.kind == "global"
        self.tree = Tree(schema.tree)
        self.keys = Keys(schema.keys)
        #: The attributes of a start key in this index: its own keys, then those of the table.
        self.position_names = tuple(dict.fromkeys((*self.keys.names, *table_key_names)))
        #: The names of the attributes that the index holds; None means all.
        self.projected_names: frozenset[str] | None = None
        if schema.projection.type != "ALL":
            self.projected_names = frozenset((*self.position_names, *schema.projection.include))

    def encode_row_key(self, item: Item, table_key: bytes) -> bytes | None:
        """Return the key of the item's row in this index; None if the item is not in the index.

        An item is in the index if it has all key attributes, and none of them is empty, too long or
        of another type. Items that are older than the index can have such attributes.
        """
        position = self.keys.encode(item)
        if position is None:
            return None
        if len(position) > MAX_SORT_KEY_SIZE:  # otherwise no part of the key can be too long
            try:
                self.keys.check_index_key_sizes(item)
            except ValidationException:
                return None
        return position + table_key[4:]


class StoredTable:
    """A table with its indexes."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.name = schema.name
        self.tree = Tree(schema.tree)
        #: None: changes are not logged.
        self.log = ChangeLog(LogTree(schema.log)) if schema.log else None
        self.keys = Keys(schema.keys)
        self.key_names = self.keys.names
        #: Ordered by name: if several indexes reject an item, DynamoDB reports the first one.
        self.indexes = tuple(
            StoredIndex(index, self.key_names)
            for index in sorted(schema.indexes, key=lambda i: i.name)
        )
        self.indexes_by_name = {index.name: index for index in self.indexes}
        #: Whether a put must read the item that it replaces: for the indexes or the change log.
        self.needs_old_item = bool(self.indexes) or self.log is not None
        self._index_attributes = [
            (attribute.name, attribute, index.name)
            for index in self.indexes
            for attribute in index.keys.attributes
        ]

    def encode_key(self, item: Item) -> bytes:
        """Return the key of the row of an item with valid key attributes."""
        position = self.keys.encode(item)
        assert position is not None
        return position

    def reject_paths_into_keys(
        self, *expressions: CompiledCondition | CompiledProjection | CompiledUpdate | None
    ) -> None:
        """Reject expressions with a path into a key attribute, which is always a scalar."""
        for expression in expressions:
            if expression is None or not expression.nested_names:
                continue
            for name in self.key_names:
                if name in expression.nested_names:
                    raise not_scalar(name, on_index=False)
            for name, _, _ in self._index_attributes:
                if name in expression.nested_names:
                    raise not_scalar(name, on_index=True)

    def check_item(self, item: Item, size: int) -> bytes:
        """Check the key attributes of a new item and return the key of its row."""
        key = self.keys.check_item(item)
        self.check_index_keys(item, size)
        return key

    def check_index_keys(
        self, item: Item, size: int, changed: Collection[str] | None = None
    ) -> None:
        """Check the key attributes of indexes, or only the changed ones.

        They may be missing, but must not be empty, too long or of another type.
        """
        for name, attribute, index_name in self._index_attributes:
            value = item.get(name)
            if value is None or value.get(attribute.type):
                continue
            if changed is None or name in changed:
                raise index_key_error(index_name, attribute, value, updated=changed is not None)
        if size > MAX_SORT_KEY_SIZE:  # otherwise no key of the item can be too long
            for index in self.indexes:
                if changed is None or not index.keys.types.keys().isdisjoint(changed):
                    index.keys.check_index_key_sizes(item)

    def check_updated_item(self, item: Item, size: int, changed: Collection[str]) -> None:
        """Check the attributes that an update changed."""
        for name in changed:
            if name in item:
                check_depth(item[name])
        self.check_index_keys(item, size, changed)


def table_from_description(table: TableDescription) -> StoredTable:
    """Return a table with the keys and indexes of one that may be at another endpoint."""
    indexes = [
        IndexSchema(
            index.name, "local" if index.is_local else "global", index.keys, index.projection
        )
        for index in table.indexes
    ]
    schema = TableSchema(table.name, id="", created=0, keys=table.keys, indexes=tuple(indexes))
    return StoredTable(schema)
