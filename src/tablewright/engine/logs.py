"""Change logs in the catalog: open one for a table, and record what it is needed for.

`changes` has the rows of a log; this module connects logs with tables. A table has at most one
log, which all its streams and point-in-time recovery share. A log that is not needed any more is
no longer written; `trimming` deletes it when its changes are too old to be read.

To use a log: `open_log`, change what it is needed for (`msgspec.structs.replace`), `save_log`.
"""

from __future__ import annotations

from msgspec.structs import replace

from tablewright.engine.catalog import Catalog
from tablewright.engine.changes import create_log, read_last_number
from tablewright.schema import ChangeLogSchema, TableSchema
from tablewright.storage import LogTree, WriteTransaction


def find_log(catalog: Catalog, schema: TableSchema) -> ChangeLogSchema | None:
    """Return the log of a table, even if it is not written at present."""
    for log in catalog.logs.values():
        if log.table_id == schema.id:
            return log
    return None


def open_log(catalog: Catalog, tx: WriteTransaction, schema: TableSchema) -> ChangeLogSchema:
    """Return the log of a table; create it if there is none. The caller must `save_log`."""
    log = find_log(catalog, schema)
    if log is None:
        (number,) = catalog.allocate_trees(1)
        create_log(tx, LogTree(number))
        return ChangeLogSchema(number, schema.name, schema.id, schema.keys, opened_after=0)
    if not schema.log:  # changes since it was closed are missing
        log = replace(log, opened_after=read_last_number(tx, LogTree(log.tree)))
    return log


def save_log(
    catalog: Catalog, tx: WriteTransaction, schema: TableSchema, log: ChangeLogSchema
) -> TableSchema:
    """Store a log and its table; changes of the table are logged from now on if it is needed."""
    catalog.save_log(tx, log)
    changed = replace(schema, log=log.tree if log.is_needed else 0)
    catalog.save_schema(tx, changed)
    return changed
