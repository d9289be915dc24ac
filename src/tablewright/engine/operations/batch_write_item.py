"""BatchWriteItem: up to 25 independent puts and deletes in several tables.

Checks, in DynamoDB's order: the number of writes; that each is either a put or a delete; the
tables; each item and key; duplicates. Nothing is written unless all checks pass.
"""

from __future__ import annotations

from tablewright.encoding.items import AMBIGUOUS, normalise_item
from tablewright.engine.charge import Charge, collection_metrics, consumed_by_table
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.rows import ItemRow, find_row, replace_item
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.engine.tables.table import REPEATED_KEYS, StoredTable
from tablewright.errors import ValidationException
from tablewright.limits import MAX_BATCH_WRITES, MAX_SORT_KEY_SIZE
from tablewright.values import Item
from tablewright.wire.read import no_tables
from tablewright.wire.requests import BatchWriteItemInput, WriteRequest
from tablewright.wire.responses import BatchWriteItemOutput, ItemCollectionMetrics


def batch_write_item(request: BatchWriteItemInput) -> WriteStep:
    if not request.tables:
        raise no_tables("BatchWriteItem")
    if sum(map(len, request.tables.values())) > MAX_BATCH_WRITES:
        raise ValidationException("Too many items requested for the BatchWriteItem call")
    for write in (write for writes in request.tables.values() for write in writes):
        if (write.put is None) == (write.delete is None):
            raise ValidationException(AMBIGUOUS)  # DynamoDB uses this message here, too

    prepared = [
        (name, *_prepare_write(write))
        for name, writes in request.tables.items()
        for write in writes
    ]

    def run(context: WriteContext) -> BatchWriteItemOutput:
        tables = {name: context.find_table(name) for name in request.tables}
        writes = [
            (name, tables[name], _check_key(tables[name], new, key_values), new, key_values)
            for name, new, key_values in prepared
        ]
        if len({(table.name, key) for _, table, key, _, _ in writes}) < len(writes):
            raise ValidationException(REPEATED_KEYS)
        charges = {name: Charge(table, name=name) for name, table in tables.items()}
        metrics: dict[str, list[ItemCollectionMetrics]] = {}
        is_charged = request.return_capacity not in (None, "NONE")
        reads_old = {name: is_charged or table.needs_old_item for name, table in tables.items()}
        for name, table, key, new, key_values in writes:
            old = None
            if new is None or reads_old[name]:
                old = find_row(context.tx, table.tree, key)
            replace_item(context.tx, table, key, old, new, charges[name])
            collection = collection_metrics(table, key_values, request.return_metrics)
            if collection:
                metrics.setdefault(name, []).append(collection)
        return BatchWriteItemOutput(
            unprocessed_items={},
            item_collection_metrics=metrics or None,
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
        )

    return WriteStep(run)


def _prepare_write(write: WriteRequest) -> tuple[ItemRow | None, Item]:
    """Return the new row (None: a delete), and a map with its key attributes."""
    if write.put:
        row = build_row(write.put.item)
        return row, row.item
    assert write.delete
    return None, normalise_item(write.delete.key)


def _check_key(table: StoredTable, new: ItemRow | None, key_values: Item) -> bytes:
    """Check the keys of a write and return the key of its row.

    DynamoDB reports an invalid key of an item as that of a `Key`, unlike in PutItem.
    """
    if new is None:
        return table.keys.check_key(key_values)
    key = table.keys.encode(new.item)
    if key is None or len(key) > MAX_SORT_KEY_SIZE:  # otherwise it is valid
        key = table.keys.check_key(
            {name: new.item[name] for name in table.key_names if name in new.item}
        )
    table.check_index_keys(new.item, new.size)
    return key
