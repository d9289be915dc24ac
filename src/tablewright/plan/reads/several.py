"""Several gets: many items by their keys, with one plan.

    db.run(batch_get([Order.primary("C1", "O1"), Order.primary("C1", "O2")]))   list[Order | None]
    db.run(batch_get(Order.primary("C1", "O1"), Customer.primary("C1")))
                                                            tuple[Order | None, Customer | None]
    db.run(transact_get(Order.primary("C1", "O1"), Customer.primary("C1")))     the same

A batch takes as few requests as possible. A transaction is one TransactGetItems, which reads the
items as they are at one moment. DynamoDB cancels it if another transaction is writing to one of the
items; it is then sent again. Each read of it costs twice the units of a consistent one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar, overload

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import (
    Contention,
    DeclarationError,
    InvalidValue,
    TransactionCanceledException,
)
from tablewright.limits import MAX_BATCH_GET_KEYS, MAX_TRANSACTION_ACTIONS
from tablewright.mapping.entity import EntityMap
from tablewright.plan.facts import Batches, Paging, ShapeKey, UnitRange
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.single import ItemAnswer
from tablewright.plan.shape import Shape, distinct
from tablewright.plan.writes.action import TRANSIENT
from tablewright.plan.writes.write import wait_for_writers
from tablewright.symbol import member_of_list
from tablewright.values import Item

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")

#: For batches of which DynamoDB processed nothing.
UNPROCESSED = Backoff(attempts=10, first=0.1, longest=10.0)


# -- in batches -----------------------------------------------------------------------------------


@overload
def batch_get(gets: Iterable[Get[E]], /) -> BatchGet[E]: ...


@overload
def batch_get(a: Get[A], b: Get[B], /) -> BatchGetTuple[tuple[A | None, B | None]]: ...


@overload
def batch_get(
    a: Get[A], b: Get[B], c: Get[C], /
) -> BatchGetTuple[tuple[A | None, B | None, C | None]]: ...


@overload
def batch_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], /
) -> BatchGetTuple[tuple[A | None, B | None, C | None, D | None]]: ...


@overload
def batch_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], e: Get[E], /
) -> BatchGetTuple[tuple[A | None, B | None, C | None, D | None, E | None]]: ...


@overload
def batch_get(a: Get[Any], b: Get[Any], /, *gets: Get[Any]) -> BatchGetTuple[tuple[Any, ...]]: ...


def batch_get(*gets: Any) -> Any:
    """Read many items by their keys, in as few requests as possible; results keep the order.

    Takes the keys of one entity in a list, or those of several entities one by one.
    """
    if len(gets) > 1:
        return BatchGetTuple(check_keys("batch_get()", gets))
    keys = next(iter(gets), None)
    if keys is None or isinstance(keys, Get):
        raise DeclarationError("batch_get() takes many keys: batch_get([Order.primary(…), …])")
    return BatchGet(check_keys("batch_get()", keys))


class _Gets(Plan[T], Generic[T]):
    """Several items by their keys."""

    def __init__(self, gets: tuple[Get[Any], ...]) -> None:
        self._gets = gets

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(get._entity for get in self._gets))

    def _wanted(self, context: Context) -> dict[tuple[str, bytes], tuple[str, Item]]:
        """Return the table and the key of each item, once, by what identifies the item."""
        named = [(context.name_of(get._entity.table), get._key) for get in self._gets]
        return {(name, item_identity(key)): (name, key) for name, key in named}

    def _results(
        self, found: Mapping[tuple[str, bytes], Item | None], context: Context
    ) -> list[Any]:
        """Return an entity for each key, in their order; None for one that does not exist."""
        results = []
        for get in self._gets:
            item = found.get((context.name_of(get._entity.table), item_identity(get._key)))
            results.append(None if item is None else get._entity.decode_kind(item))
        return results


class _Batch(_Gets[T], Generic[T]):
    _is_consistent = False

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_is_consistent=True)

    def _read(self, context: Context) -> Steps[list[Any]]:
        wanted = list(self._wanted(context).values())
        found = yield from read_batch(context, wanted, consistent=self._is_consistent)
        return self._results(found, context)

    def _shape(self) -> Shape:
        if not self._gets:
            return Shape("BatchGetItem", (), ())
        gets = [get.consistent() if self._is_consistent else get for get in self._gets]
        steps = [get._shape() for get in gets]
        first: dict[EntityMap, ShapeKey] = {}
        for get, step in zip(gets, steps, strict=True):
            first.setdefault(get._entity, *step.keys)
        return Shape(
            operation="BatchGetItem",
            tables=distinct(entity.table for entity in first),
            targets=tuple(first),
            keys=tuple(first.values()),
            extent=Batches(MAX_BATCH_GET_KEYS),
            read_units=sum(step.read_units for step in steps),
            read_range=keys_range(gets, steps),
        )


class BatchGet(_Batch[list[E | None]], Generic[E]):
    """Items by their keys, in the order of the keys; None for those that do not exist."""

    def _steps(self, context: Context) -> Steps[list[E | None]]:
        return (yield from self._read(context))


class BatchGetTuple(_Batch[T], Generic[T]):
    """Items of several entities by their keys; a tuple in the order of the keys."""

    def _steps(self, context: Context) -> Steps[T]:
        found: Any = yield from self._read(context)
        return tuple(found)  # type: ignore[return-value]  # the overloads of batch_get() say which


def read_batch(
    context: Context, queue: list[tuple[str, Item]], *, consistent: bool
) -> Steps[dict[tuple[str, bytes], Item]]:
    """Read items by the names of their tables and their keys; return those that exist."""
    options = {"ConsistentRead": True} if consistent else {}
    answers = yield from send_batches(
        "BatchGetItem", queue, MAX_BATCH_GET_KEYS, lambda keys: {"Keys": keys, **options}, context
    )
    tables = {name: table for table, name in context.names.items()}
    return {
        (name, item_identity(tables[name].key(item))): item
        for answer in answers
        for name, items in answer["Responses"].items()
        for item in items
    }


def send_batches(
    operation: str,
    queue: list[tuple[str, dict[str, Any]]],
    size: int,
    make: Callable[[list[dict[str, Any]]], Any],
    context: Context,
) -> Steps[list[dict[str, Any]]]:
    """Send what is queued, by table, in batches until all of it is processed; return the answers.

    `make` returns the part of a request for one table. Nothing is sent if the guard of the
    database refuses a part of it. Raise Contention if DynamoDB keeps processing nothing.
    """

    def request(queued: list[tuple[str, dict[str, Any]]]) -> Request:
        tables: dict[str, list[dict[str, Any]]] = {}
        for name, each in queued:
            tables.setdefault(name, []).append(each)
        items = {name: make(parts) for name, parts in tables.items()}
        return Request(operation, {"RequestItems": items})

    answers: list[dict[str, Any]] = []
    failures = 0
    if queue:
        context.check(request(queue))
    while queue:
        sent, queue = queue[:size], queue[size:]
        answers.append(answer := msgspec.json.decode((yield request(sent))))
        left = answer.get("UnprocessedKeys") or answer.get("UnprocessedItems") or {}
        unprocessed = [
            (name, each)
            for name, part in left.items()
            for each in (part["Keys"] if isinstance(part, dict) else part)
        ]
        queue += unprocessed
        failures = failures + 1 if len(unprocessed) == len(sent) else 0
        if failures:
            delay = UNPROCESSED.delay(failures)
            if delay is None:
                raise Contention(
                    f"{operation}: DynamoDB processed nothing in {failures} attempts; the table is "
                    "throttled, and a part of the batch is not done"
                )
            yield Wait(delay)
    return answers


# -- at one moment --------------------------------------------------------------------------------


@overload
def transact_get(a: Get[A], /) -> TransactGet[tuple[A | None]]: ...


@overload
def transact_get(a: Get[A], b: Get[B], /) -> TransactGet[tuple[A | None, B | None]]: ...


@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], /
) -> TransactGet[tuple[A | None, B | None, C | None]]: ...


@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], /
) -> TransactGet[tuple[A | None, B | None, C | None, D | None]]: ...


@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], e: Get[E], /
) -> TransactGet[tuple[A | None, B | None, C | None, D | None, E | None]]: ...


@overload
def transact_get(*gets: Get[E]) -> TransactGet[tuple[E | None, ...]]: ...


@overload
def transact_get(*gets: Get[Any]) -> TransactGet[tuple[Any, ...]]: ...


def transact_get(*gets: Get[Any]) -> TransactGet[Any]:
    """Read several items by their keys as they are at one moment, in one request."""
    if not gets:
        raise InvalidValue("transact_get() needs at least one key")
    check_keys("transact_get()", gets)
    if len(gets) > MAX_TRANSACTION_ACTIONS:
        raise InvalidValue(
            f"transact_get(): {len(gets)} keys; DynamoDB reads at most {MAX_TRANSACTION_ACTIONS} "
            "in a transaction. Read fewer, or use batch_get(), which does not read at one moment"
        )
    return TransactGet(gets)


class _Answer(Struct, rename="pascal"):
    responses: list[ItemAnswer]


_decode = msgspec.json.Decoder(_Answer).decode


class TransactGet(_Gets[T], Generic[T]):
    """Items by their keys, read at one moment; a tuple in the order of the keys."""

    def _steps(self, context: Context) -> Steps[T]:
        wanted = self._wanted(context)  # DynamoDB rejects a transaction with the same item twice
        actions = [{"Get": {"TableName": name, "Key": key}} for name, key in wanted.values()]
        request = Request("TransactGetItems", {"TransactItems": actions})
        attempt = 0
        while True:
            try:
                answer = _decode((yield request))
                break
            except TransactionCanceledException as fault:
                if not any(reason["Code"] in TRANSIENT for reason in fault.reasons):
                    raise
            attempt += 1
            yield from wait_for_writers(
                attempt,
                f"transact_get(): other transactions wrote to the items, {attempt} times in a "
                "row; nothing was read",
            )
        items = [response.item for response in answer.responses]
        results: Any = tuple(self._results(dict(zip(wanted, items, strict=True)), context))
        return results  # type: ignore[no-any-return]  # the overloads of transact_get() say which

    def _shape(self) -> Shape:
        steps = tuple(get.consistent()._shape() for get in self._gets)
        return Shape(
            operation="TransactGetItems",
            tables=distinct(get._entity.table for get in self._gets),
            targets=self._entities(),
            keys=tuple(step.keys[0] for step in steps),
            extent=Paging(len(steps)),
            read_units=TRANSACTION_FACTOR * sum(step.read_units for step in steps),
            read_range=keys_range(self._gets, steps) * TRANSACTION_FACTOR,
        )


# -- both -----------------------------------------------------------------------------------------


def check_keys(call: str, gets: Iterable[Any]) -> tuple[Get[Any], ...]:
    """Return the keys of a call; raise DeclarationError for anything else."""
    checked = tuple(gets)
    for get in checked:
        if not isinstance(get, Get):
            raise DeclarationError(f"{call} takes keys, such as Order.primary(…), not {get!r}")
    return checked


def keys_range(gets: Sequence[Get[Any]], steps: Sequence[Shape]) -> UnitRange:
    """Return the units of the reads of these keys together; `steps` are those of each alone.

    A key that is given twice is read once, and arguments that are not known yet may be equal. Two
    entities have no key in common, unless they are variants of one base. The key of a member of a
    list that is not known yet stands for any number of keys.
    """
    lows: dict[EntityMap, float] = {}
    highs, per_item = 0.0, 0.0
    for get, step in zip(gets, steps, strict=True):
        if member_of_list(get._arguments) is not None:
            per_item = max(per_item, step.read_range.high)
        else:
            lows[get._entity.base or get._entity] = step.read_range.low
            highs += step.read_range.high
    return UnitRange(sum(lows.values()), highs, per_item)


def item_identity(key: Item) -> bytes:
    """Return the key as bytes that are equal for equal keys."""
    return msgspec.json.encode(key, order="deterministic")
