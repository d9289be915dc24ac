"""Plans: what a pattern returns and a database runs.

A plan is a value. Its `_steps` is a generator that yields requests, receives answers as JSON, and
returns the result; it does no input or output itself. A fault is thrown into the generator, which
may explain it, try again or let it pass. Two drivers, one synchronous and one asynchronous, run the
same plans.

    Order.primary("C1", "O1")  ──steps──▶  Request("GetItem", {…})
                               ◀──answer──  b'{"Item": {…}}'
                               ──returns──▶ Order(…) | None

`Context` is what plans know about the database that runs them, and `Unready` what it cannot read
yet; `model/databases/provision.py` finds out what that is. A `Watch` replaces requests while a
migration changes the items.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import DeclarationError, DynamoDBError, IndexNotReady, UniqueNotReady
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.plan.query_requests import QueryRequest
from tablewright.plan.request_events import Observer, RequestTimer, add_capacity
from tablewright.plan.shape import Shape
from tablewright.transport.call_limits import CallLimits
from tablewright.transport.transport import Request, Response, RetriesExhausted, Wait

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

__all__ = [
    "DECLARED",
    "AnyRequest",
    "Context",
    "Plan",
    "Request",
    "RequestCheck",
    "Steps",
    "Together",
    "Wait",
    "run",
    "run_async",
]

#: A request as plans make them: those that select items by a condition are QueryRequests.
AnyRequest: TypeAlias = Request | QueryRequest
#: Checks a request before it is sent: returns it, perhaps with another filter, or raises.
RequestCheck: TypeAlias = Callable[[AnyRequest], AnyRequest]
Steps: TypeAlias = "Generator[AnyRequest | Wait | Together[Any], bytes, T]"
Send: TypeAlias = Callable[[str, dict[str, Any]], Response]
SendAsync: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Response]]


class Unready(Struct, frozen=True):
    """The indexes and unique values of one table that are not ready to be used."""

    #: Why an index cannot be read at all, by its name: "does not exist", "is CREATING".
    indexes: Mapping[str, str]
    #: Indexes whose keys stored items may lack, each with the type of the items.
    places: frozenset[tuple[str, str]]
    #: Unique values that stored items may not have reserved: the type of the sentinels, and the
    #: type of the items.
    uniques: frozenset[tuple[str, str]] = frozenset()
    #: Whether the table records a version of its design: then a migration makes them ready.
    is_managed: bool = False

    def __bool__(self) -> bool:
        return bool(self.indexes or self.places or self.uniques)

    def require_ready(self, key: KeyMap, entity: EntityMap, table: str) -> None:
        """Raise IndexNotReady if the items of an entity cannot be read from the index of a key."""
        assert key.index is not None
        index = key.index.name
        where = f"{key.name}: the index {index!r} of the table {table!r}"
        if index in self.indexes:
            raise IndexNotReady(
                f"{where} {self.indexes[index]}; it is added by connect(…, update=True), or by "
                "the template of the table"
            )
        if any((index, name) in self.places for name in entity.type_names):
            raise IndexNotReady(
                f"{where} may lack items of {entity.name}: items that were stored before "
                f"{key.name} was declared or changed do not have its keys yet. "
                f"{self._advice(entity)}"
            )

    def require_reserved(self, unique: UniqueMap, entity: EntityMap, table: str) -> None:
        """Raise UniqueNotReady if stored items of an entity may not have reserved a value."""
        # Variants share the values, so the items of all of them must have reserved theirs.
        if any(each == unique.type_name for each, _ in self.uniques):
            raise UniqueNotReady(
                f"{unique.key.name}: items of {entity.name} that were stored in the table "
                f"{table!r} before this unique value was declared may not have reserved their "
                f"values. {self._advice(entity)}"
            )

    def _advice(self, entity: EntityMap) -> str:
        run, command = "Run", "backfill"
        if self.is_managed:
            run, command = "Run this, or wait until it has ended", "migrate apply"
        design = entity.type.__module__.removeprefix("design ")
        return f"{run}: tablewright {command} {design} TARGET (TARGET: where the table is)"


READY = Unready({}, frozenset())


class Context(Struct, frozen=True):
    """What plans know about the database that runs them."""

    #: The names of the tables in the database.
    names: Mapping[TableMap, str]
    #: The keys of cursors are derived from it.
    secret: bytes
    #: The tenant of the database; a cursor is valid for one tenant.
    tenant: str = ""
    #: Indexes whose rows are filtered by tenant.
    filtered: frozenset[str] = frozenset()
    tenant_check: RequestCheck | None = None
    #: Receives an event for each request.
    observe: Observer | None = None
    #: The indexes and unique values that are not ready yet, by table; shared by the databases of
    #: tenants.
    unready: dict[TableMap, Unready] | None = None
    #: Sees every request; shared by all databases of a connection.
    watch: Watch | None = None
    #: The limits of calls; in a call, those of this call.
    limits: CallLimits | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def check(self, request: AnyRequest) -> AnyRequest:
        """Return the request as the check of a tenant permits it."""
        return request if self.tenant_check is None else self.tenant_check(request)

    def require_ready(self, key: KeyMap, entities: Iterable[EntityMap]) -> None:
        """Raise IndexNotReady if entities cannot be read from the index of a key yet."""
        for entity in entities:
            unready = (self.unready or {}).get(entity.table)
            if unready is not None:
                unready.require_ready(key, entity, self.names[entity.table])

    def require_reserved(self, unique: UniqueMap, entity: EntityMap) -> None:
        """Raise UniqueNotReady if stored items may not have reserved a unique value yet."""
        unready = (self.unready or {}).get(entity.table)
        if unready is not None:
            unready.require_reserved(unique, entity, self.names[entity.table])

    def name_of(self, table: TableMap) -> str:
        try:
            return self.names[table]
        except KeyError:
            known = ", ".join(known.name for known in self.names)
            raise DeclarationError(
                f"this database is connected to {known}, not to {table.name}; pass every table "
                "to connect(target, …)"
            ) from None


class _DeclaredNames(dict[TableMap, str]):
    """The names of all tables, as they are declared."""

    def __missing__(self, table: TableMap) -> str:
        return table.name


#: The context for plans whose requests are made, but not sent.
DECLARED = Context(_DeclaredNames(), b"")


class Plan(Generic[T_co]):
    """What a database can run; `db.run(plan)` returns its result."""

    #: The name of the type of plan, as callers know it.
    _type_name: ClassVar[str]
    #: The pattern that made this plan, if one did.
    _pattern: str = ""
    #: The entity that it reads or writes.
    _entity: EntityMap

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_type_name" not in vars(cls):
            cls._type_name = cls.__name__

    @property
    def _name(self) -> str:
        """The name of the pattern, or of the type of plan."""
        return self._pattern.rpartition(".")[2] or self._type_name

    def _entities(self) -> tuple[EntityMap, ...]:
        """Return every entity that the plan reads or writes."""
        return (self._entity,)

    def _steps(self, context: Context) -> Steps[T_co]:
        raise NotImplementedError

    def _shape(self) -> Shape:
        """Return what the plan will ask of DynamoDB, as far as that is known."""
        raise NotImplementedError

    def __repr__(self) -> str:
        try:
            shape = self._shape()
        except Exception as error:  # a repr never raises: a plan can have a value that no key takes
            return f"{self._type_name}(<{error!r}>)"
        return f"{self._type_name}({shape.operation} {shape.condition})"

    def _replace(self, **changes: Any) -> Self:
        """Return a copy of the plan with some attributes changed."""
        changed = object.__new__(type(self))
        changed.__dict__ = self.__dict__ | changes
        return changed


class Watch(Protocol):
    """Sees the requests of a database to tables whose items a migration can change.

    The only one is in `plan/migration/admission.py`.
    """

    def is_needed(self) -> bool:
        """Return whether the next request is to be replaced by `around(request)`."""
        ...

    def around(self, request: AnyRequest) -> Plan[bytes]:
        """Return the plan to run instead of a request; its result is the response."""
        ...

    def rely_on(self, table: TableMap) -> None:
        """Note that the program has found out that the items of a table are prepared for it."""
        ...


class Together(Generic[T]):
    """A step that runs other plans: at the same time in an event loop, or one after the other.

    With `threads`, that many threads run them outside of an event loop. After the step, `results`
    has their results, in the order of the plans.
    """

    def __init__(self, plans: Sequence[Plan[T]], *, threads: int = 1) -> None:
        self.plans = plans
        self.threads = threads
        self.results: list[T] = []


# -- drivers --------------------------------------------------------------------------------------


def run(plan: Plan[T], context: Context, send: Send, whole: Plan[Any] | None = None) -> T:
    """Run a plan with a blocking transport, and return its result.

    `whole` is the plan of which it is a part: events have its name.
    """
    whole = plan if whole is None else whole
    steps = plan._steps(context)
    try:
        step = next(steps)
        while True:
            try:
                body = _perform(step, context, send, whole)
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        result: T = end.value
        return result


def _unwatched(context: Context) -> Context:
    """Return the context for the requests that a watch makes of one request."""
    return replace(context, watch=None, tenant_check=None)


def _perform(
    step: AnyRequest | Wait | Together[Any], context: Context, send: Send, whole: Plan[Any]
) -> bytes:
    limits = context.limits
    if type(step) is Wait:  # isinstance asks the metaclass of structs, which takes 0.1 µs
        if limits is not None:
            limits.require(step.seconds, whole._name)
        time.sleep(step.seconds)
        return b""
    if isinstance(step, Together):
        if step.threads == 1:
            step.results = [run(each, context, send, whole) for each in step.plans]
        else:
            from concurrent.futures import ThreadPoolExecutor  # brings in logging

            with ThreadPoolExecutor(step.threads) as pool:
                step.results = list(
                    pool.map(lambda each: run(each, context, send, whole), step.plans)
                )
        return b""
    if limits is not None:
        limits.require(0, whole._name)
    check = context.tenant_check  # without a call of `Context.check`: quicker
    request = step if check is None else check(step)
    if context.watch is not None and context.watch.is_needed():
        return run(context.watch.around(request), _unwatched(context), send, whole)
    if context.observe is None:
        return send(request.operation, request.body).body
    with RequestTimer(context.observe, request.operation, request.body, whole._name) as timer:
        asking = add_capacity(request.operation, request.body)
        timer.response = response = send(request.operation, asking)
    return response.body


async def run_async(
    plan: Plan[T], context: Context, send: SendAsync, whole: Plan[Any] | None = None
) -> T:
    """Run a plan in an event loop, and return its result; `whole` as in `run`."""
    whole = plan if whole is None else whole
    steps = plan._steps(context)
    try:
        step = next(steps)
        while True:
            try:
                body = await _perform_async(step, context, send, whole)
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        result: T = end.value
        return result


async def _perform_async(
    step: AnyRequest | Wait | Together[Any], context: Context, send: SendAsync, whole: Plan[Any]
) -> bytes:
    limits = context.limits
    if type(step) is Wait:
        import asyncio  # slow to import, and imported already in an event loop

        if limits is not None:
            limits.require(step.seconds, whole._name)
        await asyncio.sleep(step.seconds)
        return b""
    if isinstance(step, Together):
        import asyncio

        running = [run_async(each, context, send, whole) for each in step.plans]
        results = await asyncio.gather(*running, return_exceptions=True)
        for result in results:  # all have ended: nothing runs on behind the caller
            if isinstance(result, BaseException):
                raise result
        step.results = results
        return b""
    if limits is not None:
        limits.require(0, whole._name)
    check = context.tenant_check  # without a call of `Context.check`: quicker
    request = step if check is None else check(step)
    if context.watch is not None and context.watch.is_needed():
        return await run_async(context.watch.around(request), _unwatched(context), send, whole)
    if context.observe is None:
        return (await send(request.operation, request.body)).body
    with RequestTimer(context.observe, request.operation, request.body, whole._name) as timer:
        asking = add_capacity(request.operation, request.body)
        timer.response = response = await send(request.operation, asking)
    return response.body
