"""Writes of items, one or many, all or nothing: TransactWriteItems and statements of PartiQL.

A `TransactionWrite` is one put, update, delete or condition check. Its methods are stages:
`run_transaction` takes all writes through one stage before the next, so that every check comes
before the first change. The stages can run again: a commit that fails is repeated.

A ClientRequestToken makes a transaction idempotent for ten minutes: the same request succeeds again
without changes, another request with the same token is rejected.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright.capacity import TRANSACTION_FACTOR, read_units, write_units
from tablewright.encoding.items import TOO_DEEP, TOO_DEEP_IN_TRANSACTION, item_size
from tablewright.engine.charge import Charge
from tablewright.engine.operations.update_item import apply_update, reject_key_changes
from tablewright.engine.paging import WorkLimit
from tablewright.engine.rows import ItemRow, check_condition, find_row, replace_item
from tablewright.engine.tables.catalog import TOKENS
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    ConditionalCheckFailedException,
    DuplicateItemException,
    IdempotentParameterMismatchException,
    TransactionCanceledException,
    ValidationException,
)
from tablewright.expression import CompiledCondition, CompiledUpdate
from tablewright.limits import MAX_TRANSACTION_SIZE
from tablewright.storage import WriteTransaction
from tablewright.values import Item
from tablewright.wire.constraints import Structure

#: `insert` is a put that must not replace an item.
WriteKind: TypeAlias = Literal["put", "insert", "update", "delete", "check"]

TOKEN_SECONDS = 600


@dataclass(eq=False, slots=True)
class TransactionWrite:
    """One write, with the stored row and the new row of its item."""

    kind: WriteKind
    table_name: str  # as in the request: a name or an ARN
    key_values: Item  # the key, or the new item
    put_row: ItemRow | None = None
    update: CompiledUpdate | None = None
    condition: CompiledCondition | None = None
    return_on_failure: str | None = None
    # What the stages find:
    table: StoredTable = field(init=False)
    key: bytes = field(init=False)
    old: ItemRow | None = field(init=False)
    new: ItemRow | None = field(init=False)

    def check_key(self) -> None:
        """Check the key, or the key attributes of a new item."""
        if self.put_row is not None:
            self.key = self.table.check_item(self.put_row.item, self.put_row.size)
        else:
            self.key = self.table.keys.check_key(self.key_values)
            reject_key_changes(self.table, self.update)

    def read(self, tx: WriteTransaction) -> None:
        """Read the stored row."""
        self.old = find_row(tx, self.table.tree, self.key)
        self.new = self.put_row

    def evaluate(self) -> None:
        """Check the condition and compute the new row."""
        if self.kind == "insert" and self.old is not None:
            raise DuplicateItemException
        check_condition(self.condition, self.old, self.return_on_failure)
        if self.kind == "update":
            self.new = apply_update(self.table, self.update, self.old, self.key_values)

    def apply(self, tx: WriteTransaction, charge: Charge) -> None:
        """Write the new row; a check writes nothing, but costs as much."""
        if self.kind == "check":
            charge.add(write_units(self.old.size if self.old else 0))
        else:
            replace_item(tx, self.table, self.key, self.old, self.new, charge)

    def release(self) -> None:
        """Keep the bytes of large rows only."""
        for row in (self.old, self.new):
            if row is not None and row is not self.put_row:
                row.release_large_item()

    @property
    def evaluated_size(self) -> int:
        """The size of the stored item, if the condition or the update reads it."""
        reads = self.condition is not None or self.update is not None
        return self.old.size if reads and self.old else 0

    @property
    def written_size(self) -> int:
        """The size of the new item; of other actions DynamoDB counts only the keys."""
        return self.new.size if self.new else item_size(self.key_values)

    def open_charge(self, kind: Literal["read", "write"]) -> Charge:
        """Return a new charge of the table for a transaction."""
        return Charge(self.table, kind, factor=TRANSACTION_FACTOR, name=self.table_name)


def run_transaction(
    tx: WriteTransaction, writes: Sequence[TransactionWrite], token: str | None, fingerprint: bytes
) -> tuple[dict[str, Charge], bool]:
    """Apply all writes, whose tables are known, or raise a fault and apply none.

    Return the charge of each table, and whether the request was applied before with this token.
    """
    cancel_at_first([write.check_key for write in writes])
    for write in writes:
        write.table.reject_paths_into_keys(write.update, write.condition)
    if len({(write.table.name, write.key) for write in writes}) < len(writes):
        raise repeated_item()
    if token and _was_applied(tx, token, fingerprint):
        return _charge_replay(tx, writes), True
    cancel_unless_all(_evaluations(tx, writes))
    size = sum(write.written_size for write in writes)
    if size > MAX_TRANSACTION_SIZE:
        raise too_large(size)
    charges = {write.table.name: write.open_charge("write") for write in writes}
    for write in writes:
        write.apply(tx, charges[write.table.name])
        write.release()
    if token:
        tx.put(TOKENS, token.encode(), int(time.time()) + TOKEN_SECONDS, fingerprint)
    return charges, False


def repeated_item() -> ValidationException:
    return ValidationException("Transaction request cannot include multiple operations on one item")


def cancel_at_first(checks: Sequence[Callable[[], None]]) -> None:
    """Run checks up to the first one that fails; then raise with a reason for it alone.

    DynamoDB reports an invalid key alone: it is found before the transaction begins. (That other
    invalid keys are not reported is not known for certain.)
    """
    for position, check in enumerate(checks):
        try:
            check()
        except ValidationException as failure:
            if not failure.cancels:
                raise
            reasons: list[dict[str, Any]] = [{"Code": "None"} for _ in checks]
            reasons[position] = {"Code": "ValidationError", "Message": failure.message}
            raise TransactionCanceledException(reasons) from None


def cancel_unless_all(checks: Iterable[Callable[[], None]]) -> None:
    """Run all checks; if one fails, raise TransactionCanceledException with all reasons."""
    reasons: list[dict[str, Any]] = []
    for check in checks:
        try:
            check()
        except ConditionalCheckFailedException as failure:
            reason = {"Code": "ConditionalCheckFailed", "Message": failure.message}
            reasons.append(reason if failure.item is None else {"Item": failure.item, **reason})
        except DuplicateItemException as failure:
            reasons.append({"Code": "DuplicateItem", "Message": failure.message})
        except ValidationException as failure:
            if not failure.cancels:
                raise
            message = TOO_DEEP_IN_TRANSACTION if failure.message == TOO_DEEP else failure.message
            reasons.append({"Code": "ValidationError", "Message": message})
        else:
            reasons.append({"Code": "None"})
    if any(reason["Code"] != "None" for reason in reasons):
        raise TransactionCanceledException(reasons)


def compute_fingerprint(actions: Sequence[Structure]) -> bytes:
    """Return a digest that is equal for equal actions, in any order of their JSON members."""
    return hashlib.sha256(msgspec.json.encode(actions, order="deterministic")).digest()


def _evaluations(
    tx: WriteTransaction, writes: Iterable[TransactionWrite]
) -> Iterator[Callable[[], None]]:
    """Yield what evaluates each write; stop if the items are too large and take too long.

    DynamoDB limits the size of all items of a transaction, and it is not known whether it counts
    those that are only checked, or deleted. A hundred large items are evaluated fast, unless they
    have hundreds of thousands of values: this would take seconds, during which no one else writes.
    """
    work, size = WorkLimit(), 0
    for write in writes:
        write.read(tx)
        size += write.evaluated_size
        if size > MAX_TRANSACTION_SIZE and work.is_reached:
            raise too_large(size)
        yield write.evaluate
        write.release()


class TotalSize:
    """The size of the items that a transaction reads."""

    __slots__ = ("_size",)

    def __init__(self) -> None:
        self._size = 0

    def add(self, size: int) -> None:
        """Add the size of an item; raise a fault if the sum exceeds the limit."""
        self._size += size
        if self._size > MAX_TRANSACTION_SIZE:
            raise too_large(self._size)


def too_large(size: int) -> ValidationException:
    return ValidationException(f"Transaction payload size cannot exceed 4MB. Payload Size: {size}")


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
