"""Tables and indexes, ready to use: made once from a schema, used by every operation."""

from __future__ import annotations

from collections.abc import Collection

from tablewright.encoding.items import check_depth
from tablewright.engine.keys import Keys, refused_index_key
from tablewright.errors import ValidationException
from tablewright.expression import CompiledCondition, CompiledProjection, CompiledUpdate
from tablewright.expression.key import not_scalar
from tablewright.limits import MAX_SORT_KEY_SIZE
from tablewright.schema import IndexSchema, TableSchema
from tablewright.storage import Tree
from tablewright.values import Item


class Index:
    """A local or global secondary index: which items are in it, where, and with what."""

    __slots__ = ("held", "is_global", "keys", "name", "names", "schema", "tree")

    def __init__(self, schema: IndexSchema, table_names: tuple[str, ...]) -> None:
        self.schema = schema
        self.name = schema.name
        self.is_global = schema.kind == "global"
        self.tree = Tree(schema.tree)
        self.keys = Keys(schema.keys)
        #: The attributes that name a position in the index: its own keys, then the table's.
        self.names = tuple(dict.fromkeys((*self.keys.names, *table_names)))
        #: The attributes the index holds; None is all of them.
        self.held: frozenset[str] | None = None
        if schema.projection.type != "ALL":
            self.held = frozenset((*self.names, *schema.projection.include))

    def entry(self, item: Item, table_key: bytes) -> bytes | None:
        """Where the item's row is in this index; None if the item is not in it.

        It is not without all of the key attributes, nor where one of them is of another type, empty
        or too long: such items may have been there before the index.
        """
        position = self.keys.position(item)
        if position is None:
            return None
        if len(position) > MAX_SORT_KEY_SIZE:  # else no part of the key can be too long
            try:
                self.keys.check_index(item)
            except ValidationException:
                return None
        return position + table_key[4:]


class Table:
    """A table with its indexes."""

    __slots__ = (
        "_index_attributes",
        "by_name",
        "indexes",
        "keys",
        "name",
        "names",
        "schema",
        "tree",
    )

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.name = schema.name
        self.tree = Tree(schema.tree)
        self.keys = Keys(schema.keys)
        self.names = self.keys.names
        #: By name: where several indexes refuse an item, DynamoDB names the first of them.
        self.indexes = tuple(
            Index(index, self.names) for index in sorted(schema.indexes, key=lambda i: i.name)
        )
        self.by_name = {index.name: index for index in self.indexes}
        self._index_attributes = [
            (attribute.name, attribute, index.name)
            for index in self.indexes
            for attribute in index.keys.attributes
        ]

    def key(self, item: Item) -> bytes:
        """Where the row of an item is that is, or could be, in the table."""
        position = self.keys.position(item)
        assert position is not None
        return position

    def refuse_paths_into_keys(
        self, *expressions: CompiledCondition | CompiledProjection | CompiledUpdate | None
    ) -> None:
        """Key attributes are scalars: an expression that looks into one is a mistake."""
        for expression in expressions:
            if expression is None or not expression.nested_names:
                continue
            for name in self.names:
                if name in expression.nested_names:
                    raise not_scalar(name, on_index=False)
            for name, _, _ in self._index_attributes:
                if name in expression.nested_names:
                    raise not_scalar(name, on_index=True)

    def check_item(self, item: Item, size: int) -> bytes:
        """Check the keys of a new item, and say where its row is."""
        key = self.keys.check_item(item)
        self.check_index_keys(item, size)
        return key

    def check_index_keys(
        self, item: Item, size: int, changed: Collection[str] | None = None
    ) -> None:
        """Check those attributes (of the changed ones) that are keys of an index.

        An item may lack them, but not have them of another type, empty or too long.
        """
        for name, attribute, index_name in self._index_attributes:
            value = item.get(name)
            if value is None or value.get(attribute.type):
                continue
            if changed is None or name in changed:
                raise refused_index_key(index_name, attribute, value, updated=changed is not None)
        if size > MAX_SORT_KEY_SIZE:  # else the item is too small for a key that is too long
            for index in self.indexes:
                if changed is None or not index.keys.types.keys().isdisjoint(changed):
                    index.keys.check_index(item)

    def check_updated(self, item: Item, size: int, changed: Collection[str]) -> None:
        """Check what an update has changed."""
        for name in changed:
            if name in item:
                check_depth(item[name])
        self.check_index_keys(item, size, changed)
