"""Repair of change logs: copy a whole log into the new file, or begin a new one.

A log is saved only as a whole. If a change cannot be read, consumers would miss it without
noticing; so the old streams are lost, and a new stream with another ARN begins.
Point-in-time recovery is possible again from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import islice

import apsw
from msgspec.structs import replace

from tablewright.engine.catalog import Catalog
from tablewright.engine.changes import TrimPoints, read_trim_points, write_trim_points
from tablewright.engine.log_integrity import check_changes
from tablewright.engine.logs import save_log
from tablewright.engine.recovery import set_recovery
from tablewright.engine.streams import apply_stream_setting
from tablewright.errors import TablewrightError
from tablewright.schema import ChangeLogSchema, RecoverySetting
from tablewright.storage import LogRow, LogTree, Snapshot, Store, WriteTransaction

BATCH_ROWS = 500


def is_whole(snapshot: Snapshot, log: ChangeLogSchema) -> bool:
    """Return whether every change of a log can be read."""
    try:
        return not any(check_changes(snapshot, log))
    except (apsw.Error, TablewrightError):
        return False


def copy_log(
    snapshot: Snapshot,
    log: ChangeLogSchema,
    recovery: RecoverySetting | None,
    store: Store,
    catalog: Catalog,
) -> None:
    """Copy a whole log into the new file, after the items of its table.

    `recovery` is the setting of the table.
    """
    points = read_trim_points(snapshot, LogTree(log.tree))
    tree = store.write(partial(_create_tree, catalog, points))
    with closing(snapshot.walk(LogTree(log.tree), 1, None)) as rows:
        while batch := list(islice(rows, BATCH_ROWS)):
            store.write(partial(_copy_rows, tree, batch))
    store.write(partial(_save_log, catalog, replace(log, tree=tree), recovery))


def begin_again(
    catalog: Catalog, name: str, recovery: RecoverySetting | None, now: float, tx: WriteTransaction
) -> None:
    """Begin a new log for a table whose log is lost: a new stream, and recovery from now on."""
    catalog.catch_up(tx)
    schema = catalog.tables[name].schema
    if recovery is not None:
        schema = set_recovery(catalog, tx, schema, recovery.days, now)
    if schema.stream is not None and schema.stream.enabled:
        new = replace(schema, stream=replace(schema.stream, label=""))
        apply_stream_setting(catalog, tx, new, now, shards=1)


def _create_tree(catalog: Catalog, points: TrimPoints, tx: WriteTransaction) -> int:
    catalog.catch_up(tx)
    (tree,) = catalog.allocate_trees(1)
    tx.create_tree(LogTree(tree))
    write_trim_points(tx, LogTree(tree), points)
    return tree


def _copy_rows(tree: int, rows: Sequence[LogRow], tx: WriteTransaction) -> None:
    for row in rows:
        tx.put(LogTree(tree), *row)


def _save_log(
    catalog: Catalog, log: ChangeLogSchema, recovery: RecoverySetting | None, tx: WriteTransaction
) -> None:
    catalog.catch_up(tx)
    table = catalog.tables.get(log.table)
    if table is not None and table.schema.id == log.table_id:
        save_log(catalog, tx, replace(table.schema, recovery=recovery), log)
    else:
        catalog.save_log(tx, log)
