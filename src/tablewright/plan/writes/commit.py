"""Commit: send prepared writes as one request, and prepare them again if an item has changed.

    prepare   each write reads what it needs   ->  actions, each with the meaning of its failure
    send      one request, or one transaction  ->  results, or the error of the first failed action
    finish    what a write does afterwards     ->  requests of their own
    retry     with backoff, while other writers change the items between read and write

This is the only place that retries a write. It must not know the kinds of writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tablewright.backoff import Backoff
from tablewright.errors import (
    ConditionalCheckFailedException,
    ConditionFailed,
    Contention,
    EndpointUnavailable,
    InvalidValue,
    TransactionCanceledException,
    ValidationException,
    WriteRejected,
)
from tablewright.limits import MAX_ITEM_SIZE, MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.plan.plan import Context, Steps, Wait
from tablewright.plan.writes.action import (
    Action,
    NothingToDo,
    Prepared,
    RetryWrite,
    merge_sentinels,
    send_one,
    send_transaction,
    transaction_size,
    verdict_of,
)
from tablewright.plan.writes.guard import key_text, rejection
from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.plan.writes.write import Write

#: For writes that found a change since they read. A write stops after about eight seconds: with
#: 30 attempts, 16 threads that all update one item at 10 ms latency succeed.
CONTENTION = Backoff(attempts=30, first=0.01, longest=0.64)

#: What DynamoDB says of a path whose parent does not exist.
INVALID_PATH = "document path provided in the update expression is invalid"
PARENT_MISSING = "the parent path does not exist"
NOT_WRITTEN = "nothing was written"


def commit(writes: Sequence[Write[Any]], context: Context) -> Steps[list[Any]]:
    """Apply all of these writes or none; retry while the items that they read keep changing."""
    attempt, has_written = 0, False
    while True:
        try:
            prepared = yield from _prepare_all(writes, context, attempt)
            results = yield from _send(writes, prepared, context)
        except RetryWrite as retry:
            has_written = has_written or retry.has_written
            attempt = 1 if retry.has_written else attempt + 1
        else:
            for ready in prepared:
                if ready.finish is not None:
                    yield from ready.finish()
            return results
        delay = CONTENTION.delay(attempt)
        if delay is None:
            done = "a part was written: run it again to continue" if has_written else NOT_WRITTEN
            raise Contention(
                f"{_names(writes)}: other writers changed the item between read and write, "
                f"{attempt} times in a row; {done}"
            )
        yield Wait(delay)


def _prepare_all(
    writes: Sequence[Write[Any]], context: Context, attempt: int
) -> Steps[list[Prepared]]:
    """Prepare the writes; raise RetryWrite if an item has changed meanwhile."""
    prepared: list[Prepared] = []
    for position, write in enumerate(writes):
        try:
            ready = yield from write._prepare(context, attempt, alone=len(writes) == 1)
        except WriteRejected as error:
            raise with_position(error, writes, position) from None
        prepared.append(ready)
    return prepared


def _send(
    writes: Sequence[Write[Any]], prepared: list[Prepared], context: Context
) -> Steps[list[Any]]:
    """Send the writes as one request; return their results.

    Raise RetryWrite if an item has changed since it was read.
    """
    actions: list[Action] = []
    for position, ready in enumerate(prepared):
        for action in ready.actions:
            action.write = position
            actions.append(action)
    if len(writes) > 1 or len(actions) > 1:
        actions = merge_sentinels(actions)
        _check_limits(writes, actions)
    returned: Item | None = None
    maybe_applied = False
    try:
        if len(actions) == 1:
            returned = yield from send_one(actions[0], context, prepared[actions[0].write].returns)
        elif actions:
            yield from send_transaction(actions, context)
    except ConditionalCheckFailedException as fault:
        verdict, failed = actions[0].on_failure(fault.item), 0
        maybe_applied = fault.maybe_applied
        if verdict is None and maybe_applied:  # the change since the read may be its own
            error = EndpointUnavailable(f"{_names(writes)}: the item has changed since it was read")
            error.maybe_applied = True
            raise error from fault
    except ValidationException as fault:
        if INVALID_PATH not in str(fault):
            raise
        entity, key = writes[actions[0].write]._entity, actions[0].key
        verdict, failed = rejection(ConditionFailed, entity, key, None, PARENT_MISSING), 0
    except TransactionCanceledException as fault:
        verdict, failed = verdict_of(actions, fault)
    else:
        return [ready.result(returned) for ready in prepared]
    if isinstance(verdict, NothingToDo):
        if len(writes) == 1:
            return [verdict.result]
        verdict = verdict.error
    if verdict is None:
        raise RetryWrite from None
    rejected = with_position(verdict, writes, actions[failed].write)
    rejected.maybe_applied = maybe_applied
    raise rejected from None


def _check_limits(writes: Sequence[Write[Any]], actions: list[Action]) -> None:
    if len(actions) > MAX_TRANSACTION_ACTIONS:
        raise InvalidValue(
            f"{_names(writes)}: {len(actions)} actions, with sentinels and history; DynamoDB "
            f"allows at most {MAX_TRANSACTION_ACTIONS} in one transaction"
        )
    seen: dict[tuple[str, bytes], int] = {}
    for action in actions:
        identity = action.identity
        if identity in seen:
            raise InvalidValue(
                f"writes {seen[identity] + 1} and {action.write + 1} of {_names(writes)} change or "
                f"check the same item, {key_text(action.key)}; DynamoDB allows one action on an "
                "item"
            )
        seen[identity] = action.write
    if len(actions) * MAX_ITEM_SIZE <= MAX_TRANSACTION_SIZE:
        return  # whatever their sizes
    size = transaction_size(actions)
    if size > MAX_TRANSACTION_SIZE:
        raise InvalidValue(
            f"{_names(writes)}: {size:,} bytes; DynamoDB allows at most "
            f"{MAX_TRANSACTION_SIZE:,} in one transaction"
        )


def with_position(error: WriteRejected, writes: Sequence[Write[Any]], owner: int) -> WriteRejected:
    """Say in the error which of several writes it is about, and return it."""
    if len(writes) == 1:
        return error
    write = writes[owner]
    position = f"write {owner + 1} of {len(writes)}, {write._verb} {write._entity.name}"
    error.args = (f"{position}: {error}",)
    return error


def _names(writes: Sequence[Write[Any]]) -> str:
    """Render writes for a message: `put Order`, or `transact(put Order, …)`."""
    named = [f"{write._verb} {write._entity.name}" for write in writes]
    if len(named) == 1:
        return named[0]
    return f"transact({', '.join(named[:3])}{', …' * (len(named) > 3)})"
