"""Damage: describe a damaged row by its table, index and key.

Storage knows only trees and bytes. With the catalog, this module maps a tree to its table, index or
change log and decodes the bytes of a row key into attributes.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.errors import StoreFailed
from tablewright.storage import DamagedRow
from tablewright.values import Item


def locate_damage(error: DamagedRow, tables: Iterable[StoredTable]) -> StoreFailed:
    """Return an error that names the table, the index and the key; `error` itself if unknown."""
    for table in tables:
        sources: tuple[StoredTable | StoredIndex, ...] = (table, *table.indexes)
        for source in sources:
            if source.tree.name == error.tree.name:
                place = table.name if source is table else f"{table.name}, index {source.name}"
                return StoreFailed(
                    f"table {place}: the row of {format_key(table, source, error.key)} is damaged: "
                    "its checksum is wrong. `tablewright repair` saves what is readable"
                )
        if table.log is not None and table.log.tree.name == error.tree.name:
            return StoreFailed(
                f"table {table.name}: a change of its change log is damaged: its checksum is "
                "wrong. `tablewright repair` saves what is readable"
            )
    return error


def format_key(table: StoredTable, source: StoredTable | StoredIndex, key: bytes) -> str:
    """Format the key of a row as `PK="CUST#C1", SK="ORDER#1"`, or in hex if it is unreadable.

    In an index, the attributes of the index come first, then those of the table.
    """
    values = decode_key(table, source, key)
    if values is None:
        return f"key {key.hex()}"
    return ", ".join(
        f'{name}="{content}"' if tag == "S" else f"{name}={content}"
        for name, value in values.items()
        for tag, content in value.items()
    )


def decode_key(table: StoredTable, source: StoredTable | StoredIndex, key: bytes) -> Item | None:
    """Decode the key attributes from a row key; return None if it does not match the schema."""
    try:
        values, rest = source.keys.decode(key[4:])
        if source is not table:
            of_table, rest = table.keys.decode(rest)
            values |= of_table
    except (ValueError, IndexError):
        return None
    return None if rest else values
