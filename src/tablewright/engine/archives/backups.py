"""Backups: copies of tables in the same file, made by CreateBackup.

A table that is deleted while its point-in-time recovery is on becomes a backup, too, of the type
SYSTEM, which expires after 35 days.

A backup has copies of the rows of a table and of its indexes, in trees of its own, and the schema
of the table at that time. So it does not change with the table, survives its deletion, and is
restored by copying rows. A copy is made inside SQLite and in one transaction: it is one state of
the table, and writers wait for it.

The catalog stores a record for each backup. This module does not know requests.
"""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec.structs import replace

from tablewright.engine.archives.records import RecordKind, new_id
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.describe import table_arn
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import BackupNotFoundException, TableInUseException
from tablewright.schema import TableSchema
from tablewright.storage import Store, Tree, WriteTransaction

SYSTEM_BACKUP_SECONDS = 35 * 24 * 60 * 60


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
    #: SYSTEM: of a deleted table.
    kind: str = "USER"
    #: When it is deleted; None: never.
    expires: float | None = None

    @property
    def arn(self) -> str:
        return f"{table_arn(self.table.name)}/backup/{self.id}"

    def as_table(self) -> StoredTable:
        """Return the copy as a table, to check or to save its rows; its name is for reports."""
        return StoredTable(replace(self.table, name=f"{self.table.name} (backup {self.id})"))


BACKUPS = RecordKind("backup", Backup, BackupNotFoundException)


def require_no_building_index(source: TableSchema) -> None:
    """Raise TableInUseException while an index of the source is incomplete."""
    if source.is_building_index:  # AWS's message is not known for certain
        raise TableInUseException(
            f"Table is being updated: an index of {source.name} is still being created"
        )


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


def keep_deleted_table(
    catalog: Catalog, tx: WriteTransaction, table: TableSchema, count: tuple[int, int], now: float
) -> None:
    """Make the trees of a table that is being deleted a backup; no rows are copied.

    The caller removes the table from the catalog. `count` is the number and the size of its items.
    """
    copy = catalog.renumber(table)
    for old, new in zip(table.trees, copy.trees, strict=True):
        tx.rename_tree(Tree(old), Tree(new))
    name = f"{table.name}$DeletedTableBackup"
    backup = Backup(new_id(now), name, now, copy, *count, "SYSTEM", now + SYSTEM_BACKUP_SECONDS)
    BACKUPS.save(catalog, tx, backup)


def delete_expired_backups(store: Store, catalog: Catalog, now: float) -> None:
    """Delete the backups that have expired. `catalog` must be the writer's."""
    for backup in store.read(BACKUPS.read_all):
        if backup.expires is not None and backup.expires <= now:
            store.write(partial(_delete_if_exists, catalog, backup.arn))


def _delete_if_exists(catalog: Catalog, arn: str, tx: WriteTransaction) -> None:
    catalog.catch_up(tx)
    backup = BACKUPS.find(tx, arn)
    if backup is not None:
        delete_backup(catalog, tx, backup)


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
