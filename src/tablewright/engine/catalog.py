"""The catalog: which tables a file has. Read once, and again when another process changed it.

It is stored in two trees of its own: the tables' schemas by name, and a generation that every
change raises. In memory it is a snapshot that is replaced, never changed.

A writer looks at the generation whenever another process has committed, so it always works with
the indexes there are. A reader does not look: it finds out when a table or a tree is missing, and
only then asks again.
"""

from __future__ import annotations

from threading import Lock

import msgspec

from tablewright.engine.table import Table
from tablewright.errors import ResourceNotFoundException
from tablewright.schema import TableSchema
from tablewright.storage import MissingTree, Snapshot, Transaction, Tree

_SCHEMAS = Tree(0)
_FIRST_FREE_TREE = 2
TOKENS = Tree(1)
_GENERATION = b""  # no table's name is empty

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TableSchema).decode


class Catalog:
    """The tables of a store, by name."""

    __slots__ = ("_generation", "_lock", "_next_tree", "_rollbacks", "_version", "tables")

    def __init__(self) -> None:
        self._lock = Lock()
        self.tables: dict[str, Table] = {}
        self._generation = -1
        self._next_tree = _FIRST_FREE_TREE
        self._version = -1
        self._rollbacks = 0

    def prepare(self, tx: Transaction) -> None:
        """Make the catalog's own trees in a new file."""
        try:
            tx.get(_SCHEMAS, _GENERATION)
        except MissingTree:
            tx.create_tree(_SCHEMAS)
            tx.create_tree(TOKENS)
            tx.put(_SCHEMAS, _GENERATION, _FIRST_FREE_TREE, b"0")
        self.refresh(tx)

    def follow(self, tx: Transaction) -> None:
        """Called first in every transaction: catch up with what other processes did."""
        if tx.version != self._version:
            self.refresh(tx)
            self._version = tx.version
        if tx.rollbacks != self._rollbacks:  # we may be ahead of the file
            with self._lock:
                self._generation = -1
            self.refresh(tx)
            self._rollbacks = tx.rollbacks

    def refresh(self, snapshot: Snapshot) -> None:
        """Read the file's catalog, if it is newer than what we have.

        Never if it is older: a writer's changes are here a moment before they are in the file.
        """
        found = snapshot.get(_SCHEMAS, _GENERATION)
        if found is None or int(found[1]) <= self._generation:
            return
        # In one walk, and so of one state of the file, which may be newer than what was found.
        (_, next_tree, generation), *rows = snapshot.walk(_SCHEMAS, _GENERATION, None)
        tables = [Table(_decode(body)) for _, _, body in rows]
        with self._lock:  # a writer may have gone on meanwhile
            if int(generation) > self._generation:
                self._generation = int(generation)
                self._next_tree = next_tree
                self.tables = {table.name: table for table in tables}

    def find(self, name: str, snapshot: Snapshot) -> Table:
        """The table of that name, or a fault."""
        table = self.tables.get(name)
        if table is None:
            self.refresh(snapshot)
            table = self.tables.get(name)
        if table is None:
            raise ResourceNotFoundException("Requested resource not found")
        return table

    def new_trees(self, count: int) -> range:
        """Numbers for that many new trees; they are never used again."""
        first = self._next_tree
        self._next_tree += count
        return range(first, first + count)

    def save(self, tx: Transaction, schema: TableSchema) -> Table:
        """Add a table, or change what is known of it."""
        table = Table(schema)
        tx.put(_SCHEMAS, schema.name.encode(), 0, _encode(schema))
        self._replace(tx, {**self.tables, schema.name: table})
        return table

    def remove(self, tx: Transaction, name: str) -> None:
        tx.delete(_SCHEMAS, name.encode())
        self._replace(tx, {key: table for key, table in self.tables.items() if key != name})

    def _replace(self, tx: Transaction, tables: dict[str, Table]) -> None:
        with self._lock:
            self._generation += 1
            self.tables = tables
        tx.put(_SCHEMAS, _GENERATION, self._next_tree, b"%d" % self._generation)
