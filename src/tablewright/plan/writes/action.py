"""Actions: the parts of one write request, and what the failure of each one means.

One action is a PutItem, UpdateItem or DeleteItem; several are one TransactWriteItems. An action
knows what a failed condition means (`Action.on_failure`): an error, nothing to do, or that the
item has changed since it was read, so that the write is prepared again.

This module must not know plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.encoding.items import item_size
from tablewright.errors import TransactionCanceledException, WriteRejected
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.members import UniqueMap
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plan.writes.effect import WriteEffect
from tablewright.plan.writes.guard import Snapshot, WriteExpressions
from tablewright.values import Item

#: Codes with which DynamoDB cancels a transaction that may succeed if it is sent again.
TRANSIENT = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})

#: The code of an action whose condition does not hold.
CONDITION_FAILED = "ConditionalCheckFailed"


class NothingToDo(Struct):
    """A write that found nothing to do: its result, and its error if it is in a transaction."""

    result: Any
    error: WriteRejected


#: What a failed condition means; None: the item has changed since it was read, so try again.
Verdict: TypeAlias = WriteRejected | NothingToDo | None


class RetryWrite(Exception):
    """An item that was read has changed while the write was prepared."""

    def __init__(self, *, has_written: bool = False) -> None:
        #: Whether a part of the write is done, and the next attempt continues it.
        self.has_written = has_written


class Action(Struct):
    """One action of a transaction."""

    kind: str  # Put, Update, Delete or ConditionCheck
    table: TableMap
    body: dict[str, Any]
    #: Takes the item as it is now.
    on_failure: Callable[[Item | None], Verdict]
    #: The item that it deletes, where that is known: DynamoDB counts its size.
    deleted: Item | None = None
    #: The position of its write in a transaction.
    write: int = 0

    @property
    def key(self) -> Item:
        if self.kind == "Put":
            return self.table.key(self.body["Item"])
        key: Item = self.body["Key"]
        return key

    @property
    def identity(self) -> tuple[str, bytes]:
        """What identifies the item that the action is about."""
        return self.table.name, msgspec.json.encode(self.key, order="deterministic")


class SentinelAction(Action, kw_only=True):
    """An action on the sentinel of a unique value, if it is missing or belongs to an owner."""

    #: What the sentinel contains if it belongs to an entity of the write, for each such entity.
    owners: list[Snapshot]
    #: Whether the write is done without this action if the sentinel belongs to another entity.
    is_optional: bool
    #: The unique value and its entity, if all stored values must be reserved before this one is.
    requires: tuple[UniqueMap, EntityMap] | None = None


class Prepared(Struct):
    """A write that is ready to be sent."""

    #: Those of its own items first, then those of its side items.
    actions: list[Action]
    #: Makes the result of the attributes that DynamoDB returned, if it was asked for them.
    result: Callable[[Item | None], Any]
    #: What the write changes, item by item.
    effects: tuple[WriteEffect, ...] = ()
    #: ALL_NEW or ALL_OLD, for a write that is one action.
    returns: str = "NONE"
    #: What remains to be done after the request.
    finish: Callable[[], Steps[None]] | None = None


def always_retry(_: Item | None) -> Verdict:
    """The item has changed since it was read."""
    return None


def send_one(action: Action, context: Context, returns: str) -> Steps[Item | None]:
    """Send one action as a request of its own; return the attributes that it returns."""
    if action.kind == "ConditionCheck":
        yield from send_transaction([action], context)
        return None
    body = _body(action, context)
    if returns == "NONE":
        yield Request(f"{action.kind}Item", body)
        return None
    body["ReturnValues"] = returns
    answer = yield Request(f"{action.kind}Item", body)
    attributes: Item | None = msgspec.json.decode(answer).get("Attributes")
    return attributes


def send_transaction(actions: list[Action], context: Context) -> Steps[None]:
    """Send actions as one transaction.

    If a sentinel belongs to another entity, an optional action on it is removed from the list, and
    the others are sent again.
    """
    while True:
        items = [{action.kind: _body(action, context)} for action in actions]
        try:
            yield Request("TransactWriteItems", {"TransactItems": items})
        except TransactionCanceledException as fault:
            foreign = {
                position
                for position, reason in enumerate(fault.reasons)
                if reason["Code"] == CONDITION_FAILED and is_optional(actions[position])
            }
            if not foreign:
                raise
            actions[:] = [each for at, each in enumerate(actions) if at not in foreign]
        else:
            return


def is_optional(action: Action) -> bool:
    """Return whether the write is done without an action whose condition does not hold."""
    return isinstance(action, SentinelAction) and action.is_optional


def require_reserved(action: Action, context: Context) -> None:
    """Raise UniqueNotReady if stored items may not have reserved the value of a sentinel yet."""
    if isinstance(action, SentinelAction) and action.requires is not None:
        context.require_reserved(*action.requires)


def _body(action: Action, context: Context) -> dict[str, Any]:
    require_reserved(action, context)
    body = {"TableName": context.name_of(action.table), **action.body}
    if isinstance(action, SentinelAction):
        expressions = WriteExpressions()
        expressions.require_owned(action.table, action.owners)
        expressions.add_to(body)
    if "ConditionExpression" in body:
        body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return body


def merge_sentinels(actions: list[Action]) -> list[Action]:
    """Make one action of a sentinel that one write releases and another releases or reserves.

    DynamoDB allows one action on an item. The guard on the entity that releases the sentinel keeps
    this safe.
    """
    sentinels = [action for action in actions if isinstance(action, SentinelAction)]
    remaining = {action.identity: action for action in sentinels if action.kind == "Put"}
    merged = set[int]()
    for action in sentinels:
        if action.kind == "Delete":
            other = remaining.setdefault(action.identity, action)
            if other is not action:
                other.owners += action.owners
                merged.add(id(action))
    return [action for action in actions if id(action) not in merged]


def verdict_of(actions: list[Action], fault: TransactionCanceledException) -> tuple[Verdict, int]:
    """Return what a cancelled transaction means, and the position of the action that failed.

    If an item has changed since it was read, the other failures may follow from that alone: so
    the write is tried again before any error is raised.
    """
    errors: list[tuple[Verdict, int]] = []
    for position, reason in enumerate(fault.reasons):
        code = reason["Code"]
        if code == CONDITION_FAILED:
            verdict = actions[position].on_failure(reason.get("Item"))
            if verdict is None:
                return None, position
            errors.append((verdict, position))
        elif code in TRANSIENT:
            return None, position
    if not errors:
        raise fault
    return errors[0]


def transaction_size(actions: Sequence[Action]) -> int:
    """Return the bytes of the items that actions put and delete, as far as they are known."""
    items = [action.body.get("Item") or action.deleted for action in actions]
    return sum(item_size(item) for item in items if item is not None)
