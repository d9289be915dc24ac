"""The catalog: which tables a file has. Read once, and again when somebody changed it.

It is stored in a tree of its own: the tables' schemas by name, a generation that every change
raises, and the jobs: work on trees that `maintenance` does in steps. In memory it is a snapshot
that is replaced, never changed. Jobs are not kept in memory, only whether there may be some: their
progress is written with each step, and must not make every process read the catalog again.

An engine has two. The writer's is used inside transactions only: it looks at the generation
whenever somebody else has committed, so it always works with the indexes there are. The readers'
knows what is committed and nothing else. Readers do not look whether it is up to date: they find
out when something is missing or does not fit, and only then ask again.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import RLock

import msgspec
from msgspec.structs import replace

from tablewright.engine.table import StoredTable
from tablewright.errors import StoreFailed
from tablewright.schema import TableSchema
from tablewright.storage import MissingTree, Row, Snapshot, Tree, WriteTransaction

_SCHEMAS = Tree(0)
_FIRST_FREE_TREE = 2
TOKENS = Tree(1)
_GENERATION = b""  # no table's name is empty
_JOBS = b"\xff"  # begins the keys of jobs; tables' names are ASCII

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TableSchema).decode


class Job(msgspec.Struct, frozen=True):
    """Unfinished work on one tree: fill an index from its table, or delete a retired tree."""

    tree: int
    #: The table whose items go into the index; None: the tree is to be deleted.
    table: str | None = None
    #: The key of the last of the table's rows that has been entered into the index.
    position: bytes = b""

    @property
    def key(self) -> bytes:
        return _JOBS + self.tree.to_bytes(8, "big")


_decode_job = msgspec.json.Decoder(Job).decode


class Catalog:
    """The tables of a store, by name."""

    __slots__ = (
        "_generation",
        "_lock",
        "_next_tree",
        "_rollbacks",
        "_version",
        "has_jobs",
        "tables",
    )

    def __init__(self) -> None:
        self._lock = RLock()  # a signal handler may read, too
        self.tables: dict[str, StoredTable] = {}
        #: False: there are no jobs, as far as this engine knows.
        self.has_jobs = False
        self._generation = -1
        self._next_tree = _FIRST_FREE_TREE
        self._version = -1
        self._rollbacks = 0

    def create_trees(self, tx: WriteTransaction) -> None:
        """Make the catalog's own trees in a new file."""
        try:
            tx.get(_SCHEMAS, _GENERATION)
        except MissingTree:
            tx.create_tree(_SCHEMAS)
            tx.create_tree(TOKENS)
            tx.put(_SCHEMAS, _GENERATION, _FIRST_FREE_TREE, b"0")
        self.refresh(tx)

    def catch_up(self, tx: WriteTransaction) -> None:
        """Called first in every step of a writer: catch up with what others did."""
        if tx.rollbacks != self._rollbacks:  # what we know may have been taken back
            self._generation = -1
            self._rollbacks = tx.rollbacks
        elif tx.version == self._version:
            return
        self.refresh(tx)
        self._version = tx.version

    def refresh(self, snapshot: Snapshot) -> None:
        """Read the file's catalog, if it is newer than what we have."""
        if _read_generation(snapshot) > self._generation:
            self._install(*_read_catalog(snapshot))
            self.has_jobs = bool(read_jobs(snapshot))

    def as_of(self, snapshot: Snapshot) -> Catalog:
        """The catalog of exactly this state of the file; ours may be of a later one already."""
        self.refresh(snapshot)
        exact = Catalog()
        with self._lock:
            exact._install(self._generation, self._next_tree, self.tables)
        if exact._generation != _read_generation(snapshot):
            exact = Catalog()
            exact.refresh(snapshot)
        return exact

    def _install(self, generation: int, next_tree: int, tables: dict[str, StoredTable]) -> None:
        with self._lock:  # readers share one, and another may have been quicker
            if generation > self._generation:
                # The generation last: if an exception comes in between, the rest is read again.
                self.tables, self._next_tree = tables, next_tree
                self._generation = generation

    def allocate_trees(self, count: int) -> range:
        """Numbers for that many new trees; they are never used again."""
        first = self._next_tree
        self._next_tree += count
        return range(first, first + count)

    def add_table(self, tx: WriteTransaction, schema: TableSchema) -> StoredTable:
        """Add a new table, with trees of its own."""
        first, *rest = self.allocate_trees(1 + len(schema.indexes))
        indexes = tuple(
            replace(index, tree=tree, building=False)
            for index, tree in zip(schema.indexes, rest, strict=True)
        )
        table = self.save_schema(tx, replace(schema, tree=first, indexes=indexes))
        tx.create_tree(table.tree, view_name=schema.name)
        for index in table.indexes:
            tx.create_tree(index.tree)
        return table

    def save_schema(self, tx: WriteTransaction, schema: TableSchema) -> StoredTable:
        """Store what is known of a table."""
        table = StoredTable(schema)
        tx.put(_SCHEMAS, schema.name.encode(), 0, _encode(schema))
        self._replace_tables(tx, {**self.tables, schema.name: table})
        return table

    def remove_table(self, tx: WriteTransaction, name: str) -> None:
        tx.delete(_SCHEMAS, name.encode())
        self._replace_tables(tx, {key: table for key, table in self.tables.items() if key != name})

    def put_job(self, tx: WriteTransaction, job: Job) -> None:
        """Add a job, or note how far it is."""
        tx.put(_SCHEMAS, job.key, 0, _encode(job))
        self.has_jobs = True

    def remove_job(self, tx: WriteTransaction, job: Job) -> None:
        tx.delete(_SCHEMAS, job.key)

    def _replace_tables(self, tx: WriteTransaction, tables: dict[str, StoredTable]) -> None:
        self._install(self._generation + 1, self._next_tree, tables)
        tx.put(_SCHEMAS, _GENERATION, self._next_tree, b"%d" % self._generation)


def read_jobs(snapshot: Snapshot) -> list[Job]:
    """The jobs of a file, the oldest tree first."""
    try:
        return [_decode_job(body) for _, _, body in snapshot.walk(_SCHEMAS, _JOBS, None)]
    except ValueError as error:
        raise StoreFailed(f"the file is damaged: its catalog cannot be read: {error}") from None


def _read_generation(snapshot: Snapshot) -> int:
    found = snapshot.get(_SCHEMAS, _GENERATION)
    if found is None or not found[1].isdigit():
        raise StoreFailed("the file is damaged: its catalog has no generation")
    return int(found[1])


def _read_catalog(snapshot: Snapshot) -> tuple[int, int, dict[str, StoredTable]]:
    """What a file's catalog says: its generation, the next free tree, and the tables.

    In one walk, and so of one state of the file.
    """
    (_, next_tree, generation), *rows = snapshot.walk(_SCHEMAS, _GENERATION, _JOBS)
    try:
        tables = [StoredTable(_decode(body)) for _, _, body in rows]
    except ValueError as error:
        raise StoreFailed(f"the file is damaged: its catalog cannot be read: {error}") from None
    return int(generation), next_tree, {table.name: table for table in tables}


def read_schemas(rows: Iterable[Row]) -> tuple[list[TableSchema], list[str]]:
    """The schemas in rows of a damaged catalog, and for people what could not be read."""
    schemas, problems = [], []
    for key, _, body in rows:
        if _GENERATION < key < _JOBS:
            try:
                schemas.append(_decode(body))
            except ValueError as error:
                name = key.decode("utf-8", "replace")
                problems.append(f"the table {name} is lost: its schema cannot be read: {error}")
    return schemas, problems
