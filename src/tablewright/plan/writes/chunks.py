"""Chunks: actions of several rows, as many as fit into one transaction.

A group is the actions of one row: its own, and those of its side items. The actions of a group are
always in one request.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.errors import (
    ConditionalCheckFailedException,
    TransactionCanceledException,
    WriteRejected,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.plan.plan import Context, Steps
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    merge_sentinels,
    send_one,
    send_transaction,
    transaction_size,
    verdict_of,
)


def joined(*groups: Sequence[Action]) -> list[Action]:
    return [action for group in groups for action in group]


def fit(*groups: Sequence[Action]) -> bool:
    """Return whether the actions fit into one transaction."""
    actions = joined(*groups)
    return (
        len(actions) <= MAX_TRANSACTION_ACTIONS
        and transaction_size(actions) <= MAX_TRANSACTION_SIZE
    )


def take_fitting(groups: list[list[Action]], *others: Sequence[Action]) -> list[list[Action]]:
    """Remove and return the first groups, as many as fit into one transaction with others.

    DynamoDB allows one action on an item: a row that reserves the sentinel of another one is left
    for the next transaction, which reports it.
    """
    taken = [groups.pop(0)]
    seen = {action.identity for action in joined(*others, *taken)}
    while groups and fit(*others, *taken, groups[0]):
        identities = {action.identity for action in groups[0]}
        if not seen.isdisjoint(identities):
            break
        seen |= identities
        taken.append(groups.pop(0))
    return taken


def send_or_retry(actions: list[Action], context: Context) -> Steps[None]:
    """Send actions as one request; raise RetryWrite if an item has changed since it was read."""
    actions = merge_sentinels(actions)
    try:
        if len(actions) == 1:
            yield from send_one(actions[0], context, "NONE")
        else:
            yield from send_transaction(actions, context)
    except ConditionalCheckFailedException as fault:
        verdict = actions[0].on_failure(fault.item)
    except TransactionCanceledException as fault:
        verdict, _ = verdict_of(actions, fault)
    else:
        return
    if isinstance(verdict, WriteRejected):
        raise verdict from None
    raise RetryWrite from None
