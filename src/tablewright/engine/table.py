"""Stored tables and indexes: prepared once from a schema, used by all operations."""

from __future__ import annotations

from collections.abc import Collection

from tablewright.encoding.items import check_depth
from tablewright.engine.changes import ChangeLog
from tablewright.engine.keys import Keys, index_key_error
from tablewright.errors import ValidationException
from tablewright.expression import CompiledCondition, CompiledProjection, CompiledUpdate
from tablewright.expression.key import not_scalar
from tablewright.limits import MAX_SORT_KEY_SIZE
from tablewright.schema import IndexSchema, TableSchema
from tablewright.storage import LogTree, Tree
from tablewright.table_description import TableDescription
from tablewright.values import Item


class StoredIndex:
    """A local or global secondary index: which items it holds, their row keys and attributes."""

    __slots__ = ("is_global", "keys", "name", "position_names", "projected_names", "schema", "tree")

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

    def encode_entry(self, item: Item, table_key: bytes) -> bytes | None:
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

    __slots__ = (
        "_index_attributes",
        "indexes",
        "indexes_by_name",
        "key_names",
        "keys",
        "log",
        "name",
        "needs_old_item",
        "schema",
        "tree",
    )

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
        #: Whether a put must know the item that it replaces, apart from its charge.
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
