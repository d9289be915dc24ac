"""DeleteItem: delete the item with a key; a missing item is not an error.

Checks, in DynamoDB's order: ReturnValues; expressions; the table; the key; the condition.
"""

from __future__ import annotations

from msgspec import Raw

from tablewright.encoding.items import TOO_DEEP, normalise_item
from tablewright.engine.charge import Charge, collection_metrics
from tablewright.engine.expressions import read_condition
from tablewright.engine.operations.put_item import check_return_values
from tablewright.engine.rows import check_condition, find_row, replace_item
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import ValidationException
from tablewright.wire.requests import DeleteItemInput
from tablewright.wire.responses import WriteItemOutput


def delete_item(request: DeleteItemInput) -> WriteStep:
    try:
        condition = read_condition(request)
    except ValidationException as fault:
        if fault.message == TOO_DEEP:  # checked after all members
            check_return_values(request)
        raise
    check_return_values(request)
    key_values = normalise_item(request.key)

    def run(context: WriteContext) -> WriteItemOutput:
        table = context.find_table(request.table_name)
        table.reject_paths_into_keys(condition)
        key = table.keys.check_key(key_values)
        old = find_row(context.tx, table.tree, key)
        check_condition(condition, old, request.return_on_failure)
        charge = Charge(table, name=request.table_name)
        replace_item(context.tx, table, key, old, None, charge)
        return WriteItemOutput(
            Raw(old.body) if old and request.return_values == "ALL_OLD" else None,
            charge.to_consumed_capacity(request.return_capacity),
            collection_metrics(table, key_values, request.return_metrics),
        )

    return WriteStep(run)
