"""Damage: which table and key a damaged row belongs to, in words.

Storage knows trees and bytes only. The catalog knows which table or index a tree is, and so which
attributes the bytes of a row's key are.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.errors import StoreFailed
from tablewright.storage import DamagedRow
from tablewright.values import Item


def locate_damage(error: DamagedRow, tables: Iterable[StoredTable]) -> StoreFailed:
    """The error with the names of the table, the index and the key, as far as they are known."""
    for table in tables:
        sources: tuple[StoredTable | StoredIndex, ...] = (table, *table.indexes)
        for source in sources:
            if source.tree.name == error.tree.name:
                place = table.name if source is table else f"{table.name}, index {source.name}"
                return StoreFailed(
                    f"table {place}: the row of {format_key(table, source, error.key)} is damaged: "
                    "its checksum is wrong. `tablewright repair` saves what is readable"
                )
    return error


def format_key(table: StoredTable, source: StoredTable | StoredIndex, key: bytes) -> str:
    """The key of a row as `PK="CUST#C1", SK="ORDER#1"`; its bytes in hex if they say nothing.

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
    """The key attributes that the bytes of a row's key hold; None if they do not fit the schema."""
    try:
        values, rest = source.keys.decode(key[4:])
        if source is not table:
            of_table, rest = table.keys.decode(rest)
            values |= of_table
    except (ValueError, IndexError):
        return None
    return None if rest else values
