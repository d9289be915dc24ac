"""Applying: do what a preview has shown, or nothing.

    outcome = apply(found, transport)
    outcome.is_applied        what was previewed has been written
    outcome.is_outdated       something has changed since: make a new preview

Each request of the preview is sent with one more condition for each item that it touches: the item
is as the preview read it, attribute by attribute, or still absent. So what happens is what was
shown. Reads of the plan that decided what to write, and found other items, are repeated first: if
they find something else, nothing is written.

What cannot be one request is not atomic: a plan may send several requests, and a batch has no
conditions, so its items are written one by one, each with its condition. If one of them fails, the
ones before it have been written: `Outcome.done` is their number.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import (
    ConditionalCheckFailedException,
    TablewrightError,
    TransactionCanceledException,
)
from tablewright.expression import tree
from tablewright.expression.parse import parse_condition
from tablewright.limits import MAX_EXPRESSION_OPERATORS
from tablewright.mapping.table import TableMap
from tablewright.plan.request_events import consumed_units
from tablewright.plan.writes.action import TRANSIENT
from tablewright.studio.writes.overlay import SentRead, SentWrite, Touched, identity
from tablewright.studio.writes.preview import Preview
from tablewright.transport import Transport
from tablewright.values import Item

#: How much of the operators of a condition a guard may use.
MAX_GUARDED = MAX_EXPRESSION_OPERATORS // 2 - 50


class CannotGuard(TablewrightError):
    """An item has too many attributes to be compared in a condition."""


class ApplyOutcome(Struct, frozen=True):
    """What applying a preview has done."""

    #: How many requests were applied, and how many there are.
    done: int
    requests: int
    #: Whether something has changed since the preview, so that the rest was not written.
    is_outdated: bool = False
    write_units: float = 0.0

    @property
    def is_applied(self) -> bool:
        return self.done == self.requests and not self.is_outdated


def apply(preview: Preview, transport: Transport) -> ApplyOutcome:
    """Send the writes of a preview, each with the condition that nothing it touches has changed.

    Raises ValueError for a preview with an error, CannotGuard before anything is written, and what
    the target raises.
    """
    if preview.error is not None:
        raise ValueError(f"a preview with an error cannot be applied: {preview.error}")
    requests = [request for write in preview.writes for request in guarded_requests(write, preview)]
    if any(_has_changed(read, transport) for read in _deciding_reads(preview)):
        return ApplyOutcome(0, len(requests), is_outdated=True)
    units = 0.0
    for done, (operation, body) in enumerate(requests):
        try:
            response = transport.send(operation, body).body
        except (ConditionalCheckFailedException, TransactionCanceledException) as fault:
            if fault.maybe_applied or not _is_outdated(fault):
                raise  # a lost response may have been that of the same write
            return ApplyOutcome(done, len(requests), is_outdated=True, write_units=units)
        units += consumed_units(response)
    return ApplyOutcome(len(requests), len(requests), write_units=units)


def _is_outdated(fault: ConditionalCheckFailedException | TransactionCanceledException) -> bool:
    if isinstance(fault, ConditionalCheckFailedException):
        return True
    codes = {reason["Code"] for reason in fault.reasons} - {"None"}
    return codes <= {"ConditionalCheckFailed", *TRANSIENT}


# --- reads --------------------------------------------------------------------------------------


def _deciding_reads(preview: Preview) -> list[SentRead]:
    """Return the reads at the target, without those of items that a guard compares anyway."""
    guarded = {
        identity(touched.write.table, touched.key)
        for write in preview.writes
        for touched in write.touched
    }
    return [
        read
        for read in preview.reads
        if read.is_stored
        and not (
            read.operation == "GetItem"
            and identity(read.body["TableName"], read.body["Key"]) in guarded
        )
    ]


def _has_changed(read: SentRead, transport: Transport) -> bool:
    answer = msgspec.json.decode(transport.send(read.operation, read.body).body)
    return _found(answer) != _found(read.response)


def _found(answer: dict[str, Any]) -> list[Any]:
    """Return what a read has found; the items of a batch have no order."""
    batch = answer.get("Responses")
    if isinstance(batch, dict):
        items = [(table, item) for table, found in batch.items() for item in found]
        return sorted(msgspec.json.encode(each, order="deterministic") for each in items)
    return [batch, *(answer.get(name) for name in ("Item", "Items", "LastEvaluatedKey"))]


# --- writes -------------------------------------------------------------------------------------


def guarded_requests(write: SentWrite, preview: Preview) -> list[tuple[str, dict[str, Any]]]:
    """Return the requests that apply a write if the items that it touches are unchanged."""
    guarded = [_guarded(touched, preview) for touched in write.touched]
    capacity = {"ReturnConsumedCapacity": "INDEXES"}
    if write.is_transaction:
        items = [
            {touched.write.kind: body} for touched, body in zip(write.touched, guarded, strict=True)
        ]
        return [(write.operation, {**write.body, "TransactItems": items, **capacity})]
    return [
        (f"{touched.write.kind}Item", {**body, **capacity})
        for touched, body in zip(write.touched, guarded, strict=True)
    ]


def _guarded(touched: Touched, preview: Preview) -> dict[str, Any]:
    """Return a write with the condition that its item is as it was read."""
    body, table = touched.write.body, touched.write.table
    key_name = preview.descriptions[table].base.keys.names[0]
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    terms: list[str] = []

    def mark(name: str) -> str:
        names[f"#was{len(names)}"] = name
        return f"#was{len(names) - 1}"

    if touched.before is None:
        terms.append(f"attribute_not_exists({mark(key_name)})")
    else:
        terms.append(f"attribute_exists({mark(key_name)})")
        for name in sorted(touched.before.keys() - touched.key.keys()):
            values[f":was{len(values)}"] = touched.before[name]
            terms.append(f"{mark(name)} = :was{len(values) - 1}")
        absent = _known_names(preview, table, touched) - touched.before.keys()
        terms += [f"attribute_not_exists({mark(name)})" for name in sorted(absent)]
    if len(terms) > MAX_GUARDED:
        raise CannotGuard(
            f"the item {identity(table, touched.key)[1].decode()} of {table} has more attributes "
            f"than a condition can compare ({len(terms)}, at most {MAX_GUARDED}); run the plan "
            "with db.run() in a program"
        )
    condition = " AND ".join([*_conditions(body), *terms])
    found = {
        **body,
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {**body.get("ExpressionAttributeNames", {}), **names},
    }
    if values or "ExpressionAttributeValues" in body:
        found["ExpressionAttributeValues"] = {
            **body.get("ExpressionAttributeValues", {}),
            **values,
        }
    return found


def _conditions(body: dict[str, Any]) -> list[str]:
    """Return the condition of a write as a factor; DynamoDB rejects redundant parentheses."""
    text = body.get("ConditionExpression")
    if text is None:
        return []
    is_or = isinstance(parse_condition("ConditionExpression", text), tree.Or)
    return [f"({text})" if is_or else text]


def _known_names(preview: Preview, table: str, touched: Touched) -> set[str]:
    """Return the attributes that the item may get: of its entity, its indexes and the write."""
    after: Item = touched.after or {}
    keys = [name for index in preview.descriptions[table].indexes for name in index.keys.names]
    return {*after, *keys, *_entity_names(preview.maps.get(table), touched.before or after)}


def _entity_names(table: TableMap | None, item: Item) -> set[str]:
    entity = None if table is None else table.identify(item).stored
    if entity is None:
        return set()
    return {attribute.stored for attribute in entity.attributes.values()}
