"""TransactWriteItems: up to 100 puts, updates, deletes and condition checks, all or nothing.

Checks, in DynamoDB's order: each entry has exactly one action; expressions and items; the tables;
empty keys; keys of a wrong type; duplicate items; the conditions and the results of updates. A key
of a wrong type, a false condition or an invalid result cancels the transaction; the fault has a
reason for each action, in the order of the request. `item_writes` runs the writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.encoding.items import check_depth, normalise_item
from tablewright.engine.charge import collection_metrics, consumed_by_table
from tablewright.engine.expressions import read_action
from tablewright.engine.item_writes import (
    TransactionWrite,
    WriteKind,
    compute_fingerprint,
    run_transaction,
)
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import ValidationException
from tablewright.wire.layers import OLD
from tablewright.wire.requests import (
    AnyTransactAction,
    TransactAction,
    TransactConditionCheck,
    TransactDelete,
    TransactPut,
    TransactUpdate,
    TransactWriteItem,
    TransactWriteItemsInput,
)
from tablewright.wire.responses import ItemCollectionMetrics, TransactWriteItemsOutput

_KINDS: dict[type[TransactAction], WriteKind] = {
    TransactPut: "put",
    TransactUpdate: "update",
    TransactDelete: "delete",
    TransactConditionCheck: "check",
}


def transact_write_items(request: TransactWriteItemsInput) -> WriteStep:
    writes = [_read_write(_require_one_action(entry)) for entry in request.actions]
    fingerprint = compute_fingerprint(request.actions) if request.token else b""

    def run(context: WriteContext) -> TransactWriteItemsOutput:
        if context.profile.get("TransactWriteItems", OLD) is not OLD:
            _check_by_new_layer(request, writes)
        for write in writes:
            write.table = context.find_table(write.table_name)
            write.table.keys.reject_empty(write.key_values)
        charges, is_replay = run_transaction(context.tx, writes, request.token, fingerprint)
        metrics: dict[str, list[ItemCollectionMetrics]] = {}
        for write in writes:
            metric = collection_metrics(write.table, write.key_values, request.return_metrics)
            if metric and not is_replay:
                metrics.setdefault(write.table_name, []).append(metric)
        return TransactWriteItemsOutput(
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
            item_collection_metrics=metrics or None,
        )

    return WriteStep(run)


def _check_by_new_layer(
    request: TransactWriteItemsInput, writes: Sequence[TransactionWrite]
) -> None:
    """Check what the old layer leaves to the writes: the depth of values, and the size charges."""
    for entry in request.actions:
        for value in (_require_one_action(entry).values or {}).values():
            check_depth(value)
    for write in writes:
        if write.update is not None:
            write.update.check_charge()


def _read_write(action: AnyTransactAction) -> TransactionWrite:
    update, condition = read_action(action)
    row = None
    if isinstance(action, TransactPut):
        row = build_row(action.item)
        key_values = row.item
    else:
        key_values = normalise_item(action.key)
    return TransactionWrite(
        _KINDS[type(action)],
        action.table_name,
        key_values,
        row,
        update,
        condition,
        action.return_on_failure,
    )


def _require_one_action(entry: TransactWriteItem) -> AnyTransactAction:
    given = [a for a in (entry.check, entry.put, entry.delete, entry.update) if a is not None]
    if not given:
        raise ValidationException(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    if len(given) > 1:
        raise ValidationException(
            "TransactItems can only contain one of Check, Put, Update or Delete"
        )
    return given[0]
