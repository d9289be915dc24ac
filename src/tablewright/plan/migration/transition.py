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

Invariant: an item that a program of the new version has written has no former name of a renamed
attribute. So if an item has both names, a sweep or a program of the old version has written the
former one, and its value is as new as the other one, or newer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from tablewright.errors import ConditionalCheckFailedException, IndexNotReady
from tablewright.expression import Scope
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.migration.spellings import Spelling, query_both
from tablewright.plan.plan import AnyRequest, Context, Request, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.write import wait_for_writers
from tablewright.values import Item
from tablewright.wire.operations import touches
from tablewright.wire.touches import Named, Touch

_PROJECTION = ("ProjectionExpression", "ExpressionAttributeNames")
_CONDITIONAL = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"})


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
            return (yield from _batch_get(request, unprepared))
        case "TransactGetItems":
            return (yield from _transact_get(request, unprepared))
        case "Query" | "Scan" if isinstance(request, QueryRequest):
            return (yield from _query(request, unprepared))
        case operation if operation in _CONDITIONAL:
            yield from _rewrite_touched(request, transitions, context)
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
    answer = msgspec.json.decode((yield Request("GetItem", body)))
    if "Item" in answer:
        answer["Item"] = project(transition.rewriter.view(answer["Item"]))
    return msgspec.json.encode(answer)


def _batch_get(request: AnyRequest, transitions: Transitions) -> Steps[bytes]:
    parts: dict[str, Any] = request.body["RequestItems"]
    wholes = {name: _whole(part) for name, part in parts.items() if name in transitions}
    items = parts | {name: part for name, (part, _) in wholes.items()}
    body = request.body | {"RequestItems": items}
    answer = msgspec.json.decode((yield Request("BatchGetItem", body)))
    for name, (_, project) in wholes.items():
        found = answer["Responses"].get(name, ())
        answer["Responses"][name] = [
            project(transitions[name].rewriter.view(item)) for item in found
        ]
    return msgspec.json.encode(answer)


def _transact_get(request: AnyRequest, transitions: Transitions) -> Steps[bytes]:
    gets = [each["Get"] for each in request.body["TransactItems"]]
    wholes = [_whole(get) for get in gets]
    body = request.body | {"TransactItems": [{"Get": get} for get, _ in wholes]}
    answer = msgspec.json.decode((yield Request("TransactGetItems", body)))
    for response, (get, project) in zip(answer["Responses"], wholes, strict=True):
        transition = transitions.get(get["TableName"])
        if "Item" in response:
            item = response["Item"]
            response["Item"] = project(
                item if transition is None else transition.rewriter.view(item)
            )
    return msgspec.json.encode(answer)


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
    rewriter, spellings = transition.rewriter, transition.spellings
    index = request.members.get("IndexName", "")
    if index in spellings and request.operation == "Query":
        return (yield from query_both(request, spellings[index], transition.table, rewriter))
    if index in spellings:
        _refuse_index(index, transition, "is read as a whole, which would miss items that move")
    answer: dict[str, Any] = msgspec.json.decode((yield request))
    answer["Items"] = [rewriter.view(item) for item in answer["Items"]]
    return answer


def _require_whole_rows(request: QueryRequest, transition: Transition) -> None:
    """Raise IndexNotReady for an index whose rows do not have all attributes."""
    index = request.members.get("IndexName")
    if index is not None and transition.table.indexes[index].projection != "ALL":
        _refuse_index(index, transition, "does not have all attributes")


def _refuse_index(index: str, transition: Transition, reason: str) -> NoReturn:
    raise IndexNotReady(
        f"the index {index!r} of the table {transition.name!r} {reason}, and the items are being "
        "rewritten for this version of the design; it can be read when the migration has ended: "
        "tablewright migrate status DESIGN TARGET"
    )


# -- writes ----------------------------------------------------------------------------------------


def _rewrite_touched(
    request: AnyRequest, transitions: Transitions, context: Context
) -> Steps[None]:
    """Update the items that a write touches and that are in the old form."""
    keys = [
        (transitions[touch.table], transitions[touch.table].table.key(touch.what.item))
        for touch in touches(request.operation, request.body)
        if touch.table in transitions and isinstance(touch.what, Named) and _depends(touch)
    ]
    attempt = 0
    while keys:
        keys = yield from _rewrite(keys, context)
        if keys:
            attempt += 1
            yield from wait_for_writers(
                attempt,
                f"other programs changed items of the table {keys[0][0].name!r} {attempt} times in "
                "a row while they were rewritten for a migration; run it again",
            )


def _depends(touch: Touch) -> bool:
    """Return whether the outcome of an action depends on the stored item."""
    return touch.kind != "Put" or "ConditionExpression" in touch.part


def _rewrite(
    keys: Sequence[tuple[Transition, Item]], context: Context
) -> Steps[list[tuple[Transition, Item]]]:
    """Rewrite items by their keys; return the keys of those that were changed meanwhile."""
    queue = [(transition.name, key) for transition, key in keys]
    found = yield from read_batch(context, queue, consistent=True)
    changed: list[tuple[Transition, Item]] = []
    for transition, key in keys:
        item = found.get((transition.name, item_identity(key)))
        change = None if item is None else transition.rewriter.change(item, drops_former=True)
        if change is not None:
            body = change.action(transition.table, transition.name)["Update"]
            try:
                yield Request("UpdateItem", body)
            except ConditionalCheckFailedException:
                changed.append((transition, key))
    return changed
