"""UpdateItem: change attributes of an item, or make it if there is none.

Checks, in DynamoDB's order: expressions; the table; the key; the condition; what the update makes
of the item (paths, operand types, size, index keys).
"""

from __future__ import annotations

from tablewright.encoding.items import normalise_item
from tablewright.engine.capacity import Charge
from tablewright.engine.conditions import hold
from tablewright.engine.expressions import read_update
from tablewright.engine.metrics import collection_metrics
from tablewright.engine.rows import Row, find, replace
from tablewright.engine.step import Write, Writing
from tablewright.engine.table import Table
from tablewright.errors import ValidationException, invalid
from tablewright.expression import CompiledUpdate
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item
from tablewright.wire.requests import UpdateItemInput
from tablewright.wire.responses import ItemOut, WriteItemOutput

_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def update_item(request: UpdateItemInput) -> Write:
    update, condition = read_update(request)
    key_values = normalise_item(request.key)

    def run(writing: Writing) -> WriteItemOutput:
        table = writing.table(request.table_name)
        key = table.keys.check_key(key_values)
        refuse_key_changes(table, update)
        table.refuse_paths_into_keys(update, condition)
        old = find(writing.tx, table.tree, key)
        hold(condition, old, request.return_on_failure)
        new = updated_row(table, update, old, key_values)
        charge = Charge(table)
        replace(writing.tx, table, key, old, new, charge)
        return WriteItemOutput(
            _returned(request.return_values, update, old, new),
            charge.consumed(request.return_capacity),
            collection_metrics(table, key_values, request.return_metrics),
        )

    return Write(run)


def refuse_key_changes(table: Table, update: CompiledUpdate | None) -> None:
    """An item's key is what it is; another key is another item."""
    for name in table.names:
        if update and name in update.names:
            raise invalid(f"Cannot update attribute {name}. This attribute is part of the key")


def updated_row(
    table: Table, update: CompiledUpdate | None, old: Row | None, key_values: Item
) -> Row:
    """The item after the update, checked as a new item would be."""
    item = old.item if old else key_values
    row = Row(update.apply(item) if update else item)
    # A few kilobytes of list_append make millions of values. An item's JSON has at most two opening
    # braces for a byte of its size, so one that is far too large is refused without a walk.
    if row.body.count(b"{") > 2 * MAX_ITEM_SIZE + 100:
        raise ValidationException(_TOO_LARGE)
    if update:
        table.check_updated(row.item, row.size, update.names)
    if row.size > MAX_ITEM_SIZE:
        raise ValidationException(_TOO_LARGE)
    return row


def _returned(
    wanted: str | None, update: CompiledUpdate | None, old: Row | None, new: Row
) -> ItemOut | None:
    if wanted is None or wanted == "NONE":
        return None
    row = new if wanted.endswith("NEW") else old
    if row is None:
        return None
    if wanted.startswith("ALL"):
        return row.item
    return update.project_written(row.item) if update else None
