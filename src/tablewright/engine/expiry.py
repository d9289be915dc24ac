"""Expiry: delete expired items.

An item is expired if the TTL attribute of its table is a time in the past (in seconds), but at most
five years ago: DynamoDB treats older times as mistakes. Until they are deleted, expired items are
read and written like all others.

A sweep reads a table in steps, each in its own snapshot, and deletes expired items in transactions
of bounded size. So it needs little memory, and no writer waits for the whole sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from decimal import Decimal
from functools import partial

from tablewright.encoding.items import load
from tablewright.engine import maintenance
from tablewright.engine.capacity import Charge
from tablewright.engine.catalog import TOKENS, Catalog
from tablewright.engine.rows import find_row, replace_item
from tablewright.storage import MissingTree, Row, Store, Tree, WriteTransaction
from tablewright.values import Item

FIVE_YEARS = 5 * 365 * 24 * 60 * 60
#: A sweep that deletes at least this many items ends with a checkpoint that empties the log.
LARGE_SWEEP = 10_000


def delete_expired(store: Store, catalog: Catalog, now: float) -> int:
    """Delete the expired items of all tables, in small transactions, and return their number.

    `catalog` must be the writer's.
    """
    return sum(sweep(store, catalog, now))


def sweep(store: Store, catalog: Catalog, now: float) -> Generator[int, None, None]:
    """Do what `delete_expired` does; yield the number of deleted items after each short step."""
    committed = Catalog()
    store.read(committed.refresh)
    deleted = 0
    for name, table in committed.tables.items():
        if table.schema.ttl_attribute is not None:
            expired = partial(_is_row_expired, table.schema.ttl_attribute, now)
            for keys in _find_due(store, table.tree, expired, trees=1 + len(table.indexes)):
                done = store.write(partial(_delete_items, catalog, name, keys, now)) if keys else 0
                deleted += done
                yield done
    for keys in _find_due(store, TOKENS, partial(_is_token_expired, now)):
        if keys:
            store.write(partial(_delete_tokens, keys, now))
        yield 0
    if deleted >= LARGE_SWEEP:
        store.truncate_log()


def _find_due(
    store: Store, tree: Tree, is_due: Callable[[Row], bool], *, trees: int = 1
) -> Iterator[list[bytes]]:
    """Yield the keys of due rows of a tree, in lists that one step may delete.

    The list is empty if no row that one step may read is due. `trees` is the number of rows per
    key: one in the table and one in each index.
    """
    at_once = max(1, maintenance.MAX_STEP_ROWS // trees)
    position = b""
    is_last = False
    while not is_last:
        try:
            rows, is_last = store.read(partial(maintenance.read_rows, tree, position))
        except MissingTree:  # the table has been deleted
            return
        keys = [row[0] for row in rows if is_due(row)]
        for start in range(0, len(keys) or 1, at_once):
            yield keys[start : start + at_once]
        position = rows[-1][0] if rows else position


def _is_row_expired(attribute: str, now: float, row: Row) -> bool:
    return is_expired(load(row[2]), attribute, now)


def _is_token_expired(now: float, row: Row) -> bool:
    """Return whether a transaction token is expired; its expiry time is stored as the row size."""
    return row[1] < now


def is_expired(item: Item, name: str | None, now: float) -> bool:
    """Return whether the attribute `name` of an item makes it expired at `now`.

    >>> is_expired({"until": {"N": "99"}}, "until", now=100)
    True
    """
    moment = item.get(name, {}).get("N") if name else None
    return moment is not None and now - FIVE_YEARS < Decimal(moment) <= now


def _delete_items(
    catalog: Catalog, name: str, keys: Sequence[bytes], now: float, tx: WriteTransaction
) -> int:
    """Delete the items that still exist and are still expired; return their number."""
    catalog.catch_up(tx)
    table = catalog.tables.get(name)
    if table is None:
        return 0
    deleted = 0
    for key in keys:
        row = find_row(tx, table.tree, key)
        if row and is_expired(row.item, table.schema.ttl_attribute, now):
            replace_item(tx, table, key, row, None, Charge(table), expired=True)
            deleted += 1
    return deleted


def _delete_tokens(keys: Sequence[bytes], now: float, tx: WriteTransaction) -> None:
    """Delete the tokens that have not been renewed."""
    for key in keys:
        found = tx.get(TOKENS, key)
        if found and found[0] < now:
            tx.delete(TOKENS, key)
