"""TransactGetItems: read up to 100 items of several tables from one state of the file.

Checks, in DynamoDB's order: projections; the tables; the keys (an invalid key cancels the
transaction); duplicate items.
"""

from __future__ import annotations

from tablewright.capacity import TRANSACTION_FACTOR, read_units
from tablewright.encoding.items import normalise_item
from tablewright.engine.charge import Charge, consumed_by_table
from tablewright.engine.expressions import read_projection
from tablewright.engine.item_writes import TotalSize, cancel_at_first, repeated_item
from tablewright.engine.rows import render_item
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.tables.table import StoredTable
from tablewright.wire.requests import TransactGetEntry, TransactGetItemsInput
from tablewright.wire.responses import GetItemOutput, TransactGetItemsOutput


def transact_get_items(request: TransactGetItemsInput) -> ReadStep:
    gets = [_TransactionGet(action.get) for action in request.actions]

    def run(context: ReadContext) -> TransactGetItemsOutput:
        for get in gets:
            get.table = context.find_table(get.request.table_name)
            get.table.reject_paths_into_keys(get.project)
            get.table.keys.reject_empty(get.key_values)
        cancel_at_first([get.check_key for get in gets])
        if len({(get.table.name, get.key) for get in gets}) < len(gets):
            raise repeated_item()
        charges = {
            get.table.name: Charge(
                get.table, "read", factor=TRANSACTION_FACTOR, name=get.request.table_name
            )
            for get in gets
        }
        total = TotalSize()
        rows = []
        with context.snapshot.read_transaction():
            for get in gets:
                found = context.snapshot.get(get.table.tree, get.key)
                size = found[0] if found else 0
                total.add(size)
                charges[get.table.name].add(read_units(size, consistent=True))
                rows.append((get, found))
        # Items are decoded only if all of them may be returned.
        responses = [
            GetItemOutput(render_item(found[1], get.project) if found else None)
            for get, found in rows
        ]
        return TransactGetItemsOutput(
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
            responses=responses,
        )

    return ReadStep(run)


class _TransactionGet:
    """One requested item."""

    __slots__ = ("key", "key_values", "project", "request", "table")

    table: StoredTable
    key: bytes

    def __init__(self, request: TransactGetEntry) -> None:
        self.request = request
        self.project = read_projection(request)
        self.key_values = normalise_item(request.key)

    def check_key(self) -> None:
        self.key = self.table.keys.check_key(self.key_values)
