"""Bulk reads and writes of stored rows, for transfers between files.

A page of rows is read with its stored bytes, and rows are written with them: nothing is encoded as
a request or a response. Rows pass the same checks as the items of a BatchWriteItem request, and are
written by `rows.put_items`. So indexes, change logs and streams change as with any other write.

Invariants:
- All rows of a batch are checked before the first is written.
- Rows are written in the order of their keys. In any other order, nearly every row changes another
  page of a large tree: for 200,000 items of 300 bytes, this takes ten times as long.
- A transaction writes at most `MAX_STEP_ROWS` rows, those of indexes included, and there is a pause
  before the next one. So other writers do not wait for long.
- Writing rows again has no effect, so an interrupted transfer can be repeated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

from tablewright.encoding.items import load
from tablewright.encoding.keys import segment_range
from tablewright.engine.maintenance import read_step_rows
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.rows import ItemRow, put_items
from tablewright.engine.step import LongContext, ReadContext, WriteContext
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import ValidationException
from tablewright.limits import MAX_ATTRIBUTE_NAME_SIZE
from tablewright.schema import TableSchema
from tablewright.values import Item

#: The limits of a page, and of a transaction. A row takes about 5 µs, and as long again for each
#: index: a transaction takes 5 to 20 ms.
MAX_STEP_ROWS = 1000
MAX_STEP_BYTES = 1024 * 1024
#: The pause between two transactions, as a share of the last one. A writer of another process tries
#: to get the lock every 5 ms, so it needs a few tries.
PAUSE_SHARE = 0.2


def read_rows(
    context: LongContext,
    table_name: str,
    *,
    segment: int = 0,
    segments: int = 1,
    start: Item | None = None,
) -> tuple[list[ItemRow], Item | None]:
    """Return the next rows of a segment, after the key `start`, and the key of the last one.

    The key is None at the end of the segment.
    """
    first, end = segment_range(segment, segments)

    def read(reading: ReadContext) -> tuple[list[ItemRow], Item | None]:
        table = reading.find_table(table_name)
        after = first
        if start is not None:
            key = table.keys.check_key(start)
            if key < first or (end is not None and key >= end):
                raise ValidationException(
                    "The provided starting key is invalid: it belongs to another segment"
                )
            after = key + b"\x00"
        rows: list[ItemRow] = []
        total = 0
        with closing(reading.snapshot.walk(table.tree, after, end)) as walk:
            for _, size, body in walk:
                rows.append(ItemRow(None, size, body))
                total += len(body)
                if len(rows) == MAX_STEP_ROWS or total >= MAX_STEP_BYTES:
                    last = load(body)
                    return rows, {name: last[name] for name in table.key_names}
        return rows, None

    return context.read(read)


def read_index_rows(
    context: LongContext, table_name: str, index_name: str, after: bytes
) -> tuple[list[ItemRow], bytes | None]:
    """Return the next rows of an index after a key in its tree, and the key of the last one.

    The key is None at the end of the index.
    """

    def read(reading: ReadContext) -> tuple[list[ItemRow], bytes | None]:
        tree = reading.find_table(table_name).indexes_by_name[index_name].tree
        found, is_last = read_step_rows(tree, after, reading.snapshot)
        rows = [ItemRow(None, size, body) for _, size, body in found]
        return rows, None if is_last else found[-1][0]

    return context.read(read)


class RowBatch:
    """Rows of one table: checked one by one, then written together."""

    def __init__(self, table: StoredTable) -> None:
        self._table = table
        self._rows: dict[bytes, ItemRow] = {}

    def add(self, row: ItemRow) -> None:
        """Add a normalised item, which replaces an earlier one with the same key.

        Raise a `DynamoDBError` if it is not valid in the table.
        """
        key = _check_row(self._table, row)
        # Without the decoded item, which would stay in memory.
        self._rows[key] = ItemRow(None, row.size, row.body)

    def write(self, context: LongContext) -> None:
        """Write all rows; the batch is empty then, so that their memory can be freed."""
        table = self._table
        keyed, self._rows = sorted(self._rows.items()), {}
        pause = 0.0
        for part in _split(keyed, 1 + len(table.indexes)):
            time.sleep(pause)
            started = time.monotonic()
            context.write(partial(_put_keyed, table.schema, part))
            pause = PAUSE_SHARE * (time.monotonic() - started)


def open_batch(context: LongContext, table_name: str) -> RowBatch:
    """Return an empty batch for a table; raise ResourceNotFoundException if it is missing."""
    return RowBatch(context.read(lambda found: found.find_table(table_name)))


def _check_row(table: StoredTable, row: ItemRow) -> bytes:
    """Check a row as BatchWriteItem checks an item, and return its key in the tree."""
    item = row.decode()
    if row.size > MAX_ATTRIBUTE_NAME_SIZE:
        build_row(item)  # checks the sizes of the item and of its names
    return table.check_item(item, row.size)


def _split(
    keyed: Sequence[tuple[bytes, ItemRow]], trees: int
) -> Iterator[list[tuple[bytes, ItemRow]]]:
    """Split rows into parts that one transaction may write."""
    part: list[tuple[bytes, ItemRow]] = []
    size = 0
    for row in keyed:
        part.append(row)
        size += len(row[1].body)
        if len(part) * trees >= MAX_STEP_ROWS or size * trees >= MAX_STEP_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _put_keyed(
    schema: TableSchema, keyed: Sequence[tuple[bytes, ItemRow]], context: WriteContext
) -> None:
    table = context.find_table(schema.name)
    if table.schema.keys != schema.keys or table.schema.indexes != schema.indexes:
        # The table has changed since the rows were checked.
        keyed = sorted({_check_row(table, row): row for _, row in keyed}.items())
    # New objects: the items that are decoded for the indexes must not stay in memory.
    put_items(context.tx, table, [(key, ItemRow(None, row.size, row.body)) for key, row in keyed])
