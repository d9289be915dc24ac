"""Moving: how programs of the new version write while items move to another primary key.

    until the step      programs of the old version   those of the new version
    await-programs      write the former key          write the former key
    await-new-keys      have ended                    move an item before they write it

Programs of the new version notice at different times that a step has been reached. So each of their
writes makes sure that an item is stored under one of its keys only:

    the item was found under a key   the write requires that it is still there
    it was not found                 a write that creates it requires, in the same transaction, that
                                     it is not stored under the other key
    another item was found there     it gets the new key: several new keys can have one former key,
                                     for example if it had no tenant; the write requires that the
                                     other item is unchanged

If that does not hold, the item is looked up again. A plan sees the responses, and the items in
errors, as if all items were stored under their new keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from tablewright.errors import (
    ConditionalCheckFailedException,
    IndexNotReady,
    TransactionCanceledException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.plan.plan import AnyRequest, Context, Request, Steps
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.action import CONDITION_FAILED, TRANSIENT
from tablewright.plan.writes.write import wait_for_writers
from tablewright.values import Item
from tablewright.wire.operations import touches
from tablewright.wire.touches import Kind, Named

if TYPE_CHECKING:
    from tablewright.plan.migration.transition import Transition, Transitions

#: Members of a request that an action of a transaction has as well.
_OF_ACTION = (
    *("TableName", "Key", "Item", "ConditionExpression", "UpdateExpression"),
    *("ExpressionAttributeNames", "ExpressionAttributeValues"),
)
#: Stands for the partition key in the conditions that are added.
_MARK = "#moving"


class _Write(Struct):
    """One action of a plan, on an item that may be stored under several keys."""

    kind: Kind
    part: dict[str, Any]
    #: None: the table is not in transition.
    transition: Transition | None
    key: Item
    #: The other keys under which the item may be stored.
    formers: list[Item]
    #: The key under which the item was found; None if it was not found.
    found: Item | None = None
    #: The items that have another new key, and one of the former keys; by these.
    others: dict[bytes, Item] = {}

    @property
    def place(self) -> Item:
        """The key under which the item is, or is to be."""
        writes_former = self.transition is not None and self.transition.writes_former
        is_free = self.formers and not self.others
        return self.found or (self.formers[0] if writes_former and is_free else self.key)

    def body(self) -> dict[str, Any]:
        """Return the action on the item under its key."""
        if not self.formers:
            return self.part
        moved = {"Item": self.part["Item"] | self.place} if self.kind == "Put" else {}
        moved = moved or {"Key": self.place}
        body = self.part | moved | {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        if self.found is not None:
            return self._require("attribute_exists", body)
        return self._require("attribute_not_exists", body) if self._returns_old else body

    @property
    def _returns_old(self) -> bool:
        """Whether the response has the item before the write, so it must be as it was found."""
        return self.part.get("ReturnValues") == "ALL_OLD"

    def guards(self) -> list[dict[str, Any]]:
        """Return the checks that an item that was not found is not stored under another key."""
        if self.found is not None or self.kind == "Delete":
            return []
        places = (key for key in (*self.formers, self.key) if key != self.place)
        return [self._guard(key, self.others.get(item_identity(key))) for key in places]

    def _guard(self, key: Item, other: Item | None) -> dict[str, Any]:
        """Return the check that no item has a key, or that another item still has it."""
        assert self.transition is not None
        name = self.part["TableName"]
        if other is None:
            return self._require("attribute_not_exists", {"TableName": name, "Key": key})
        change = self.transition.rewriter.change(other)
        if change is None:
            return self._require("attribute_exists", {"TableName": name, "Key": key})
        return change.condition(self.transition.table, name)

    def _require(self, function: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return an action that also requires that the item exists, or not."""
        assert self.transition is not None
        given = body.get("ConditionExpression")
        condition = f"{function}({_MARK})"
        names = {_MARK: self.transition.table.attributes[0]}
        return body | {
            "ConditionExpression": condition if given is None else f"({given}) AND {condition}",
            "ExpressionAttributeNames": body.get("ExpressionAttributeNames", {}) | names,
        }

    def is_overtaken(self, item: Item | None) -> bool:
        """Return whether a failed condition means that the item is no longer where it was found."""
        if self.found is None:
            return self._returns_old and item is not None
        return item is None

    def view(self, item: Item) -> Item:
        """Return an item of a response as the new version has it."""
        return item if self.transition is None else self.transition.rewriter.view(item)


def write_moving(request: AnyRequest, transitions: Transitions, context: Context) -> Steps[bytes]:
    """Send a write to tables whose items move; return the response."""
    writes: list[_Write] = []
    for touch in touches(request.operation, request.body):
        assert isinstance(touch.what, Named)
        transition = transitions.get(touch.table)
        key, formers = touch.what.item, list[Item]()
        if transition is not None:
            key = transition.table.key(key)
            formers = transition.former_keys(key)
        writes.append(_Write(touch.kind, touch.body, transition, key, formers))
    if request.operation == "BatchWriteItem":
        for each in writes:
            yield from _write(Request(f"{each.kind}Item", each.part), [each], context)
        return b'{"UnprocessedItems":{}}'
    return (yield from _write(request, writes, context))


def _write(request: AnyRequest, writes: list[_Write], context: Context) -> Steps[bytes]:
    """Send a request, again if an item was moved meanwhile."""
    attempt = 0
    while True:
        yield from _find(writes, context)
        guards = [guard for each in writes for guard in each.guards()]
        try:
            if guards or request.operation == "TransactWriteItems":
                answer = yield from _send_together(request, writes, guards)
            else:
                answer = yield Request(request.operation, writes[0].body())
            return _viewed(answer, writes[0])
        except ConditionalCheckFailedException as fault:
            if not writes[0].is_overtaken(fault.item):
                if fault.item is not None:
                    fault.item = writes[0].view(fault.item)
                raise
        except _Overtaken:
            pass
        attempt += 1
        yield from wait_for_writers(
            attempt,
            f"during a migration to other primary keys, other programs moved items of the table "
            f"{writes[0].part['TableName']!r} {attempt} times in a row; run the plan again",
        )


class _Overtaken(Exception):
    """Another program was faster."""


def _find(writes: Sequence[_Write], context: Context) -> Steps[None]:
    """Find out under which key each item is stored."""
    queue = [
        (each.part["TableName"], key)
        for each in writes
        if each.formers
        for key in (*each.formers, each.key)
    ]
    stored = yield from read_batch(context, queue, consistent=True)
    for each in writes:
        table, transition = each.part["TableName"], each.transition
        each.found, each.others = None, {}
        if transition is None or not each.formers:
            continue
        for key in (*each.formers, each.key):
            item = stored.get((table, item_identity(key)))
            if transition.view(item, each.key) is not None:
                each.found, each.others = key, {}
                break
            if item is not None:
                each.others[item_identity(key)] = item


def _send_together(
    request: AnyRequest, writes: Sequence[_Write], guards: Sequence[dict[str, Any]]
) -> Steps[bytes]:
    """Send a write as a transaction with guards; raise _Overtaken if a guard fails."""
    is_single = request.operation != "TransactWriteItems"
    actions = [{each.kind: each.body()} for each in writes]
    actions += [{"ConditionCheck": guard} for guard in guards]
    if len(actions) > MAX_TRANSACTION_ACTIONS:
        raise IndexNotReady(
            f"while a migration moves items, this transaction of {len(writes)} actions needs "
            f"{len(guards)} additional checks, and DynamoDB allows {MAX_TRANSACTION_ACTIONS} "
            "actions in total; write fewer items at once, or wait until the migration has ended"
        )
    if is_single:
        (kind, body), *_ = ((kind, body) for each in actions for kind, body in each.items())
        actions[0] = {kind: {name: body[name] for name in _OF_ACTION if name in body}}
        actions[0][kind]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    members = {} if is_single else request.body
    try:
        answer = yield Request("TransactWriteItems", members | {"TransactItems": actions})
    except TransactionCanceledException as fault:
        codes = [reason["Code"] for reason in fault.reasons]
        own = fault.reasons[: len(writes)]
        if any(code != "None" for code in codes[len(writes) :]) or any(
            reason["Code"] == CONDITION_FAILED and each.is_overtaken(reason.get("Item"))
            for each, reason in zip(writes, own, strict=True)
        ):
            raise _Overtaken from None
        for each, reason in zip(writes, own, strict=True):
            if "Item" in reason:
                reason["Item"] = each.view(reason["Item"])
        if not is_single:
            raise TransactionCanceledException(own) from None
        if own[0]["Code"] == CONDITION_FAILED:
            raise ConditionalCheckFailedException(item=own[0].get("Item")) from None
        if own[0]["Code"] in TRANSIENT:
            raise _Overtaken from None
        raise
    if is_single and request.body.get("ReturnValues") == "ALL_NEW":
        write = writes[0]
        read = {"TableName": write.part["TableName"], "Key": write.place, "ConsistentRead": True}
        found = msgspec.json.decode((yield Request("GetItem", read))).get("Item", {})
        return msgspec.json.encode({"Attributes": found})
    return b"{}" if is_single else answer


def _viewed(answer: bytes, write: _Write) -> bytes:
    """Return a response with its item as the new version has it."""
    if b'"Attributes"' not in answer:
        return answer
    decoded = msgspec.json.decode(answer)
    if "Attributes" in decoded:
        decoded["Attributes"] = write.view(decoded["Attributes"])
    return msgspec.json.encode(decoded)
