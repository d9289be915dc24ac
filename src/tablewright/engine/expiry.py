"""Expiry: the sweep that deletes items whose time has come.

An item expires when the attribute that its table names holds a number of seconds in the past, but
not more than five years in the past: DynamoDB takes that for a mistake. Until a sweep, expired
items are read and written as any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from tablewright.encoding.items import load
from tablewright.engine.capacity import Charge
from tablewright.engine.catalog import TOKENS, Catalog
from tablewright.engine.rows import find, replace
from tablewright.engine.table import Table
from tablewright.storage import Snapshot, Store, WriteTransaction
from tablewright.values import Item

FIVE_YEARS = 5 * 365 * 24 * 60 * 60
BATCH = 500


def expire(store: Store, catalog: Catalog, now: float) -> int:
    """Delete the expired items of every table, some at a time, and say how many there were.

    `catalog` is the writer's.
    """
    committed = Catalog()
    store.read(committed.refresh)
    deleted = 0
    for name, table in committed.tables.items():
        if table.schema.ttl_attribute is not None:
            expired = store.read(partial(_expired, table, now))
            for start in range(0, len(expired), BATCH):
                keys = expired[start : start + BATCH]
                deleted += store.write(partial(_delete, catalog, name, keys, now))
    store.write(partial(_forget_tokens, now))
    return deleted


def _expired(table: Table, now: float, snapshot: Snapshot) -> list[bytes]:
    """The keys of a table's expired items."""
    return [
        key
        for key, _, body in snapshot.walk(table.tree, b"", None)
        if is_expired(load(body), table.schema.ttl_attribute, now)
    ]


def is_expired(item: Item, name: str | None, now: float) -> bool:
    """
    >>> is_expired({"until": {"N": "99"}}, "until", now=100)
    True
    """
    moment = item.get(name, {}).get("N") if name else None
    return moment is not None and now - FIVE_YEARS < Decimal(moment) <= now


def _delete(
    catalog: Catalog, name: str, keys: Sequence[bytes], now: float, tx: WriteTransaction
) -> int:
    """Delete those that are still there and still expired."""
    catalog.follow(tx)
    table = catalog.tables.get(name)
    if table is None:
        return 0
    deleted = 0
    for key in keys:
        row = find(tx, table.tree, key)
        if row and is_expired(row.item, table.schema.ttl_attribute, now):
            replace(tx, table, key, row, None, Charge(table))
            deleted += 1
    return deleted


def _forget_tokens(now: float, tx: WriteTransaction) -> None:
    """Tokens of transactions have an end as well; it is stored as their size."""
    for key in [key for key, end, _ in tx.walk(TOKENS, b"", None) if end < now]:
        tx.delete(TOKENS, key)
