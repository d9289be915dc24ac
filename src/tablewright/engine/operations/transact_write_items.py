"""TransactWriteItems: up to 100 puts, updates, deletes and condition checks, all or nothing.

Checks, in DynamoDB's order: each entry has exactly one action; expressions and items; the tables;
empty keys; keys of a wrong type; duplicate items; the conditions and the results of updates. A key
of a wrong type, a false condition or an invalid result cancels the transaction; the fault has a
reason for each action, in the order of the request.

A ClientRequestToken makes the request idempotent for ten minutes: the same request succeeds again
without changes, another request with the same token is rejected.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal, Protocol

import msgspec

from tablewright.encoding.items import item_size, normalise_item
from tablewright.engine.cancellation import cancel_at_first, cancel_unless_all
from tablewright.engine.capacity import Charge, consumed_by_table, read_units, write_units
from tablewright.engine.catalog import TOKENS
from tablewright.engine.conditions import check_condition
from tablewright.engine.expressions import read_action
from tablewright.engine.metrics import collection_metrics
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.operations.update_item import apply_update, reject_key_changes
from tablewright.engine.rows import ItemRow, find_row, replace_item
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.engine.table import StoredTable
from tablewright.errors import (
    IdempotentParameterMismatchException,
    ValidationException,
)
from tablewright.expression import CompiledCondition, CompiledUpdate
from tablewright.limits import MAX_TRANSACTION_SIZE
from tablewright.storage import WriteTransaction
from tablewright.values import Item
from tablewright.wire.members import Structure
from tablewright.wire.requests import (
    AnyTransactAction,
    TransactConditionCheck,
    TransactPut,
    TransactUpdate,
    TransactWriteItem,
    TransactWriteItemsInput,
)
from tablewright.wire.responses import ItemCollectionMetrics, TransactWriteItemsOutput

TOKEN_SECONDS = 600


def transact_write_items(request: TransactWriteItemsInput) -> WriteStep:
    writes = [_TransactionWrite(_require_one_action(entry)) for entry in request.actions]
    fingerprint = compute_fingerprint(request.actions) if request.token else b""

    def run(context: WriteContext) -> TransactWriteItemsOutput:
        for write in writes:
            write.table = context.find_table(write.action.table_name)
            write.table.keys.reject_empty(write.key_values)
        charges, is_replay = run_transaction(context.tx, writes, request.token, fingerprint)
        metrics: dict[str, list[ItemCollectionMetrics]] = {}
        for write in writes:
            metric = collection_metrics(write.table, write.key_values, request.return_metrics)
            if metric and not is_replay:
                metrics.setdefault(write.action.table_name, []).append(metric)
        return TransactWriteItemsOutput(
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
            item_collection_metrics=metrics or None,
        )

    return WriteStep(run)


class TransactionWrite(Protocol):
    """One write of a transaction whose table is known, in the steps of `run_transaction`."""

    table: StoredTable
    key: bytes
    key_values: Item
    update: CompiledUpdate | None
    condition: CompiledCondition | None
    old: ItemRow | None
    new: ItemRow | None

    def check_key(self) -> None:
        """Check the key, or the key attributes of a new item, and set `key`."""

    def evaluate(self, tx: WriteTransaction) -> None:
        """Check the condition, and set `old` and `new`."""

    def open_charge(self, kind: Literal["read", "write"]) -> Charge:
        """Return a new charge of the table, as the request names it."""

    def apply(self, tx: WriteTransaction, charge: Charge) -> None:
        """Write the new row."""


def run_transaction(
    tx: WriteTransaction, writes: Sequence[TransactionWrite], token: str | None, fingerprint: bytes
) -> tuple[dict[str, Charge], bool]:
    """Apply all writes, or raise a fault and apply none.

    Return the charge of each table, and whether the request was applied before with this token.
    """
    cancel_at_first([write.check_key for write in writes])
    for write in writes:
        write.table.reject_paths_into_keys(write.update, write.condition)
    if len({(write.table.name, write.key) for write in writes}) < len(writes):
        raise ValidationException(
            "Transaction request cannot include multiple operations on one item"
        )
    if token and _was_applied(tx, token, fingerprint):
        return _charge_replay(tx, writes), True
    cancel_unless_all(partial(write.evaluate, tx) for write in writes)
    _check_total_size(writes)
    charges = {write.table.name: write.open_charge("write") for write in writes}
    for write in writes:
        write.apply(tx, charges[write.table.name])
    if token:
        tx.put(TOKENS, token.encode(), int(time.time()) + TOKEN_SECONDS, fingerprint)
    return charges, False


class _TransactionWrite:
    """One action, with the stored row and the new row of its item."""

    __slots__ = ("action", "condition", "key", "key_values", "new", "old", "table", "update")

    table: StoredTable
    key: bytes
    old: ItemRow | None
    new: ItemRow | None

    def __init__(self, action: AnyTransactAction) -> None:
        self.action = action
        self.update, self.condition = read_action(action)
        if isinstance(action, TransactPut):
            self.new = build_row(action.item)
            self.key_values: Item = self.new.item
        else:
            self.new = None
            self.key_values = normalise_item(action.key)

    def check_key(self) -> None:
        """Check the key, or the key attributes of a new item."""
        if self.new and isinstance(self.action, TransactPut):
            self.key = self.table.check_item(self.new.item, self.new.size)
        else:
            self.key = self.table.keys.check_key(self.key_values)
            reject_key_changes(self.table, self.update)

    def evaluate(self, tx: WriteTransaction) -> None:
        """Check the condition and compute the new row."""
        self.old = find_row(tx, self.table.tree, self.key)
        check_condition(self.condition, self.old, self.action.return_on_failure)
        if isinstance(self.action, TransactUpdate):
            self.new = apply_update(self.table, self.update, self.old, self.key_values)

    def open_charge(self, kind: Literal["read", "write"]) -> Charge:
        return Charge(self.table, kind, factor=2, name=self.action.table_name)

    def apply(self, tx: WriteTransaction, charge: Charge) -> None:
        if isinstance(self.action, TransactConditionCheck):
            charge.add(write_units(self.old.size if self.old else 0))
        else:
            replace_item(tx, self.table, self.key, self.old, self.new, charge)


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


def _check_total_size(writes: Iterable[TransactionWrite]) -> None:
    """Check the size of all new items; of other actions DynamoDB counts only the keys."""
    size = sum(write.new.size if write.new else item_size(write.key_values) for write in writes)
    if size > MAX_TRANSACTION_SIZE:
        raise ValidationException(
            f"Transaction payload size cannot exceed 4MB. Payload Size: {size}"
        )


def compute_fingerprint(actions: Sequence[Structure]) -> bytes:
    """Return a digest that is equal for equal actions, in any order of their JSON members."""
    return hashlib.sha256(msgspec.json.encode(actions, order="deterministic")).digest()


def _was_applied(tx: WriteTransaction, token: str, fingerprint: bytes) -> bool:
    """Return whether this request was applied before with this token.

    The size of the token's row is the time at which it expires.
    """
    found = tx.get(TOKENS, token.encode())
    if found is None or found[0] < time.time():
        return False
    if found[1] != fingerprint:
        raise IdempotentParameterMismatchException
    return True


def _charge_replay(tx: WriteTransaction, writes: Iterable[TransactionWrite]) -> dict[str, Charge]:
    """Charge a repeated request, as DynamoDB does, for reading its items."""
    charges: dict[str, Charge] = {}
    for write in writes:
        charge = charges.setdefault(write.table.name, write.open_charge("read"))
        row = find_row(tx, write.table.tree, write.key)
        charge.add(read_units(row.size if row else 0, consistent=True))
    return charges
