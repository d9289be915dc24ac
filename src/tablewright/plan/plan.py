"""Plans: what a pattern returns and a database runs.

A plan is a value. Its `steps` is a generator that yields requests, receives answers as JSON, and
returns what the plan is for; it does no input or output itself. A fault comes in where the answer
would: the generator may explain it, try again or let it out. Two drivers, one synchronous and one
asynchronous, run the same plans.

    Order.primary("C1", "O1")  ──steps──▶  Request("GetItem", {…})
                               ◀──answer──  b'{"Item": {…}}'
                               ──returns──▶ Order(…) | None
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from datetime import UTC, datetime
from typing import Any, Generic, Self, TypeAlias, TypeVar

from msgspec import Struct

from tablewright.errors import DeclarationError, DynamoDBError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.events import Observer, Stopwatch, metered
from tablewright.plan.query_request import QueryRequest
from tablewright.plan.shape import Shape

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Request(Struct):
    """One operation of DynamoDB's."""

    operation: str
    body: dict[str, Any]


class Wait(Struct):
    """A pause before the next request."""

    seconds: float


#: A request as plans make them: those that select items by a condition are QueryRequests.
AnyRequest: TypeAlias = Request | QueryRequest
#: Checks a request before it is sent: returns it, perhaps with another filter, or raises.
RequestGuard: TypeAlias = Callable[[AnyRequest], AnyRequest]
Steps: TypeAlias = "Generator[AnyRequest | Wait, bytes, T]"


class Context(Struct, frozen=True):
    """What plans may know of the database that runs them."""

    #: The names that tables have there.
    names: Mapping[TableMap, str]
    #: Signs cursors.
    secret: bytes
    #: Whose database this is; part of what a cursor is bound to.
    tenant: str = ""
    #: Indexes whose rows are filtered by tenant on their way.
    filtered: frozenset[str] = frozenset()
    guard: RequestGuard | None = None
    #: Is told of each request.
    observe: Observer | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def check(self, request: AnyRequest) -> AnyRequest:
        """Return the request as the guard permits it."""
        return request if self.guard is None else self.guard(request)

    def name_of(self, table: TableMap) -> str:
        try:
            return self.names[table]
        except KeyError:
            known = ", ".join(known.name for known in self.names)
            raise DeclarationError(
                f"this database is connected to {known}, not to {table.name}; name every table "
                "in connect(target, …)"
            ) from None


class Plan(Generic[T_co]):
    """Something a database can run; `db.run(plan)` gives its result."""

    #: The pattern that made this plan, if one did.
    _pattern: str = ""
    #: What it reads or writes.
    _entity: EntityMap

    @property
    def _name(self) -> str:
        """The pattern's name, or what kind of plan it is."""
        return self._pattern.rpartition(".")[2] or type(self).__name__

    def _entities(self) -> tuple[EntityMap, ...]:
        """Every entity that it reads or writes."""
        return (self._entity,)

    def _steps(self, context: Context) -> Steps[T_co]:
        raise NotImplementedError

    def _shape(self) -> Shape:
        """What it will ask of DynamoDB, as far as that is known."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shape = self._shape()
        return f"{type(self).__name__}({shape.operation} {shape.condition})"

    def _replace(self, **changes: Any) -> Self:
        """This plan, with some things changed."""
        changed = object.__new__(type(self))
        changed.__dict__ = self.__dict__ | changes
        return changed


Send: TypeAlias = Callable[[str, dict[str, Any]], bytes]
SendAsync: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[bytes]]


def run(plan: Plan[T], context: Context, send: Send) -> T:
    """Run a plan to its end."""
    steps = plan._steps(context)
    try:
        request = next(steps)
        while True:
            try:
                answer = _sent(request, context, send, plan)
            except DynamoDBError as fault:
                request = steps.throw(fault)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def _sent(request: AnyRequest | Wait, context: Context, send: Send, plan: Plan[Any]) -> bytes:
    if isinstance(request, Wait):
        time.sleep(request.seconds)
        return b""
    request = context.check(request)
    if context.observe is None:
        return send(request.operation, request.body)
    watch = _watch(context.observe, request, plan)
    try:
        answer = send(request.operation, metered(request.operation, request.body))
    except Exception as error:
        watch.failed(error)
        raise
    watch.answered(answer)
    return answer


async def _sent_async(
    request: AnyRequest | Wait, context: Context, send: SendAsync, plan: Plan[Any]
) -> bytes:
    if isinstance(request, Wait):
        await asyncio.sleep(request.seconds)
        return b""
    request = context.check(request)
    if context.observe is None:
        return await send(request.operation, request.body)
    watch = _watch(context.observe, request, plan)
    try:
        answer = await send(request.operation, metered(request.operation, request.body))
    except Exception as error:
        watch.failed(error)
        raise
    watch.answered(answer)
    return answer


def _watch(observe: Observer, request: AnyRequest, plan: Plan[Any]) -> Stopwatch:
    return Stopwatch(observe, request.operation, request.body, plan._name)


async def run_async(plan: Plan[T], context: Context, send: SendAsync) -> T:
    """Run a plan to its end, in an event loop."""
    steps = plan._steps(context)
    try:
        request = next(steps)
        while True:
            try:
                answer = await _sent_async(request, context, send, plan)
            except DynamoDBError as fault:
                request = steps.throw(fault)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
