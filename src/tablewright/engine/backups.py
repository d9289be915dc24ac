"""Backups: copies of tables in the same file, made by CreateBackup.

A backup has copies of the rows of a table and of its indexes, in trees of its own, and the schema
of the table at that time. So it does not change with the table, survives its deletion, and is
restored by copying rows. A copy is made inside SQLite and in one transaction: it is one state of
the table, and writers wait for it.

The catalog stores a record for each backup. This module does not know requests.
"""

from __future__ import annotations

import secrets

import msgspec
from msgspec.structs import replace

from tablewright.engine.catalog import Catalog, read_records
from tablewright.engine.describe import table_arn
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.table import StoredTable
from tablewright.errors import BackupNotFoundException, StoreFailed
from tablewright.schema import TableSchema
from tablewright.storage import Snapshot, Tree, WriteTransaction

PREFIX = b"backup/"


class Backup(msgspec.Struct, frozen=True):
    """A backup of a table."""

    #: The last part of the ARN; ids are in the order of their times.
    id: str
    name: str
    created: float
    #: The table at that time, with the trees of the backup.
    table: TableSchema
    items: int
    size: int

    @property
    def arn(self) -> str:
        return f"{table_arn(self.table.name)}/backup/{self.id}"

    @property
    def label(self) -> str:
        """The name of the backup in reports."""
        return f"{self.table.name} (backup {self.id})"

    def as_table(self) -> StoredTable:
        """Return the copy as a table, named with the label, to check or to save its rows."""
        return StoredTable(replace(self.table, name=self.label))

    @property
    def key(self) -> bytes:
        return PREFIX + self.id.encode()


_encode = msgspec.json.Encoder().encode
decode_backup = msgspec.json.Decoder(Backup).decode


def new_id(now: float) -> str:
    """Return an id as DynamoDB has them for backups, exports and imports.

    >>> new_id(1489602797.149)[:14]
    '01489602797149'
    """
    return f"{round(now * 1000):014}-{secrets.token_hex(4)}"


def create_backup(
    catalog: Catalog, tx: WriteTransaction, table: TableSchema, name: str, now: float
) -> Backup:
    """Copy a table into a new backup."""
    items, size = tx.count(Tree(table.tree))
    backup = add_backup(catalog, tx, Backup(new_id(now), name, now, table, items, size))
    for tree, copy in zip(table.trees, backup.table.trees, strict=True):
        tx.copy_rows(Tree(tree), Tree(copy))
    return backup


def add_backup(catalog: Catalog, tx: WriteTransaction, backup: Backup) -> Backup:
    """Store a backup without rows; return it with its trees, which replace those of the table."""
    backup = replace(backup, table=catalog.add_trees(tx, backup.table))
    catalog.put_record(tx, backup.key, _encode(backup))
    return backup


def read_backups(snapshot: Snapshot) -> list[Backup]:
    """Return all backups, the oldest first."""
    try:
        return [decode_backup(body) for body in read_records(snapshot, PREFIX)]
    except ValueError as error:
        raise StoreFailed(f"the file is damaged: a backup cannot be read: {error}") from None


def find_backup(snapshot: Snapshot, arn: str) -> Backup:
    """Return the backup with this ARN; raise BackupNotFoundException if there is none."""
    for backup in read_backups(snapshot):
        if backup.arn == arn:
            return backup
    raise BackupNotFoundException(f"Backup not found: {arn}")


def delete_backup(catalog: Catalog, tx: WriteTransaction, backup: Backup) -> None:
    """Delete a backup; the rows of a large one are deleted in the background."""
    catalog.remove_record(tx, backup.key)
    for tree in backup.table.trees:
        delete_tree(catalog, tx, tree)


def restore_backup(
    catalog: Catalog, tx: WriteTransaction, backup: Backup, schema: TableSchema
) -> None:
    """Create a table with the rows of a backup and with some of its indexes."""
    copied = {index.name: index.tree for index in backup.table.indexes}
    table = catalog.add_table(tx, schema)
    tx.copy_rows(Tree(backup.table.tree), table.tree)
    for index in table.indexes:
        tx.copy_rows(Tree(copied[index.name]), index.tree)
