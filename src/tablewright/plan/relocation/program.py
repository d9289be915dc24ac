"""Program: how a connected program reads and writes while its tables are moved to another place.

    phase     a read                                    a write
    open      is sent                                   is sent
    guarded   is sent, then the record is read          is sent in a transaction that checks a gate
    closed    the same                                  waits
    away      is sent to the other place                is sent to the other place

A program looks at the record when it connects, then before a request if RECHECK_SECONDS have
passed, and whenever a gate is closed. A read is sent again, to the other place, if the record says
`away` after it: so it never returns what programs at the other place have changed since.

One request becomes at most one write: a transaction whose gate is closed has written nothing. If
the response to a write without a gate takes so long that the gates may have been closed before the
request arrived, the write is not acknowledged: its outcome is unknown, as if the response were
lost.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.backoff import Backoff
from tablewright.errors import (
    ConditionalCheckFailedException,
    Contention,
    DesignMismatch,
    InvalidValue,
    ProvisionedThroughputExceededException,
    TransactionCanceledException,
    UnsupportedOperation,
    ValidationException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.mapping.item_kind import record_key
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.admission import RECHECK_SECONDS
from tablewright.plan.plan import Request, Wait
from tablewright.plan.relocation.between import At, BetweenSteps
from tablewright.plan.relocation.place import (
    GATE,
    GATES,
    MOVE,
    OPEN,
    PROGRESS,
    Phase,
    gate_key,
    is_own,
    move_in,
)
from tablewright.plan.writes.action import CONDITION_FAILED, TRANSIENT
from tablewright.transport.transport import RetriesExhausted
from tablewright.values import Item

_READS = frozenset({"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})
_KINDS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
#: Members of a request that an action of a transaction has as well.
_OF_ACTION = (
    *("TableName", "Key", "Item", "ConditionExpression", "UpdateExpression"),
    *("ExpressionAttributeNames", "ExpressionAttributeValues"),
    "ReturnValuesOnConditionCheckFailure",
)
#: How long after a look at the record a request may take effect, in seconds. An executor waits
#: longer (`PROGRAM_SECONDS`) before it relies on gates.
SURE_SECONDS = 12.0
#: The delays while writes wait: about half a minute.
WAITING = Backoff(attempts=600, first=0.01, longest=0.1)
#: The delays while other programs hold an item of a transaction.
CONFLICTS = Backoff(attempts=12, first=0.01, longest=1.0)
_decode = msgspec.json.decode
#: The phases in which a write waits.
_WAITS = frozenset({"away", "closed"})


class _Where(Struct, frozen=True):
    """Where a table is, as its record says."""

    table: TableMap
    #: Its name at the first place, and at the second one, if that is known.
    names: tuple[str, ...]
    side: int = 0
    phase: Phase = "open"
    #: The id of its move; "" if it was never moved.
    id: str = ""

    @property
    def name(self) -> str:
        return self.names[self.side]


class _Table(Struct):
    """A table that may be moved, and what the program knows about that. Threads share it."""

    where: _Where
    #: When the record is read again.
    due_at: float = 0.0


class _GateClosed(Exception):
    """Nothing was written: the gate was closed."""


class FollowedTables:
    """The tables of a program at two places; `steps` sends a request to where they are."""

    def __init__(
        self, tables: Mapping[TableMap, str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tables = {name: _Table(_Where(table, (name,))) for table, name in tables.items()}
        self._now = now

    def steps(self, operation: str, body: dict[str, Any]) -> BetweenSteps[bytes]:
        """Send a request of the program to the place where its tables are."""
        named = _names_in(body)
        tables = [self._tables[name] for name in named if name in self._tables]
        if not tables:
            return (yield At(0, Request(operation, body)))
        is_read = operation in _READS or operation.startswith("Describe")
        attempt = 0
        while True:
            for each in tables:
                if each.due_at <= self._now():
                    yield from self._look(each)
            found = [each.where for each in tables]
            sure_until = min(each.due_at for each in tables) - RECHECK_SECONDS + SURE_SECONDS
            if not _must_wait(found, body, is_read=is_read):
                try:
                    answer = yield from self._send(operation, body, found, named, is_read=is_read)
                except _GateClosed:
                    pass
                else:
                    is_late = self._now() > sure_until
                    if is_late and not is_read:
                        yield from self._require_unmoved(operation, tables, found)
                    moved = is_read and (
                        yield from self._have_moved(tables, found, is_late=is_late)
                    )
                    if not moved:
                        return self._answer(operation, body, answer, found)
                    continue
            attempt += 1
            delay = WAITING.delay(attempt)
            if delay is None:
                raise DesignMismatch(
                    f"the table {found[0].names[0]!r} is being moved to another place, and the "
                    "executor has stopped before the end; continue it: tablewright migrate apply"
                )
            yield Wait(delay)
            for each in tables:
                each.due_at = 0.0

    def _look(self, table: _Table) -> BetweenSteps[None]:
        """Read the record at the place where the table was; if it is away, at the other one."""
        asked_at, found = self._now(), table.where
        for _ in range(2):
            body = {
                "TableName": found.name,
                "Key": record_key(found.table),
                "ConsistentRead": True,
            }
            answer = _decode((yield At(found.side, Request("GetItem", body))))
            move = move_in(answer.get("Item", {}), found.name)
            phase: Phase = "open" if move is None else move.phase
            names = found.names
            if move is not None and found.side == 0:
                names = (names[0], move.table)
            found = replace(found, names=names, phase=phase, id="" if move is None else move.id)
            if phase != "away":
                break
            found = replace(found, side=1 - found.side)
        table.where = found
        table.due_at = asked_at + RECHECK_SECONDS

    def _require_unmoved(
        self, operation: str, tables: Iterable[_Table], found: Iterable[_Where]
    ) -> BetweenSteps[None]:
        """Raise RetriesExhausted if a slow write without a gate may have come after a cut-over."""
        for each, before in zip(tables, found, strict=True):
            if before.phase == "open":
                yield from self._look(each)
                if each.where.id:
                    raise RetriesExhausted(
                        f"{operation}: the response took so long that the table {before.name!r} "
                        "may have been moved before the request arrived; the write may be lost",
                        attempts=1,
                        code="",
                        maybe_applied=True,
                    )

    def _have_moved(
        self, tables: Iterable[_Table], found: Iterable[_Where], *, is_late: bool
    ) -> BetweenSteps[bool]:
        """Return whether a table that was being moved is elsewhere now."""
        moved = False
        for each, before in zip(tables, found, strict=True):
            if before.phase != "open" or is_late:
                yield from self._look(each)
                moved = moved or each.where.side != before.side or each.where.phase == "away"
        return moved

    def _send(
        self,
        operation: str,
        body: dict[str, Any],
        tables: list[_Where],
        named: set[str],
        *,
        is_read: bool,
    ) -> BetweenSteps[bytes]:
        sides = {each.side for each in tables} | ({0} if len(named) > len(tables) else set())
        if len(sides) > 1:
            raise InvalidValue(
                f"one request cannot use the tables {', '.join(sorted(named))}: some of them were "
                "moved to another place; move the others, too"
            )
        side = tables[0].side
        names = {each.names[0]: each.name for each in tables if each.name != each.names[0]}
        sent = _renamed(body, names) if names else body
        guarded = [each for each in tables if each.phase == "guarded"]
        if is_read or not guarded:
            return (yield At(side, Request(operation, sent)))
        if operation == "BatchWriteItem":
            for name, writes in sent["RequestItems"].items():
                for each in writes:
                    ((kind, action),) = each.items()
                    single = {"TableName": name, **action}
                    operation = kind.replace("Request", "Item")
                    yield from _GuardedWrite(side, operation, single, guarded).steps()
            return b'{"UnprocessedItems":{}}'
        if operation not in _KINDS and operation != "TransactWriteItems":
            raise UnsupportedOperation(operation, "a table that is being moved")
        return (yield from _GuardedWrite(side, operation, sent, guarded).steps())

    def _answer(
        self, operation: str, body: dict[str, Any], answer: bytes, tables: Iterable[_Where]
    ) -> bytes:
        """Return a response as if the tables had not been moved."""
        if operation == "GetItem" and b'"$move"' in answer:
            found = _decode(answer)
            if any(is_own(each.table, found["Item"]) for each in tables):
                hidden = (MOVE, PROGRESS)
                found["Item"] = {n: v for n, v in found["Item"].items() if n not in hidden}
                return msgspec.json.encode(found)
        back = {each.name: each.names[0] for each in tables if each.name != each.names[0]}
        if operation.startswith("Batch") and back:
            found = _decode(answer)
            for member in ("Responses", "UnprocessedKeys", "UnprocessedItems"):
                if member in found:
                    found[member] = {back.get(n, n): part for n, part in found[member].items()}
            return msgspec.json.encode(found)
        return answer


def _must_wait(tables: Sequence[_Where], body: dict[str, Any], *, is_read: bool) -> bool:
    """Return whether a request waits until a table is in use again."""
    phases = {each.phase for each in tables}
    if is_read:
        return "away" in phases
    # With the checks of gates, a transaction may have too many actions.
    count = len(body.get("TransactItems", ())) + len(tables)
    waits = {"away", "closed", "guarded"} if count > MAX_TRANSACTION_ACTIONS else _WAITS
    return not phases.isdisjoint(waits)


def _names_in(body: dict[str, Any]) -> set[str]:
    """Return the names of the tables in a request."""
    if "TransactItems" in body:
        return {part["TableName"] for each in body["TransactItems"] for part in each.values()}
    if "RequestItems" in body:
        return set(body["RequestItems"])
    return {body["TableName"]} if "TableName" in body else set()


def _renamed(body: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a request with other names of tables."""
    if "TransactItems" in body:
        actions = [
            {kind: part | {"TableName": names.get(part["TableName"], part["TableName"])}}
            for each in body["TransactItems"]
            for kind, part in each.items()
        ]
        return body | {"TransactItems": actions}
    if "RequestItems" in body:
        parts = {names.get(name, name): part for name, part in body["RequestItems"].items()}
        return body | {"RequestItems": parts}
    return body | {"TableName": names.get(body["TableName"], body["TableName"])}


class _GuardedWrite:
    """A write that is sent in a transaction with the check of a gate of each table."""

    def __init__(
        self, side: int, operation: str, body: dict[str, Any], tables: list[_Where]
    ) -> None:
        self._side = side
        self._operation = operation
        self._body = body
        self._tables = tables
        self._returns = body.get("ReturnValues", "NONE")
        table = next((each for each in tables if each.name == body.get("TableName")), None)
        self._table = table

    @property
    def _is_single(self) -> bool:
        return self._operation in _KINDS

    def steps(self) -> BetweenSteps[bytes]:
        """Send it, again while it conflicts; raise _GateClosed if the gate is closed."""
        if self._returns not in ("NONE", "ALL_OLD", "ALL_NEW"):
            raise UnsupportedOperation(
                f"{self._operation} with {self._returns}", "a table that is being moved"
            )
        failures = 0
        while True:
            old = None
            if self._returns == "ALL_OLD":
                old = yield from self._read()
            try:
                answer = _decode((yield At(self._side, self._request(old))))
            except TransactionCanceledException as fault:
                if not (yield from self._explain(fault, old)):
                    failures += 1
                    delay = CONFLICTS.delay(failures)
                    if delay is None:
                        raise Contention(
                            f"{self._operation}: other programs wrote the same items {failures} "
                            "times in a row; run the plan again"
                        ) from None
                    yield Wait(delay)
                continue
            return (yield from self._answer(answer, old))

    def _request(self, old: Item | None) -> Request:
        gates = [{"ConditionCheck": self._gate(each)} for each in self._tables]
        if not self._is_single:
            actions = [*self._body["TransactItems"], *gates]
            return Request("TransactWriteItems", self._body | {"TransactItems": actions})
        action = {name: self._body[name] for name in _OF_ACTION if name in self._body}
        if self._returns == "ALL_OLD":
            action = self._require_unchanged(action, old)
        members = {"TransactItems": [{_KINDS[self._operation]: action}, *gates]}
        if "ReturnConsumedCapacity" in self._body:
            members["ReturnConsumedCapacity"] = self._body["ReturnConsumedCapacity"]
        return Request("TransactWriteItems", members)

    def _gate(self, table: _Where) -> dict[str, Any]:
        return {
            "TableName": table.name,
            "Key": gate_key(table.table, random.randrange(GATES)),
            "ConditionExpression": "#gate = :open",
            "ExpressionAttributeNames": {"#gate": GATE},
            "ExpressionAttributeValues": {":open": {"S": OPEN}},
        }

    def _require_unchanged(self, action: dict[str, Any], old: Item | None) -> dict[str, Any]:
        """Return an action that also requires that the item is as it was read."""
        names: dict[str, str] = {}
        values: Item = {}
        if old is None:
            assert self._table is not None
            names["#gone"] = self._table.table.attributes[0]
            terms = ["attribute_not_exists(#gone)"]
        else:
            terms = []
            for number, (name, value) in enumerate(old.items()):
                names[f"#o{number}"] = name
                values[f":o{number}"] = value
                terms.append(f"#o{number} = :o{number}")
        given = action.get("ConditionExpression")
        if given is not None:
            terms.insert(0, f"({given})")
        made = {"ConditionExpression": " AND ".join(terms)}
        made |= {"ExpressionAttributeNames": action.get("ExpressionAttributeNames", {}) | names}
        found = action.get("ExpressionAttributeValues", {}) | values
        return action | made | ({"ExpressionAttributeValues": found} if found else {})

    def _read(self) -> BetweenSteps[Item | None]:
        """Read the item that the write is about."""
        assert self._table is not None
        key = self._table.table.key(self._body.get("Key") or self._body["Item"])
        body = {"TableName": self._body["TableName"], "Key": key, "ConsistentRead": True}
        found = _decode((yield At(self._side, Request("GetItem", body))))
        item: Item | None = found.get("Item")
        return item

    def _explain(self, fault: TransactionCanceledException, old: Item | None) -> BetweenSteps[bool]:
        """Raise what the write itself would raise; return whether to send it again at once."""
        count = len(fault.reasons) - len(self._tables)
        own, gates = fault.reasons[:count], fault.reasons[count:]
        if any(each["Code"] == CONDITION_FAILED for each in gates):
            raise _GateClosed from None
        if any(each["Code"] != "None" for each in gates) and all(
            each["Code"] == "None" for each in own
        ):
            return False
        if not self._is_single:
            raise TransactionCanceledException(own) from None
        code = own[0]["Code"]
        if code == CONDITION_FAILED:
            if self._returns == "ALL_OLD" and (yield from self._read()) != old:
                return True
            raise ConditionalCheckFailedException(item=own[0].get("Item")) from None
        if code == "ValidationError":
            raise ValidationException(own[0].get("Message", "")) from None
        if code == "TransactionConflict":
            return False
        if code in TRANSIENT:
            raise ProvisionedThroughputExceededException(own[0].get("Message", "")) from None
        raise TransactionCanceledException(own) from None

    def _answer(self, answer: dict[str, Any], old: Item | None) -> BetweenSteps[bytes]:
        """Return the response that the write itself would have."""
        if not self._is_single:
            return msgspec.json.encode(answer)
        made: dict[str, Any] = {}
        if answer.get("ConsumedCapacity"):
            made["ConsumedCapacity"] = answer["ConsumedCapacity"][0]
        attributes = old
        if self._returns == "ALL_NEW":
            attributes = yield from self._read()
        if attributes:
            made["Attributes"] = attributes
        return msgspec.json.encode(made)
