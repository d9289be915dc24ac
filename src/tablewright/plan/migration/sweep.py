"""Sweep: read a whole table, and write the items that differ from what they should be.

    page of items ──▶ changes ──▶ transactions of up to 99 updates and the check of the fence

Every update requires what it was computed from as it was read; an item that another program has
changed is read and computed again. All updates are in transactions with a check of the fence, so an
executor that has lost its lease writes nothing. A transaction also commits once: in a file, 99
updates take one fsync, over HTTP one request. DynamoDB charges twice the units for it.

Transactions of one table are sent one after the other: DynamoDB cancels transactions that touch the
same item, here the record, at the same time.

After each page the position is saved, with the fence as its condition: a run that was stopped is
continued by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from tablewright.backoff import Backoff
from tablewright.encoding.items import item_size
from tablewright.errors import (
    Contention,
    InvalidValue,
    TransactionCanceledException,
    ValidationException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.revision import Executor, lost_lease
from tablewright.plan.migration.rewriting import ItemRewrite
from tablewright.plan.migration.write_rate import WriteRate, described, read_rate
from tablewright.plan.plan import Context, Request, Steps, Wait
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.reads.single import decode_page
from tablewright.plan.writes.action import CONDITION_FAILED, TRANSIENT
from tablewright.plan.writes.guard import key_text
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: What it takes to reserve a unique value: a transaction with a sentinel and the check of an item.
RESERVATION_UNITS = 4
#: How often the capacity of a table is read again, for a share of it, in seconds.
CAPACITY_SECONDS = 60.0
#: The delays while other programs keep changing the same items.
CONFLICTS = Backoff(attempts=20, first=0.01, longest=1.0)


#: Returns what to write to an item; None if it is as it should be.
Compute: TypeAlias = Callable[[Item], ItemRewrite | None]


class RateLimit:
    """Limits write units per second."""

    def __init__(self, units_per_second: float | str | None) -> None:
        self._rate = None if units_per_second is None else read_rate(units_per_second)
        self._free_at = 0.0
        #: The table, as it was when its capacity was last read, and when it is read again.
        self._found: TableDescription | None = None
        self._read_at = 0.0

    def spend(self, changes: list[ItemRewrite], executor: Executor) -> Steps[None]:
        """Wait until the units of the last transaction have accrued."""
        units = sum(2 * _units(each) for each in changes)
        yield from self._spend(units, changes, executor)

    def spend_for_values(self, reserved: int, executor: Executor) -> Steps[None]:
        """Wait until the units have accrued that unique values took which were reserved."""
        yield from self._spend(RESERVATION_UNITS * reserved, [], executor)

    def _spend(self, units: int, changes: list[ItemRewrite], executor: Executor) -> Steps[None]:
        if self._rate is None or not units:
            return
        rate = yield from self._units_per_second(self._rate, changes, executor)
        now = time.monotonic()
        self._free_at = max(now, self._free_at) + units / rate
        yield from executor.wait(self._free_at - now)

    def _units_per_second(
        self, rate: WriteRate, changes: list[ItemRewrite], executor: Executor
    ) -> Steps[float]:
        if rate.units is not None:
            return rate.units
        now = time.monotonic()
        if self._found is None or now >= self._read_at:
            self._found = yield from described(executor.name)
            self._read_at = now + CAPACITY_SECONDS
        written = {
            index.name
            for index in self._found.global_indexes
            if any(each.changes_row_of(index) for each in changes)
        }
        return rate.units_in(self._found, written)


def read_page(context: Context, table: TableMap, last: Item | None) -> Steps[Any]:
    """Read one page of a table, with a consistent read, after the item with the key `last`."""
    members = {"TableName": context.name_of(table), "ConsistentRead": True}
    request = QueryRequest("Scan", members, Selection(None))
    return decode_page((yield request if last is None else request.next_page(last)))


def write_changes(
    executor: Executor,
    changes: Iterable[ItemRewrite],
    compute: Compute,
    context: Context,
    limit: RateLimit,
) -> Steps[int]:
    """Write changes in fenced transactions; return how many items were changed."""
    written = 0
    for batch in _batches(changes):
        written += yield from _write_batch(executor, batch, compute, context)
        yield from limit.spend(batch, executor)
    return written


def _batches(changes: Iterable[ItemRewrite]) -> Iterator[list[ItemRewrite]]:
    """Yield as many changes as fit into one transaction with the check of the fence."""
    batch: list[ItemRewrite] = []
    size = actions = 0
    for each in changes:
        added = item_size(each.item) + item_size({n: v for n, v in each.values.items() if v})
        count = 1
        if each.is_move:
            added, count = added + item_size(each.item), 2
        if batch and (
            actions + count >= MAX_TRANSACTION_ACTIONS or size + added > MAX_TRANSACTION_SIZE
        ):
            yield batch
            batch, size, actions = [], 0, 0
        batch.append(each)
        size += added
        actions += count
    if batch:
        yield batch


def _units(change: ItemRewrite) -> int:
    units = -(-item_size(change.item) // WRITE_UNIT_SIZE)
    return units + change.is_move * -(-item_size(change.apply()) // WRITE_UNIT_SIZE)


def _write_batch(
    executor: Executor, batch: list[ItemRewrite], compute: Compute, context: Context
) -> Steps[int]:
    """Send changes as one transaction, again without those that others have made unnecessary."""
    table, name = executor.table, executor.name
    failures = 0
    while batch:
        fence = {"ConditionCheck": {"TableName": name} | executor.fence_check()}
        actions_of = [each.actions(table, name) for each in batch]
        actions = [fence, *chain.from_iterable(actions_of)]
        try:
            yield Request("TransactWriteItems", {"TransactItems": actions})
            return len(batch)
        except ValidationException as fault:
            if len(batch) == 1:  # a key, or the item with its new attributes, is too large
                raise InvalidValue(
                    f"the item with {key_text(table.key(batch[0].item))}: {fault.message}"
                ) from fault
            written = 0
            for each in batch:  # DynamoDB does not say which one
                written += yield from _write_batch(executor, [each], compute, context)
            return written
        except TransactionCanceledException as fault:
            codes = [reason["Code"] for reason in fault.reasons]
            if codes[0] == CONDITION_FAILED:
                raise lost_lease(name) from None
            refused = [code for code in codes if code not in ("None", CONDITION_FAILED, *TRANSIENT)]
            if refused and len(batch) == 1:
                reason = fault.reasons[codes.index(refused[0])].get("Message", refused[0])
                shown = key_text(table.key(batch[0].item))
                raise InvalidValue(f"the item with {shown}: {reason}") from fault
            if refused:
                written = 0
                for each in batch:
                    written += yield from _write_batch(executor, [each], compute, context)
                return written
        failures += 1
        delay = CONFLICTS.delay(failures)
        if delay is None:
            raise Contention(
                f"other programs changed items of the table {name!r} {failures} times in a row "
                "while they were migrated; run the command again"
            )
        yield Wait(delay)
        reasons = iter(codes[1:])
        outcomes = [[next(reasons) for _ in actions] for actions in actions_of]
        _refuse_taken_keys(table, batch, outcomes)
        pairs = [(each, {*found} != {"None"}) for each, found in zip(batch, outcomes, strict=True)]
        changed = [each for each, has_changed in pairs if has_changed]
        batch = [each for each, has_changed in pairs if not has_changed]
        batch += yield from _computed_again(executor, changed, compute, context)
    return 0


def _refuse_taken_keys(
    table: TableMap, batch: list[ItemRewrite], outcomes: list[list[str]]
) -> None:
    """Raise InvalidValue for an item that is as it was read, and whose new key another item has."""
    for each, found in zip(batch, outcomes, strict=True):
        if each.is_move and found == ["None", CONDITION_FAILED]:
            shown = key_text(table.key(each.item))
            raise InvalidValue(f"the item with {shown}: {taken_key(table.key(each.apply()))}")


def taken_key(key: Item) -> str:
    """Return why an item cannot get a key that another item has."""
    return f"it cannot get the key {key_text(key)}: another item has it, or gets it, too"


def _computed_again(
    executor: Executor, changes: list[ItemRewrite], compute: Compute, context: Context
) -> Steps[list[ItemRewrite]]:
    """Read items again and return what is still to be written to them."""
    table = executor.table
    keys = [(executor.name, table.key(each.item)) for each in changes]
    found = yield from read_batch(context, keys, consistent=True)
    items = (found.get((executor.name, item_identity(key))) for _, key in keys)
    return [made for item in items if item is not None and (made := compute(item)) is not None]
