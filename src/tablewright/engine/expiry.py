"""Expiry: the sweep that deletes items whose time has come.

An item expires when the attribute that its table names holds a number of seconds in the past, but
not more than five years in the past: DynamoDB takes that for a mistake. Until a sweep, expired
items are read and written as any others.
"""

from __future__ import annotations

from decimal import Decimal

from tablewright.engine.capacity import Charge
from tablewright.engine.catalog import TOKENS, Catalog
from tablewright.engine.rows import Row, find, replace
from tablewright.engine.table import Table
from tablewright.storage import Store, Transaction
from tablewright.values import Item

FIVE_YEARS = 5 * 365 * 24 * 60 * 60
BATCH = 500


def expire(store: Store, catalog: Catalog, now: float) -> int:
    """Delete the expired items of every table, some at a time, and say how many there were."""
    store.read(catalog.refresh)
    deleted = 0
    for table in list(catalog.tables.values()):
        name = table.schema.ttl_attribute
        if name is not None:
            expired = store.read(
                lambda snapshot, table=table, name=name: [
                    key
                    for key, size, body in snapshot.walk(table.tree, b"", None)
                    if is_expired(Row(None, size, body).item, name, now)
                ]
            )
            for start in range(0, len(expired), BATCH):
                keys = expired[start : start + BATCH]
                deleted += store.write(
                    lambda tx, table=table, keys=keys: _delete(tx, catalog, table.name, keys, now)
                )
    store.write(lambda tx: _forget_tokens(tx, now))
    return deleted


def is_expired(item: Item, name: str, now: float) -> bool:
    """
    >>> is_expired({"until": {"N": "99"}}, "until", now=100)
    True
    """
    moment = item.get(name, {}).get("N")
    return moment is not None and now - FIVE_YEARS < Decimal(moment) <= now


def _delete(tx: Transaction, catalog: Catalog, name: str, keys: list[bytes], now: float) -> int:
    """Delete those that are still there and still expired."""
    catalog.follow(tx)
    table = catalog.tables.get(name)
    deleted = 0
    if table is None:
        return 0
    for key in keys:
        row = find(tx, table.tree, key)
        attribute = table.schema.ttl_attribute
        if row and attribute and is_expired(row.item, attribute, now):
            replace(tx, table, key, row, None, Charge(table))
            deleted += 1
    return deleted


def _forget_tokens(tx: Transaction, now: float) -> None:
    """Tokens of transactions have an end as well; it is stored as their size."""
    for key in [key for key, end, _ in tx.walk(TOKENS, b"", None) if end < now]:
        tx.delete(TOKENS, key)
