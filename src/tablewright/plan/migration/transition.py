"""Transition: how programs of the new version use a table while its items are being rewritten.

    request                      what is sent instead
    GetItem, BatchGetItem, …     the same, for whole items; the plan sees each item as rewritten
    Query, Scan                  the same, without filter and projection, which are applied to the
                                 rewritten items
    a write of named items       a read of these items, an update of those in the old form, and then
                                 the write, whose conditions find the new form
    an unconditional put, and    the request as it is
    BatchWriteItem

So a plan works as if the migration had ended. A query of an index whose keys are changed reads them
in both `spellings`. A query of an index that does not have all attributes raises IndexNotReady: its
rows cannot be rewritten.

An item that moves to another primary key is read under its former key first, and then under the
new one (`moves`). `moving` says how it is written.

Invariant: an item that a program of the new version has written has no former name of a renamed
attribute. So if an item has both names, a sweep or a program of the old version has written the
former one, and its value is as new as the other one, or newer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import (
    ConditionalCheckFailedException,
    IndexNotReady,
    TransactionCanceledException,
)
from tablewright.expression import Scope
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.moving import write_moving
from tablewright.plan.migration.rewriting import ItemRewrite, Rewriter
from tablewright.plan.migration.spellings import FormerPartition, Spelling, query_both
from tablewright.plan.plan import AnyRequest, Context, Request, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.action import CONDITION_FAILED, TRANSIENT
from tablewright.plan.writes.write import wait_for_writers
from tablewright.values import Item
from tablewright.wire.operations import touches
from tablewright.wire.touches import Named, Touch

_PROJECTION = ("ProjectionExpression", "ExpressionAttributeNames")
_CONDITIONAL = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"})
#: The codes of actions of a transaction that another program was faster than.
_OVERTAKEN = frozenset({"None", CONDITION_FAILED, *TRANSIENT})


class Transition(Struct, frozen=True):
    """The items of a table in two forms."""

    table: TableMap
    #: The name of the table.
    name: str
    rewriter: Rewriter
    #: How the keys in an index were composed, by its name.
    spellings: Mapping[str, Sequence[Spelling]] = {}
    #: Whether all items have the new form, beside the old one: then reads are sent as they are.
    is_prepared: bool = False
    #: Whether items keep their former primary keys, because programs of the old version may run.
    writes_former: bool = False

    def view(self, item: Item | None, key: Item) -> Item | None:
        """Return a stored item as the new version has it; None if that has another key."""
        seen = None if item is None else self.rewriter.view(item)
        return seen if seen is not None and self.table.key(seen) == key else None

    def change(self, item: Item) -> ItemRewrite | None:
        """Return what gives a stored item the form that programs write; None if it has it."""
        change = self.rewriter.change(item, drops_former=True)
        if change is None or not (change.is_move and self.writes_former):
            return change
        values = {
            name: value
            for name, value in change.values.items()
            if name not in self.table.attributes
        }
        return replace(change, values=values, is_move=False) if values else None

    def former_keys(self, key: Item) -> list[Item]:
        """Return the other keys under which the item with a key may be stored."""
        return [] if self.is_prepared else self.rewriter.former_keys(key)


#: By the name of the table.
Transitions = Mapping[str, Transition]


def send_in_transition(
    request: AnyRequest, transitions: Transitions, context: Context
) -> Steps[bytes]:
    """Send a request to tables of which some are in transition; return the response."""
    unprepared = {name: each for name, each in transitions.items() if not each.is_prepared}
    match request.operation:
        case "GetItem":
            return (yield from _get(request, unprepared))
        case "BatchGetItem":
            return (yield from _batch_get(request, unprepared, context))
        case "TransactGetItems":
            return (yield from _transact_get(request, unprepared))
        case "Query" | "Scan" if isinstance(request, QueryRequest):
            return (yield from _query(request, unprepared))
        case operation if operation in _CONDITIONAL or operation == "BatchWriteItem":
            moves = any(each.rewriter.moves for each in unprepared.values())
            if moves or operation in _CONDITIONAL:
                yield from _rewrite_touched(request, transitions, context)
            if moves:
                return (yield from write_moving(request, unprepared, context))
    return (yield request)


# -- reads -----------------------------------------------------------------------------------------


def _whole(part: dict[str, Any]) -> tuple[dict[str, Any], Callable[[Item], Item]]:
    """Return a read of an item without its projection, and that projection as a function."""
    text = part.get("ProjectionExpression")
    project = Scope(part.get("ExpressionAttributeNames")).projection(text)
    kept = {name: value for name, value in part.items() if name not in _PROJECTION}
    return kept, project or (lambda item: item)


def _get(request: AnyRequest, transitions: Transitions) -> Steps[bytes]:
    transition = transitions.get(request.body["TableName"])
    if transition is None:
        return (yield request)
    body, project = _whole(request.body)
    formers = transition.former_keys(body["Key"])
    if formers:
        body["ConsistentRead"] = True
    answer: dict[str, Any] = {}
    for key in (*formers, body["Key"]):
        answer = msgspec.json.decode((yield Request("GetItem", body | {"Key": key})))
        seen = transition.view(answer.pop("Item", None), body["Key"])
        if seen is not None:
            answer["Item"] = project(seen)
            break
    return msgspec.json.encode(answer)


def _batch_get(request: AnyRequest, transitions: Transitions, context: Context) -> Steps[bytes]:
    parts: dict[str, Any] = request.body["RequestItems"]
    wholes = {name: _whole(part) for name, part in parts.items() if name in transitions}
    formers = {
        name: [
            (former, key) for key in part["Keys"] for former in transitions[name].former_keys(key)
        ]
        for name, (part, _) in wholes.items()
    }
    queue = [(name, former) for name, pairs in formers.items() for former, _ in pairs]
    stored = yield from read_batch(context, queue, consistent=True)
    items = parts | {
        name: part | ({"ConsistentRead": True} if formers[name] else {})
        for name, (part, _) in wholes.items()
    }
    answer = msgspec.json.decode(
        (yield Request("BatchGetItem", request.body | {"RequestItems": items}))
    )
    for name, (_, project) in wholes.items():
        transition = transitions[name]
        again = answer.get("UnprocessedKeys", {}).get(name, {}).get("Keys", ())
        found = {
            item_identity(key): seen
            for former, key in formers[name]
            if key not in again
            and (seen := transition.view(stored.get((name, item_identity(former))), key))
        }
        for item in answer["Responses"].get(name, ()):
            key = transition.table.key(item)
            if (seen := transition.view(item, key)) is not None:
                found[item_identity(key)] = seen
        answer["Responses"][name] = list(map(project, found.values()))
    return msgspec.json.encode(answer)


def _transact_get(request: AnyRequest, transitions: Transitions) -> Steps[bytes]:
    gets = [each["Get"] for each in request.body["TransactItems"]]
    wholes = [_whole(get) for get in gets]
    keys = [[*_former_keys(get, transitions), get["Key"]] for get in gets]
    sent = [get | {"Key": key} for (get, _), each in zip(wholes, keys, strict=True) for key in each]
    if len(sent) > MAX_TRANSACTION_ACTIONS:
        raise IndexNotReady(
            f"transact_get: while a migration moves items, these {len(gets)} items may be stored "
            f"under {len(sent)} keys, and a transaction reads at most {MAX_TRANSACTION_ACTIONS}; "
            "read fewer items, or wait until the migration has ended"
        )
    body = request.body | {"TransactItems": [{"Get": get} for get in sent]}
    answer = msgspec.json.decode((yield Request("TransactGetItems", body)))
    stored = iter(answer["Responses"])
    responses: list[dict[str, Any]] = []
    for get, each, (_, project) in zip(gets, keys, wholes, strict=True):
        transition = transitions.get(get["TableName"])
        items = [next(stored).get("Item") for _ in each]
        seen = (item if transition is None else transition.view(item, get["Key"]) for item in items)
        item = next(filter(None, seen), None)
        responses.append({} if item is None else {"Item": project(item)})
    return msgspec.json.encode(answer | {"Responses": responses})


def _former_keys(get: Mapping[str, Any], transitions: Transitions) -> list[Item]:
    transition = transitions.get(get["TableName"])
    return [] if transition is None else transition.former_keys(get["Key"])


def _query(request: QueryRequest, transitions: Transitions) -> Steps[bytes]:
    transition = transitions.get(request.members["TableName"])
    if transition is None:
        return (yield request)
    _require_whole_rows(request, transition)
    selection = request.selection
    rest = Selection(None, selection.filters, selection.paths).expressions()
    scope = Scope(rest.get("ExpressionAttributeNames"), rest.get("ExpressionAttributeValues"))
    condition = scope.filter(rest.get("FilterExpression"))
    project = scope.projection(rest.get("ProjectionExpression"))
    members = {name: value for name, value in request.members.items() if name != "Select"}
    sent = QueryRequest(
        request.operation, members, Selection(selection.condition), request.continues
    )
    answer = yield from _read_page(sent, transition)
    kept = [item for item in answer["Items"] if condition is None or condition.holds(item)]
    answer["Count"] = len(kept)
    answer["Items"] = kept if project is None else [project(item) for item in kept]
    if request.members.get("Select") == "COUNT":
        del answer["Items"]
    return msgspec.json.encode(answer)


def _read_page(request: QueryRequest, transition: Transition) -> Steps[dict[str, Any]]:
    """Read a page; its items are as the new version has them."""
    rewriter, index = transition.rewriter, request.members.get("IndexName")
    formers: Collection[FormerPartition] = (
        rewriter.moves.values() if index is None else transition.spellings.get(index, ())
    )
    if formers:
        if request.operation == "Scan":
            _refuse(request, transition, "a scan would miss items that move")
        if index is None:
            request.members["ConsistentRead"] = True
        return (yield from query_both(request, formers, transition.table, rewriter))
    answer: dict[str, Any] = msgspec.json.decode((yield request))
    answer["Items"] = [rewriter.view(item) for item in answer["Items"]]
    return answer


def _require_whole_rows(request: QueryRequest, transition: Transition) -> None:
    """Raise IndexNotReady for an index whose rows do not have all attributes."""
    index = request.members.get("IndexName")
    if index is not None and transition.table.indexes[index].projection != "ALL":
        _refuse(request, transition, "it does not have all attributes")


def _refuse(request: QueryRequest, transition: Transition, reason: str) -> NoReturn:
    index = request.members.get("IndexName")
    what = f"the table {transition.name!r}"
    if index is not None:
        what = f"the index {index!r} of {what}"
    raise IndexNotReady(
        f"{what} cannot be read while its items are rewritten for this version of the design, "
        f"because {reason}; wait until the migration has ended: tablewright migrate status DESIGN "
        "TARGET"
    )


# -- writes ----------------------------------------------------------------------------------------


def _rewrite_touched(
    request: AnyRequest, transitions: Transitions, context: Context
) -> Steps[None]:
    """Update the items that a write touches and that are in the old form."""
    keys = [
        (transitions[touch.table], transitions[touch.table].table.key(touch.what.item))
        for touch in touches(request.operation, request.body)
        if touch.table in transitions
        and isinstance(touch.what, Named)
        and (_depends(touch) or transitions[touch.table].rewriter.moves)
    ]
    attempt = 0
    while keys:
        keys = yield from _rewrite(keys, context)
        if keys:
            attempt += 1
            yield from wait_for_writers(
                attempt,
                f"other programs changed items of the table {keys[0][0].name!r} {attempt} times in "
                "a row while a write rewrote them for a migration; run the plan again",
            )


def _depends(touch: Touch) -> bool:
    """Return whether the outcome of an action depends on the stored item."""
    return touch.kind != "Put" or "ConditionExpression" in touch.part


def _rewrite(
    keys: Sequence[tuple[Transition, Item]], context: Context
) -> Steps[list[tuple[Transition, Item]]]:
    """Rewrite items by their keys; return the keys of those that were changed meanwhile."""
    places = [(transition, key, [*transition.former_keys(key), key]) for transition, key in keys]
    queue = [(transition.name, each) for transition, _, found in places for each in found]
    stored = yield from read_batch(context, queue, consistent=True)
    changed: list[tuple[Transition, Item]] = []
    for transition, key, found in places:
        items = (stored.get((transition.name, item_identity(each))) for each in found)
        for item in filter(None, items):
            change = transition.change(item)
            if change is None or transition.view(item, key) is None:
                continue
            try:
                yield _write(change, transition)
            except ConditionalCheckFailedException:
                changed.append((transition, key))
            except TransactionCanceledException as fault:
                codes = {reason["Code"] for reason in fault.reasons}
                if not codes <= _OVERTAKEN:
                    raise
                changed.append((transition, key))
    return changed


def _write(change: ItemRewrite, transition: Transition) -> Request:
    actions = change.actions(transition.table, transition.name)
    if change.is_move:
        return Request("TransactWriteItems", {"TransactItems": actions})
    return Request("UpdateItem", actions[0]["Update"])
