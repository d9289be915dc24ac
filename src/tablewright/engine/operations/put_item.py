"""PutItem: create an item, or replace the item with the same key.

Checks, in DynamoDB's order: expressions; the item's values and size; ReturnValues; the table; the
item's keys; the condition.
"""

from __future__ import annotations

from msgspec import Raw

from tablewright.encoding.items import (
    ITEM_TOO_LARGE,
    NAME_TOO_LARGE,
    TOO_DEEP,
    item_size,
    normalise_item,
)
from tablewright.engine.charge import Charge, collection_metrics
from tablewright.engine.expressions import read_condition
from tablewright.engine.rows import ItemRow, check_condition, find_row, replace_item
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import ValidationException
from tablewright.limits import MAX_ATTRIBUTE_NAME_SIZE, MAX_ITEM_SIZE
from tablewright.values import Item
from tablewright.wire.requests import DeleteItemInput, PutItemInput
from tablewright.wire.responses import WriteItemOutput


def put_item(request: PutItemInput) -> WriteStep:
    try:
        condition = read_condition(request)
        new = build_row(request.item)
    except ValidationException as fault:
        if fault.message == TOO_DEEP:  # checked after all members
            check_return_values(request)
        raise
    check_return_values(request)

    def run(context: WriteContext) -> WriteItemOutput:
        table = context.find_table(request.table_name)
        table.reject_paths_into_keys(condition)
        item = new.item
        key = table.check_item(item, new.size)
        old = find_row(context.tx, table.tree, key)
        check_condition(condition, old, request.return_on_failure)
        charge = Charge(table, name=request.table_name)
        replace_item(context.tx, table, key, old, new, charge)
        return WriteItemOutput(
            Raw(old.body) if old and request.return_values == "ALL_OLD" else None,
            charge.to_consumed_capacity(request.return_capacity),
            collection_metrics(table, item, request.return_metrics),
        )

    return WriteStep(run)


def check_return_values(request: PutItemInput | DeleteItemInput) -> None:
    """Refuse a ReturnValues that only an update has."""
    if request.return_values not in (None, "NONE", "ALL_OLD"):
        raise ValidationException("ReturnValues can only be ALL_OLD or NONE")


def build_row(raw: Item) -> ItemRow:
    """Build and check the row of a new item; the table checks its keys later."""
    item = normalise_item(raw)
    size = item_size(item)
    if size > MAX_ITEM_SIZE:
        raise ValidationException(ITEM_TOO_LARGE, is_bare=True)
    if size > MAX_ATTRIBUTE_NAME_SIZE and any(
        len(name.encode()) > MAX_ATTRIBUTE_NAME_SIZE for name in item
    ):
        raise ValidationException(NAME_TOO_LARGE)
    return ItemRow(item, size)
