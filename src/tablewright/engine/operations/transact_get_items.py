"""TransactGetItems: up to 100 items, of several tables, all as they were at one moment.

Checks, in DynamoDB's order: projections; the tables; the keys, which cancel the transaction; no
item twice.
"""

from __future__ import annotations

from tablewright.encoding.items import normalise_item
from tablewright.engine.cancellation import cancel_unless_all
from tablewright.engine.capacity import Charge, consumed_by_table, read_units
from tablewright.engine.expressions import read_projection
from tablewright.engine.rows import answered
from tablewright.engine.step import Read, Reading
from tablewright.engine.table import Table
from tablewright.errors import ValidationException
from tablewright.wire.requests import TransactGet, TransactGetItemsInput
from tablewright.wire.responses import GetItemOutput, TransactGetItemsOutput


def transact_get_items(request: TransactGetItemsInput) -> Read:
    gets = [_Get(action.get) for action in request.actions]

    def run(reading: Reading) -> TransactGetItemsOutput:
        for get in gets:
            get.table = reading.table(get.request.table_name)
            get.table.refuse_paths_into_keys(get.project)
            get.table.keys.refuse_empty(get.key_values)
        cancel_unless_all(get.locate for get in gets)
        if len({(get.table.name, get.key) for get in gets}) < len(gets):
            raise ValidationException(
                "Transaction request cannot include multiple operations on one item"
            )
        charges = {get.table.name: Charge(get.table, "read", factor=2) for get in gets}
        responses = []
        with reading.snapshot.frozen():
            for get in gets:
                found = reading.snapshot.get(get.table.tree, get.key)
                size = found[0] if found else 0
                charges[get.table.name].add(read_units(size, consistent=True))
                responses.append(GetItemOutput(answered(found[1], get.project) if found else None))
        return TransactGetItemsOutput(
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
            responses=responses,
        )

    return Read(run)


class _Get:
    """One item that is asked for."""

    __slots__ = ("key", "key_values", "project", "request", "table")

    table: Table
    key: bytes

    def __init__(self, request: TransactGet) -> None:
        self.request = request
        self.project = read_projection(request)
        self.key_values = normalise_item(request.key)

    def locate(self) -> None:
        self.key = self.table.keys.check_key(self.key_values)
