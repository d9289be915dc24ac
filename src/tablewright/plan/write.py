"""Writes: put, create, update and delete, alone or all or nothing.

A write becomes actions: its own, and those that keep sentinels and history in step. One action is
a PutItem, UpdateItem or DeleteItem; several are one TransactWriteItems. Where a write depends on
what is stored (the old value of a unique attribute, the parts of an index key), it reads first and
guards the write with a condition on what it read; if that has changed, it reads again.

    prepare   reads what it needs   ->  actions, each with what its failure means
    commit    one request           ->  results, or the error of the first action that failed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.encoding.items import item_size
from tablewright.errors import (
    ConditionalCheckFailedException,
    ConditionFailed,
    Contention,
    DeclarationError,
    EndpointUnavailable,
    InvalidValue,
    TransactionCanceledException,
    ValidationException,
    WriteRejected,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.condition import Condition
from tablewright.plan.guard import refusal, shown_key
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape
from tablewright.values import Item

E = TypeVar("E")
T = TypeVar("T")

#: For writes that found a change since they read. A write gives up after about eight seconds: with
#: 30 attempts, 16 threads that all update one item at 10 ms latency succeed.
CONTENTION = Backoff(attempts=30, first=0.01, longest=0.64)

#: What DynamoDB says of a path into a document that is not there.
NO_PLACE = "document path provided in the update expression is invalid"
PLACE_MISSING = "a place that it changes is in something that is not there"

#: Codes with which DynamoDB cancels a transaction that may succeed if it is sent again.
TRANSIENT = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


class Unchanged(Struct):
    """A write that found nothing to do: what it gives, and what to say in a transaction."""

    result: Any
    otherwise: WriteRejected


#: What a failed condition means: an error, nothing to do, or None to read and try again.
Verdict = WriteRejected | Unchanged | None


class Again(Exception):
    """What was read has changed while a write was prepared."""


class Action(Struct):
    """One action of a transaction."""

    kind: str  # Put, Update, Delete or ConditionCheck
    table: TableMap
    body: dict[str, Any]
    failed: Callable[[Item | None], Verdict]
    #: A sentinel: one may be given up and taken in the same transaction.
    sentinel: bool = False
    #: What it deletes, where that is known and large: DynamoDB counts it.
    deletes: Item | None = None

    @property
    def key(self) -> Item:
        if self.kind == "Put":
            return self.table.key(self.body["Item"])
        key: Item = self.body["Key"]
        return key


class Prepared(Struct):
    """A write that is ready: its actions, its own first, and what it gives."""

    actions: list[Action]
    #: Makes the result from the attributes that DynamoDB returned, if it was asked to.
    result: Callable[[Item | None], Any]
    #: ALL_NEW or ALL_OLD, for a write that is one action.
    returns: str = "NONE"


class Write(Plan[T], Generic[T]):
    """A write, alone or in `transact(…)`."""

    _entity: EntityMap
    _conditions: tuple[Condition[Any], ...] = ()
    #: The verb that made it, for messages.
    _verb = "write"

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        """Read what has to be known, and give the actions. `alone`: not with other writes."""
        raise NotImplementedError

    def _steps(self, context: Context) -> Steps[T]:
        results = yield from commit((self,), context)
        result: T = results[0]
        return result

    def _shape(self) -> Shape:
        raise NotImplementedError

    def _expecting(self, condition: Condition[Any]) -> Self:
        check_condition(condition, self._entity)
        return self._replace(_conditions=(*self._conditions, *condition.parts()))


def commit(writes: Sequence[Write[Any]], context: Context) -> Steps[list[Any]]:
    """Apply all of these writes or none; retry while the items that they read keep changing."""
    attempt = 0
    while True:
        prepared = yield from _prepared(writes, context, attempt)
        results = None if prepared is None else (yield from _attempt(writes, prepared, context))
        if results is not None:
            return results
        attempt += 1
        delay = CONTENTION.delay(attempt)
        if delay is None:
            raise Contention(
                f"{_names(writes)}: other writers changed the item between read and write, "
                f"{attempt} times in a row; nothing was written"
            )
        yield Wait(delay)


def _prepared(
    writes: Sequence[Write[Any]], context: Context, attempt: int
) -> Steps[list[Prepared] | None]:
    """The writes with all that they have to know; None if that changed meanwhile."""
    prepared: list[Prepared] = []
    for position, write in enumerate(writes):
        try:
            ready = yield from write._prepare(context, attempt, alone=len(writes) == 1)
        except WriteRejected as error:
            raise _told(error, writes, position) from None
        except Again:
            return None
        prepared.append(ready)
    return prepared


def _attempt(
    writes: Sequence[Write[Any]], prepared: list[Prepared], context: Context
) -> Steps[list[Any] | None]:
    """Send the writes as one request: their results, or None if what was read has changed."""
    owners = [index for index, ready in enumerate(prepared) for _ in ready.actions]
    actions = [action for ready in prepared for action in ready.actions]
    if len(writes) > 1 or len(actions) > 1:
        actions, owners = _merge_sentinels(actions, owners)
        _check_limits(writes, actions, owners)
    returned: Item | None = None
    maybe_applied = False
    try:
        if len(actions) == 1:
            returned = yield from _send_one(actions[0], context, prepared[owners[0]].returns)
        elif actions:
            yield from send_all(actions, context)
    except ConditionalCheckFailedException as fault:
        verdict, failed = actions[0].failed(fault.item), 0
        maybe_applied = fault.maybe_applied
        if verdict is None and maybe_applied:  # the change since the read may be its own
            error = EndpointUnavailable(f"{_names(writes)}: the item has changed since it was read")
            error.maybe_applied = True
            raise error from fault
    except ValidationException as fault:
        if NO_PLACE not in str(fault):
            raise
        entity, key = writes[owners[0]]._entity, actions[0].key
        verdict, failed = refusal(ConditionFailed, entity, key, None, PLACE_MISSING), 0
    except TransactionCanceledException as fault:
        verdict, failed = verdict_of(actions, fault)
    else:
        return [ready.result(returned) for ready in prepared]
    if isinstance(verdict, Unchanged):
        if len(writes) == 1:
            return [verdict.result]
        verdict = verdict.otherwise
    if verdict is None:
        return None
    refused = _told(verdict, writes, owners[failed])
    refused.maybe_applied = maybe_applied
    raise refused from None


_OPERATIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


def _send_one(action: Action, context: Context, returns: str) -> Steps[Item | None]:
    if action.kind == "ConditionCheck":
        yield from send_all([action], context)
        return None
    body = {"TableName": context.name_of(action.table), **action.body}
    if returns != "NONE":
        body["ReturnValues"] = returns
    if "ConditionExpression" in body:
        body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    answer = yield Request(_OPERATIONS[action.kind], body)
    if returns == "NONE":
        return None
    attributes: Item | None = msgspec.json.decode(answer).get("Attributes")
    return attributes


def send_all(actions: list[Action], context: Context) -> Steps[None]:
    items = []
    for action in actions:
        body = {"TableName": context.name_of(action.table), **action.body}
        if "ConditionExpression" in body:
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        items.append({action.kind: body})
    yield Request("TransactWriteItems", {"TransactItems": items})


def verdict_of(actions: list[Action], fault: TransactionCanceledException) -> tuple[Verdict, int]:
    """What the reasons of a cancelled transaction mean: to try again, or the first error.

    What was read has changed, if a guard failed: then the other failures may come from that alone.
    """
    errors: list[tuple[Verdict, int]] = []
    for position, reason in enumerate(fault.reasons):
        code = reason["Code"]
        if code == "ConditionalCheckFailed":
            verdict = actions[position].failed(reason.get("Item"))
            if verdict is None:
                return None, position
            errors.append((verdict, position))
        elif code in TRANSIENT:
            return None, position
    if not errors:
        raise fault
    return errors[0]


def _merge_sentinels(actions: list[Action], owners: list[int]) -> tuple[list[Action], list[int]]:
    """A sentinel that one write gives up and another takes is one action: DynamoDB allows no two
    on the same item. The guard on the entity that gives it up keeps this safe."""
    given_up = {_identity(a): n for n, a in enumerate(actions) if a.sentinel and a.kind == "Delete"}
    dropped = set()
    for action in actions:
        if action.sentinel and action.kind == "Put" and _identity(action) in given_up:
            dropped.add(given_up[_identity(action)])
            action.body.pop("ConditionExpression", None)
            action.body.pop("ExpressionAttributeNames", None)
    kept = [n for n in range(len(actions)) if n not in dropped]
    return [actions[n] for n in kept], [owners[n] for n in kept]


def _identity(action: Action) -> tuple[str, bytes]:
    return action.table.name, msgspec.json.encode(action.key, order="deterministic")


def _check_limits(writes: Sequence[Write[Any]], actions: list[Action], owners: list[int]) -> None:
    if len(actions) > MAX_TRANSACTION_ACTIONS:
        raise InvalidValue(
            f"{_names(writes)}: {len(actions)} actions, sentinels and history included; DynamoDB "
            f"takes at most {MAX_TRANSACTION_ACTIONS} in one transaction"
        )
    seen: dict[tuple[str, bytes], int] = {}
    for action, owner in zip(actions, owners, strict=True):
        other = seen.get(_identity(action))
        if other is not None:
            raise InvalidValue(
                f"writes {other + 1} and {owner + 1} of {_names(writes)} are about one item, "
                f"{shown_key(action.key)}; DynamoDB allows one action on an item"
            )
        seen[_identity(action)] = owner
    size = transaction_size(actions)
    if size > MAX_TRANSACTION_SIZE:
        raise InvalidValue(
            f"{_names(writes)}: {size:,} bytes; DynamoDB takes at most "
            f"{MAX_TRANSACTION_SIZE:,} in one transaction"
        )


def transaction_size(actions: Sequence[Action]) -> int:
    """The bytes of the items that a transaction puts and deletes, as far as they are known."""
    items = [action.body.get("Item") or action.deletes for action in actions]
    return sum(item_size(item) for item in items if item is not None)


def _told(error: WriteRejected, writes: Sequence[Write[Any]], owner: int) -> WriteRejected:
    """The error, which also says which of several writes it is about."""
    if len(writes) == 1:
        return error
    write = writes[owner]
    message = f"write {owner + 1} of {len(writes)}, {write._verb} {write._entity.name}: {error}"
    return type(error)(
        message,
        entity=error.entity,
        key=error.key,
        current=error.current,
        reason=error.reason,
    )


def _names(writes: Sequence[Write[Any]]) -> str:
    named = [f"{write._verb} {write._entity.name}" for write in writes]
    return (
        named[0]
        if len(named) == 1
        else f"transact({', '.join(named[:3])}{', …' * (len(named) > 3)})"
    )


# -- all or nothing ------------------------------------------------------------------------------


class Transaction(Plan[None]):
    """Several writes as one: all of them are done, or none."""

    def __init__(self, writes: tuple[Write[Any], ...]) -> None:
        self._writes = writes

    def _steps(self, context: Context) -> Steps[None]:
        yield from commit(self._writes, context)

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(write._entity for write in self._writes))

    def _shape(self) -> Shape:
        steps = tuple(write._shape() for write in self._writes)
        return Shape(
            operation="TransactWriteItems",
            table=", ".join(dict.fromkeys(step.table for step in steps)),
            entity=", ".join(dict.fromkeys(step.entity for step in steps)),
            read_units=sum(step.read_units for step in steps),
            write_units=sum(  # those that are transactions by themselves count double already
                step.write_units * (1 if step.operation == "TransactWriteItems" else 2)
                for step in steps
            ),
            steps=steps,
        )


def transact(*writes: Write[Any]) -> Transaction:
    """Several writes as one TransactWriteItems: all of them are done, or none."""
    if not writes:
        raise InvalidValue("transact() needs at least one write")
    for write in writes:
        if not isinstance(write, Write):
            raise DeclarationError(
                f"transact() takes writes (create, put, update, delete, require), not {write!r}"
            )
    return Transaction(writes)
