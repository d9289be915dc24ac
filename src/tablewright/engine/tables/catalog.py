"""The catalog: the tables of a file, cached in memory and read again when it has changed.

The catalog is stored in a tree of its own: the schemas of the tables by name, the schemas of the
change logs by tree, a generation that every change of these increments, the jobs (work on trees
that `maintenance` does in steps), and records of other modules, such as the backups, which own
trees of the same form as a table. In memory, `tables` and `logs` are replaced and never modified.
Jobs are not cached, except for whether there may be some: a job changes with each step, which must
not make every process read the catalog again.

An engine has two catalogs. The writer's is used only in transactions: it compares the generation
whenever another connection has committed, so it is always current. The readers' contains only
committed tables and can be out of date: it is refreshed when a table or tree is missing, or when
a request fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from threading import RLock

import msgspec
from msgspec.structs import replace

from tablewright.engine.change_log.changes import create_log, read_last_number
from tablewright.engine.tables.describe import ACCOUNT, OLD_ACCOUNT
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import StoreFailed
from tablewright.schema import ChangeLogSchema, TableSchema
from tablewright.storage import LogTree, MissingTree, Row, Snapshot, Tree, WriteTransaction

_SCHEMAS = Tree(0)
_FIRST_FREE_TREE = 2
TOKENS = Tree(1)
_GENERATION = b""  # no table's name is empty
_RECORDS = b"\xfd"  # begins the keys of records; tables' names are ASCII
#: The record of the account in the ARNs of a file; the first of all records.
_ACCOUNT = _RECORDS + b"\x00account"
_LOGS = b"\xfe"  # begins the keys of change logs
_JOBS = b"\xff"  # begins the keys of jobs

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TableSchema).decode
_decode_log = msgspec.json.Decoder(ChangeLogSchema).decode


class Job(msgspec.Struct, frozen=True):
    """Unfinished work on one tree: fill an index from its table, or delete a retired tree."""

    tree: int
    #: The table whose index is built; None: the tree is to be deleted.
    table: str | None = None
    #: The key of the last row of the table that has been added to the index.
    position: bytes = b""

    @property
    def key(self) -> bytes:
        return _JOBS + self.tree.to_bytes(8, "big")


_decode_job = msgspec.json.Decoder(Job).decode


class Catalog:
    """The tables of a store, by name, and the change logs, by the number of their tree."""

    def __init__(self, known: Catalog | None = None) -> None:
        """Begin without tables; those in `known` are not made again when they are read."""
        self._lock = RLock()  # reentrant: a signal handler may read, too
        self.tables: dict[str, StoredTable] = {}
        self.logs: dict[int, ChangeLogSchema] = {}
        #: Whether there may be jobs.
        self.has_jobs = False
        #: Whether Contributor Insights is enabled for a table or an index.
        self.counts_keys = False
        #: Whether TTL is enabled for a table.
        self.has_ttl = False
        #: The tables of the last read by their bytes: a new generation changes few of them, and to
        #: make all again took 0.1 ms for each.
        self._read: dict[bytes, StoredTable] = {} if known is None else known._read
        self._generation = -1
        self._next_tree = _FIRST_FREE_TREE
        self._version = -1
        self._rollbacks = 0

    def create_trees(self, tx: WriteTransaction, account: str = ACCOUNT) -> None:
        """Create the trees of the catalog in a new file, with the account in its ARNs."""
        try:
            tx.get(_SCHEMAS, _GENERATION)
        except MissingTree:
            tx.create_tree(_SCHEMAS)
            tx.create_tree(TOKENS)
            tx.put(_SCHEMAS, _GENERATION, _FIRST_FREE_TREE, b"0")
            tx.put(_SCHEMAS, _ACCOUNT, 0, account.encode())
        self.refresh(tx)

    def catch_up(self, tx: WriteTransaction) -> None:
        """Refresh the catalog if it may be out of date. Every write step must call this first."""
        if tx.rollbacks != self._rollbacks:  # the cached changes may have been rolled back
            self._generation = -1
            self._rollbacks = tx.rollbacks
        elif tx.version == self._version:
            return
        self.refresh(tx)
        self._version = tx.version

    def refresh(self, snapshot: Snapshot) -> None:
        """Read the catalog from the file if it is newer than the cached one."""
        if _read_generation(snapshot) > self._generation:
            generation, next_tree, read, logs = _read_catalog(snapshot, self._read)
            tables = {table.name: table for table in read.values()}
            self._install(generation, next_tree, tables, logs)
            self._read = read
            self.has_jobs = bool(read_jobs(snapshot))

    def refresh_after_read(self, snapshot: Snapshot) -> None:
        """Refresh the catalog if the last read of the snapshot saw a new commit."""
        version = snapshot.read_version
        if version != snapshot.catalog_version:
            self.refresh(snapshot)
            snapshot.catalog_version = version  # last: an interrupted refresh is repeated

    def is_older_than(self, other: Catalog) -> bool:
        return self._generation < other._generation

    def as_of(self, snapshot: Snapshot) -> Catalog:
        """Return the catalog of exactly this snapshot; the cached one can be newer."""
        self.refresh(snapshot)
        exact = Catalog()
        with self._lock:
            exact._install(self._generation, self._next_tree, self.tables, self.logs)
        if exact._generation != _read_generation(snapshot):
            exact = Catalog()
            exact.refresh(snapshot)
        return exact

    def _install(
        self,
        generation: int,
        next_tree: int,
        tables: dict[str, StoredTable],
        logs: dict[int, ChangeLogSchema],
    ) -> None:
        with self._lock:  # readers share a catalog, and another thread may be ahead
            if generation > self._generation:
                # Set the generation last: after an exception in between, the rest is read again.
                self.tables, self.logs, self._next_tree = tables, logs, next_tree
                self.counts_keys = any(
                    setting.is_enabled
                    for table in tables.values()
                    for setting in table.schema.insights
                )
                self.has_ttl = any(table.schema.ttl_attribute for table in tables.values())
                self._generation = generation

    def allocate_trees(self, count: int) -> range:
        """Return `count` unused tree numbers. Numbers are never reused."""
        first = self._next_tree
        self._next_tree += count
        return range(first, first + count)

    def add_table(self, tx: WriteTransaction, schema: TableSchema) -> StoredTable:
        """Add a table and create its trees."""
        copy = self.renumber(schema)
        indexes = tuple(replace(index, building=False) for index in copy.indexes)
        table = self.save_schema(tx, replace(copy, indexes=indexes, recovery=None))
        tx.create_tree(table.tree, view_name=schema.name)
        for index in table.indexes:
            tx.create_tree(index.tree)
        return table

    def save_schema(self, tx: WriteTransaction, schema: TableSchema) -> StoredTable:
        """Store the schema of a new or changed table."""
        table = StoredTable(schema)
        tx.put(_SCHEMAS, schema.name.encode(), 0, _encode(schema))
        self._replace(tx, {**self.tables, schema.name: table}, self.logs)
        return table

    def remove_table(self, tx: WriteTransaction, name: str) -> None:
        tx.delete(_SCHEMAS, name.encode())
        tables = {key: table for key, table in self.tables.items() if key != name}
        self._replace(tx, tables, self.logs)

    def find_log(self, schema: TableSchema) -> ChangeLogSchema | None:
        """Return the change log of a table, even if it is not written at present."""
        return next((log for log in self.logs.values() if log.table_id == schema.id), None)

    def open_log(self, tx: WriteTransaction, schema: TableSchema) -> ChangeLogSchema:
        """Return the change log of a table; create it if there is none.

        The caller changes what the log is needed for (`replace`), then calls `attach_log`.
        """
        log = self.find_log(schema)
        if log is None:
            (number,) = self.allocate_trees(1)
            create_log(tx, LogTree(number))
            return ChangeLogSchema(number, schema.name, schema.id, schema.keys, opened_after=0)
        if not schema.log:  # changes since it was closed are missing
            log = replace(log, opened_after=read_last_number(tx, LogTree(log.tree)))
        return log

    def attach_log(
        self, tx: WriteTransaction, schema: TableSchema, log: ChangeLogSchema
    ) -> TableSchema:
        """Store a log and its table; changes of the table are logged from now on if it is needed.

        A log that is not needed any more is no longer written; `trimming` deletes it when its
        changes are too old to be read.
        """
        self.save_log(tx, log)
        changed = replace(schema, log=log.tree if log.is_needed else 0)
        self.save_schema(tx, changed)
        return changed

    def save_log(self, tx: WriteTransaction, log: ChangeLogSchema) -> None:
        """Store the schema of a new or changed change log."""
        tx.put(_SCHEMAS, _log_key(log.tree), 0, _encode(log))
        self._replace(tx, self.tables, {**self.logs, log.tree: log})

    def remove_log(self, tx: WriteTransaction, tree: int) -> None:
        tx.delete(_SCHEMAS, _log_key(tree))
        self._replace(tx, self.tables, {key: log for key, log in self.logs.items() if key != tree})

    def renumber(self, schema: TableSchema) -> TableSchema:
        """Return the schema of a copy of a table, with the numbers of trees that do not exist yet.

        The caller creates them, and changes the catalog in the same transaction.
        """
        first, *rest = self.allocate_trees(1 + len(schema.indexes))
        indexes = tuple(
            replace(index, tree=tree) for index, tree in zip(schema.indexes, rest, strict=True)
        )
        return replace(schema, tree=first, indexes=indexes, log=0)

    def add_trees(self, tx: WriteTransaction, schema: TableSchema) -> TableSchema:
        """Create empty trees for a copy of a table that is not a table itself."""
        copy = self.renumber(schema)
        for tree in copy.trees:
            tx.create_tree(Tree(tree))
        self._replace(tx, self.tables, self.logs)  # stores the next free tree
        return copy

    def publish_table(self, tx: WriteTransaction, schema: TableSchema) -> None:
        """Make a copy whose trees exist (`add_trees`) a table."""
        table = self.save_schema(tx, schema)
        tx.create_view(table.tree, schema.name)

    def put_record(self, tx: WriteTransaction, key: bytes, body: bytes) -> None:
        """Store a record of another module."""
        tx.put(_SCHEMAS, _RECORDS + key, 0, body)

    def remove_record(self, tx: WriteTransaction, key: bytes) -> None:
        tx.delete(_SCHEMAS, _RECORDS + key)

    def put_job(self, tx: WriteTransaction, job: Job) -> None:
        """Add a job, or update its position."""
        tx.put(_SCHEMAS, job.key, 0, _encode(job))
        self.has_jobs = True

    def remove_job(self, tx: WriteTransaction, job: Job) -> None:
        tx.delete(_SCHEMAS, job.key)

    def _replace(
        self, tx: WriteTransaction, tables: dict[str, StoredTable], logs: dict[int, ChangeLogSchema]
    ) -> None:
        self._install(self._generation + 1, self._next_tree, tables, logs)
        tx.put(_SCHEMAS, _GENERATION, self._next_tree, b"%d" % self._generation)


def read_jobs(snapshot: Snapshot) -> list[Job]:
    """Return the jobs of a file, ordered by tree number."""
    try:
        return [_decode_job(body) for _, _, body in snapshot.walk(_SCHEMAS, _JOBS, None)]
    except ValueError as error:
        raise StoreFailed(f"the file is damaged: its catalog cannot be read: {error}") from None


class DamagedCatalog(msgspec.Struct):
    """The readable parts of a damaged catalog, and a message for each unreadable schema."""

    schemas: list[TableSchema] = []
    logs: list[ChangeLogSchema] = []
    #: The account in the ARNs of the file.
    account: str = OLD_ACCOUNT
    #: Keys and bodies.
    records: list[tuple[bytes, bytes]] = []
    problems: list[str] = []


def read_damaged_catalog(rows: Iterable[Row]) -> DamagedCatalog:
    """Decode the rows of a damaged catalog, without its generation and jobs."""
    found = DamagedCatalog()
    for key, _, body in rows:
        name = "a change log"
        try:
            if _LOGS <= key < _JOBS:
                found.logs.append(_decode_log(body))
            elif key == _ACCOUNT:
                found.account = body.decode("ascii")
            elif _RECORDS <= key < _LOGS:
                found.records.append((key.removeprefix(_RECORDS), body))
            elif _GENERATION < key < _RECORDS:
                name = f"the table {key.decode('utf-8', 'replace')}"
                found.schemas.append(_decode(body))
        except ValueError as error:
            found.problems.append(f"{name} is lost: its schema cannot be read: {error}")
    return found


def read_records(snapshot: Snapshot, prefix: bytes) -> list[bytes]:
    """Return the bodies of the records whose keys have this prefix, in the order of the keys."""
    first = _RECORDS + prefix
    with closing(snapshot.walk(_SCHEMAS, first, first + b"\xff")) as rows:
        return [body for _, _, body in rows]


def has_records(snapshot: Snapshot) -> bool:
    """Return whether there are records of other modules."""
    with closing(snapshot.walk(_SCHEMAS, _ACCOUNT + b"\x00", _LOGS)) as rows:
        return next(rows, None) is not None


def read_account(snapshot: Snapshot) -> str:
    """Return the account in the ARNs of a file."""
    found = snapshot.get(_SCHEMAS, _ACCOUNT)
    return OLD_ACCOUNT if found is None else found[1].decode("ascii", "replace")


def _read_generation(snapshot: Snapshot) -> int:
    found = snapshot.get(_SCHEMAS, _GENERATION)
    if found is None or not found[1].isdigit():
        raise StoreFailed("the file is damaged: its catalog has no generation")
    return int(found[1])


def _log_key(tree: int) -> bytes:
    return _LOGS + tree.to_bytes(8, "big")


def _read_catalog(
    snapshot: Snapshot, known: dict[bytes, StoredTable]
) -> tuple[int, int, dict[bytes, StoredTable], dict[int, ChangeLogSchema]]:
    """Return the generation, the next free tree number, the tables and the logs of a file.

    The tables are by their bytes; those in `known` are not made again. Reads them in one walk, so
    that they are of one state of the file.
    """
    (_, next_tree, generation), *rows = snapshot.walk(_SCHEMAS, _GENERATION, _JOBS)
    try:
        tables = {
            body: known.get(body) or StoredTable(_decode(body))
            for key, _, body in rows
            if key < _RECORDS
        }
        logs = [_decode_log(body) for key, _, body in rows if key >= _LOGS]
    except ValueError as error:
        raise StoreFailed(f"the file is damaged: its catalog cannot be read: {error}") from None
    return int(generation), next_tree, tables, {log.tree: log for log in logs}
