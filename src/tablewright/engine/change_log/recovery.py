"""Point-in-time recovery: the items of a table at an earlier time.

While recovery is on, the change log has every change of the table, with the item before and after
it. The table at a time is the current table, with the changes after that time undone: for each
item that changed, the first change after the time has the item as it was.

A time is exact to the microsecond: changes of that microsecond are not undone. The earliest time is
a whole second, as on AWS, so it can be before recovery was turned on: the table is then as it was
when recovery was turned on.

This module does not know requests.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import closing

from msgspec import Struct
from msgspec.structs import replace

from tablewright.encoding.items import load
from tablewright.engine.change_log.changes import LoggedChange, find_last_before, read_changes
from tablewright.engine.charge import Charge
from tablewright.engine.rows import ItemRow, find_row, replace_item
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import PointInTimeRecoveryUnavailableException, StoreFailed
from tablewright.schema import RecoverySetting, TableSchema
from tablewright.storage import LogTree, Snapshot, WriteTransaction

DAY = 24 * 60 * 60


def set_recovery(
    catalog: Catalog, tx: WriteTransaction, schema: TableSchema, days: int, now: float
) -> TableSchema:
    """Turn recovery on, or change its period; 0 days turn it off. Return the stored schema."""
    log = replace(catalog.open_log(tx, schema), recovery_seconds=days * DAY)
    since = now if schema.recovery is None else schema.recovery.since
    setting = RecoverySetting(days, since) if days else None
    return catalog.attach_log(tx, replace(schema, recovery=setting), log)


def restorable_times(schema: TableSchema, now: float) -> tuple[int, float]:
    """Return the earliest time, in whole seconds, and the latest time that can be restored.

    Raise PointInTimeRecoveryUnavailableException if recovery is off. On AWS the latest time is some
    minutes ago; here it is now.
    """
    setting = schema.recovery
    if setting is None:
        raise PointInTimeRecoveryUnavailableException(
            f"Point in time recovery is not enabled for table '{schema.name}'"
        )
    return max(math.floor(setting.since), math.ceil(now - setting.days * DAY)), now


def read_undone(
    catalog: Catalog, snapshot: Snapshot, table: StoredTable, moment: float
) -> dict[bytes, bytes | None]:
    """Return the items that changed after a time, as they were, by row key; None: no item."""
    undone: dict[bytes, bytes | None] = {}
    # Between this microsecond and the next one.
    after = (math.floor(moment * 1_000_000) + 0.5) / 1_000_000
    with closing(_changes_from(catalog, snapshot, table, after)) as changes:
        for change in changes:
            undone.setdefault(_key(table, change), change.old)
    return undone


def read_items_at(
    catalog: Catalog, snapshot: Snapshot, table: StoredTable, moment: float
) -> Iterator[ItemRow]:
    """Yield the items of a table at a time, in no useful order."""
    undone = read_undone(catalog, snapshot, table, moment)
    with closing(snapshot.walk(table.tree, b"", None)) as rows:
        for key, size, body in rows:
            if key not in undone:
                yield ItemRow(None, size, body)
    for item in undone.values():
        if item is not None:
            yield ItemRow(None, None, item)


class NetChange(Struct):
    """The changes of one item between two times, together."""

    old: bytes | None
    new: bytes | None
    #: The time of the last change.
    time: float


def read_net_changes(
    catalog: Catalog, snapshot: Snapshot, table: StoredTable, start: float, end: float
) -> dict[bytes, NetChange]:
    """Return the changes from `start` to `end` (exclusive), one for each item, by row key.

    An item that was created and deleted again in between is not among them.
    """
    changed: dict[bytes, NetChange] = {}
    with closing(_changes_from(catalog, snapshot, table, start)) as changes:
        for change in changes:
            if change.time >= end:
                break
            key = _key(table, change)
            if key in changed:
                changed[key].new, changed[key].time = change.new, change.time
            else:
                changed[key] = NetChange(change.old, change.new, change.time)
    return {key: net for key, net in changed.items() if net.old is not None or net.new is not None}


def restore_to_time(
    catalog: Catalog, tx: WriteTransaction, source: StoredTable, schema: TableSchema, moment: float
) -> None:
    """Create a table with the items that another one had at a time, and some of its indexes."""
    table = catalog.add_table(tx, schema)
    tx.copy_rows(source.tree, table.tree)
    for index in table.indexes:
        tx.copy_rows(source.indexes_by_name[index.name].tree, index.tree)
    for key, item in read_undone(catalog, tx, source, moment).items():
        old = None if item is None else ItemRow(None, None, item)
        replace_item(tx, table, key, find_row(tx, table.tree, key), old, Charge(table))


def _changes_from(
    catalog: Catalog, snapshot: Snapshot, table: StoredTable, moment: float
) -> Generator[LoggedChange, None, None]:
    """Yield the changes of a table at or after a time, and since the log was opened last.

    Changes from before that are not contiguous with later ones: some in between are missing.
    """
    log = catalog.find_log(table.schema)
    if log is None:
        raise StoreFailed(f"{table.name}: the file is damaged: the change log is missing")
    tree = LogTree(log.tree)
    after = max(find_last_before(snapshot, tree, moment), log.opened_after)
    return read_changes(snapshot, tree, after)


def _key(table: StoredTable, change: LoggedChange) -> bytes:
    item = change.new if change.old is None else change.old
    assert item is not None
    return table.encode_key(load(item))
