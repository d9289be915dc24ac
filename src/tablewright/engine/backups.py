"""Backups: copies of tables in the same file, made by CreateBackup.

A backup has copies of the rows of a table and of its indexes, in trees of its own, and the schema
of the table at that time. So it does not change with the table, survives its deletion, and is
restored by copying rows. A copy is made inside SQLite and in one transaction: it is one state of
the table, and writers wait for it.

The catalog stores a record for each backup. This module does not know requests.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from tablewright.engine.catalog import Catalog
from tablewright.engine.describe import table_arn
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.records import RecordKind, new_id
from tablewright.engine.table import StoredTable
from tablewright.errors import BackupNotFoundException
from tablewright.schema import TableSchema
from tablewright.storage import Snapshot, Tree, WriteTransaction


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


BACKUPS = RecordKind("backup", Backup)


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
    BACKUPS.save(catalog, tx, backup)
    return backup


def find_backup(snapshot: Snapshot, arn: str) -> Backup:
    """Return the backup with this ARN; raise BackupNotFoundException if there is none."""
    backup = BACKUPS.find(snapshot, arn)
    if backup is None:
        raise BackupNotFoundException(f"Backup not found: {arn}")
    return backup


def delete_backup(catalog: Catalog, tx: WriteTransaction, backup: Backup) -> None:
    """Delete a backup; the rows of a large one are deleted in the background."""
    BACKUPS.remove(catalog, tx, backup)
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
