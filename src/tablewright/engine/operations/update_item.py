"""UpdateItem: change attributes of an item, or create it unless the update only removes.

Checks, in DynamoDB's order: expressions; the table; the key; the condition; the update and its
result (paths, operand types, size, index keys).
"""

from __future__ import annotations

from tablewright.encoding.items import ITEM_TO_UPDATE_TOO_LARGE, item_size, normalise_item
from tablewright.engine.charge import Charge, collection_metrics
from tablewright.engine.expressions import read_update
from tablewright.engine.rows import ItemRow, check_condition, find_row, replace_item
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import ValidationException, invalid
from tablewright.expression import CompiledUpdate
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item
from tablewright.wire.layers import OLD
from tablewright.wire.requests import UpdateItemInput
from tablewright.wire.responses import ItemOut, WriteItemOutput


def update_item(request: UpdateItemInput) -> WriteStep:
    update, condition = read_update(request)
    key_values = normalise_item(request.key)
    charged = update if request.update is not None else None

    def run(context: WriteContext) -> WriteItemOutput:
        table = context.find_table(request.table_name)
        key = table.keys.check_key(key_values)
        reject_key_changes(table, update)
        table.reject_paths_into_keys(update, condition)
        if charged is not None and context.profile.get("UpdateItem", OLD) is not OLD:
            charged.check_charge()
        old = find_row(context.tx, table.tree, key)
        check_condition(condition, old, request.return_on_failure)
        new = apply_update(table, update, old, key_values)
        charge = Charge(table, name=request.table_name)
        replace_item(context.tx, table, key, old, new, charge)
        return WriteItemOutput(
            select_returned(request.return_values, update, old, new),
            charge.to_consumed_capacity(request.return_capacity),
            collection_metrics(table, key_values, request.return_metrics),
        )

    return WriteStep(run)


def reject_key_changes(table: StoredTable, update: CompiledUpdate | None) -> None:
    """Reject an update of a key attribute of the table."""
    for name in table.key_names:
        if update and name in update.names:
            raise invalid(f"Cannot update attribute {name}. This attribute is part of the key")


def apply_update(
    table: StoredTable, update: CompiledUpdate | None, old: ItemRow | None, key_values: Item
) -> ItemRow | None:
    """Return the row after the update, checked like a new item.

    An update that only removes does not create a missing item: it returns None, whatever its paths.
    """
    if old is None and update is not None and update.only_removes:
        return None
    if update is None:
        return old or ItemRow(key_values)
    if old is None:
        item, size = update.apply_within_limit(key_values, item_size(key_values))
    else:
        item, size = update.apply_within_limit(old.item, old.size)
    row = ItemRow(item, size)
    table.check_updated_item(item, row.size, update.names)
    if row.size > MAX_ITEM_SIZE:
        raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)
    return row


def select_returned(
    wanted: str | None, update: CompiledUpdate | None, old: ItemRow | None, new: ItemRow | None
) -> ItemOut | None:
    """Return the attributes that ReturnValues asks for."""
    if wanted is None or wanted == "NONE":
        return None
    row = new if wanted.endswith("NEW") else old
    if row is None:
        return None
    if wanted.startswith("ALL"):
        return row.item
    return update.project_written(row.item) if update else None
