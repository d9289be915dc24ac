"""Databases: run plans against a target.

db = connect("commerce.db", Commerce)         # a file: embedded, durable, in this process
db.run(plan)                                  # the plan's result
for order in db.iterate(plan): ...            # all results of a query, page by page
db.for_tenant(user_id="u1")                   # a database that is limited to one tenant
db.through(Recorder(db.transport))            # the same tables, with another transport

async with connect_async("commerce.db", Commerce) as adb:
    await adb.run(plan)                       # the same plans
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from tablewright.engine import SWEEP_SECONDS, Engine
from tablewright.errors import (
    DeclarationError,
    IndexNotReady,
    InvalidValue,
    UniqueNotReady,
    UnreadableItem,
    UnsupportedOperation,
)
from tablewright.mapping.table import TableMap
from tablewright.model.connecting import Connecting
from tablewright.model.provision import FindUnready, Provision
from tablewright.model.stream_events import AsyncStreams, Streams
from tablewright.model.table import Table
from tablewright.plan.events import Observer
from tablewright.plan.plan import Context, Plan, Unready, run, run_async
from tablewright.plan.reads.query import Query
from tablewright.plan.writes.several import transact
from tablewright.plan.writes.write import Write
from tablewright.policy import Documents, Principal, as_principal
from tablewright.storage import Durability
from tablewright.transport import AsyncTransport, Local, Remote, Transport, open_target

T = TypeVar("T")

#: The environment variable that holds the secret of cursors, for several processes to share.
CURSOR_SECRET = "TABLEWRIGHT_CURSOR_SECRET"
#: The secret of the cursors of this process, if none is given.
_PROCESS_SECRET = secrets.token_bytes(32)


def connect(
    target: str | Path | Engine | Remote,
    *tables: type[Table],
    create: bool | None = None,
    update: bool = False,
    table_name: str | None = None,
    cursor_secret: bytes | str | None = None,
    durability: Durability = "full",
    sweep_seconds: float | None = SWEEP_SECONDS,
    observe: Observer | None = None,
    policy: Documents | Principal | None = None,
) -> Database:
    """Open a database.

    The target is `":memory:"`, the path of a file, an open `Engine`, `"dynamodb://eu-west-1"`, the
    URL of an endpoint with DynamoDB's protocol, or a `Remote` transport with its own timeouts.

    A missing table is created in memory and in a file; elsewhere only with `create=True`. A table
    that differs from its declaration raises TableMismatch, which lists the differences. Global
    indexes, TTL and a stream that it lacks are added only with `update=True`, which can take hours
    on AWS. Nothing else is changed, but expired items are deleted once TTL is enabled. Declared
    keys that differ from the stored ones raise DesignMismatch.

    `table_name` is the name of the table at the target, if it is not the declared one. Cursors are
    encrypted with `cursor_secret`, or the environment variable TABLEWRIGHT_CURSOR_SECRET, or a
    random secret of this process, which all its databases share. `observe` receives an event for
    each request: see `tablewright.observe`.

    Items of a file that are past their TTL are deleted about every `sweep_seconds` while it is
    open; with None, they stay. An `Engine`, a server and AWS delete them by their own settings.

    `policy` restricts what the plans of this database may do in memory, in a file or in an
    `Engine`: an IAM policy document as a dict or as JSON text, a list of documents, or a
    `tablewright.policy.Principal`, which has a name and tags as well. A request that it does not
    allow raises AccessDeniedException. It does not apply to the creation and comparison of tables.
    For an endpoint, which has its own policies, it raises InvalidValue.
    """
    context = _context(tables, table_name, cursor_secret, observe)
    principal = _principal(policy, target)
    transport = open_target(
        _checked_target(target), durability=durability, sweep_seconds=sweep_seconds
    )
    owned = not isinstance(target, (Engine, Remote))
    database = Database(transport, context, tables, owned=owned)
    try:
        for table in context.names:
            plan = Provision(table, create=_creates(transport, create), update=update)
            database._set_unready(table, database.run(plan))
    except BaseException:
        database.close()
        raise
    database._transport = _restricted(transport, principal)
    return database


def connect_async(
    target: str | Path | Engine | Remote,
    *tables: type[Table],
    create: bool | None = None,
    update: bool = False,
    table_name: str | None = None,
    cursor_secret: bytes | str | None = None,
    durability: Durability = "full",
    sweep_seconds: float | None = SWEEP_SECONDS,
    observe: Observer | None = None,
    policy: Documents | Principal | None = None,
) -> Connecting[AsyncDatabase]:
    """Open a database for use in an event loop; see `connect` for the parameters.

    Use `async with connect_async(…) as db`, which closes it at the end, or
    `db = await connect_async(…)`. Nothing is opened before.
    """

    async def open_database() -> AsyncDatabase:
        context = _context(tables, table_name, cursor_secret, observe)
        principal = _principal(policy, target)
        transport = open_target(
            _checked_target(target), durability=durability, sweep_seconds=sweep_seconds
        )
        owned = not isinstance(target, (Engine, Remote))
        database = AsyncDatabase(transport, context, tables, owned=owned)
        try:
            for table in context.names:
                plan = Provision(table, create=_creates(transport, create), update=update)
                database._set_unready(table, await database.run(plan))
        except BaseException:
            await database.close()
            raise
        database._transport = _restricted(transport, principal)
        return database

    return Connecting(open_database())


def _checked_target(target: Any) -> str | Path | Engine | Remote:
    if not isinstance(target, (str, Path, Engine, Remote)) or not str(target):
        raise InvalidValue(
            f"{target!r} is not a valid target; use ':memory:', a file, an Engine, "
            "dynamodb://region or http://host:port"
        )
    return target


def _principal(policy: Documents | Principal | None, target: object) -> Principal | None:
    if policy is None:
        return None
    if isinstance(target, Remote) or "://" in str(target):
        raise InvalidValue(
            f"policy= restricts an engine in this process, not {target}; give the policy to the "
            "user whose credentials are used there"
        )
    return as_principal(policy)


def _restricted(transport: Local | Remote, principal: Principal | None) -> Local | Remote:
    if principal is None or isinstance(transport, Remote):
        return transport
    return Local(transport.engine, principal)


def _creates(transport: Local | Remote, create: bool | None) -> bool:
    """Return whether a missing table is created; by default only in this process."""
    return isinstance(transport, Local) if create is None else create


def _context(
    tables: tuple[type[Table], ...],
    table_name: str | None,
    secret: bytes | str | None,
    observe: Observer | None,
) -> Context:
    if not tables:
        raise InvalidValue("connect(target, …) takes at least one Table")
    names: dict[TableMap, str] = {}
    for table in tables:
        compiled = getattr(table, "__table__", None)
        if not isinstance(compiled, TableMap):
            raise InvalidValue(f"connect(target, …) takes subclasses of Table, not {table!r}")
        if not compiled.entities:
            raise DeclarationError(
                f"{table.__name__} has no entities; import the module that declares them"
            )
        names[compiled] = compiled.name
    if table_name is not None:
        if len(names) > 1:
            raise InvalidValue("table_name= takes one table; connect to each table separately")
        names = dict.fromkeys(names, table_name)
    if observe is not None and not callable(observe):
        raise InvalidValue(
            f"observe= takes one function, not {observe!r}; to call several, write one that calls "
            "each: def both(event): first(event); second(event)"
        )
    key = secret or os.environ.get(CURSOR_SECRET) or _PROCESS_SECRET
    secret_bytes = key.encode() if isinstance(key, str) else key
    return Context(names=names, secret=secret_bytes, observe=observe)


def _not_a_plan(plan: Any, expected: str) -> InvalidValue:
    if hasattr(plan, "__pattern__"):
        name = plan.__name__
        return InvalidValue(f"{name} is a pattern; call it and run its plan: {name}(…)")
    return InvalidValue(f"{expected}, not {plan!r}")


_RUN_TAKES = "run() takes a plan, such as Order.primary(…) or create(order)"
_ITERATE_TAKES = "iterate() takes a query, such as Order.by_status(…)"


def _needed(error: UnsupportedOperation, plan: Plan[Any]) -> UnsupportedOperation:
    if error.pattern:
        return error
    return UnsupportedOperation(error.operation, error.endpoint, plan._name)


class _Connection:
    """The common part of a synchronous and an asynchronous database."""

    def __init__(
        self,
        transport: Any,
        context: Context,
        tables: tuple[type[Table], ...],
        *,
        owned: bool = False,
    ) -> None:
        self._transport = transport
        self._context = context
        self._tables = tables
        self._owned = owned

    @property
    def table_names(self) -> Mapping[TableMap, str]:
        """The tables of this database, each with its name at the target."""
        return self._context.names

    def _context_with(self, clock: Callable[[], datetime] | None) -> Context:
        if clock is None:
            return self._context
        return msgspec.structs.replace(self._context, clock=clock)

    def for_tenant(self, **tenant: object) -> Self:
        """Return this database for one tenant; it refuses requests outside of its shards."""
        if self._context.tenant:
            raise InvalidValue(f"this database is already scoped to {self._context.tenant}")
        for table in self._tables:
            tenancy = table.__tenancy__
            if tenancy is not None and list(tenant) == [tenancy.tenant]:
                compiled = table.__table__
                name = self._context.names[compiled]
                guard = tenancy.guard(compiled, name, tenant[tenancy.tenant])
                context = msgspec.structs.replace(
                    self._context,
                    names={compiled: name},
                    tenant=guard.tenant,
                    filtered=frozenset(compiled.indexes),
                    guard=guard,
                )
                return type(self)(self._transport, context, (table,))
        given = ", ".join(f"{name}=…" for name in tenant)
        known = [f"{t.__tenancy__.tenant}=…" for t in self._tables if t.__tenancy__ is not None]
        raise InvalidValue(
            f"for_tenant({given}): "
            + (
                f"use for_tenant({' or '.join(known)})"
                if known
                else "no table of this database declares a Tenancy"
            )
        )

    def _set_unready(self, table: TableMap, unready: Unready) -> None:
        """Keep which indexes of a table cannot be read."""
        found = self._context.unready
        if unready and found is None:
            self._context = msgspec.structs.replace(self._context, unready={table: unready})
        elif unready and found is not None:
            found[table] = unready
        elif found is not None:
            found.pop(table, None)

    def _unready_tables(self) -> list[tuple[TableMap, Unready]]:
        """Return the tables of this database that have indexes that cannot be read."""
        unready = dict(self._context.unready or {})
        return [(table, unready[table]) for table in self._context.names if table in unready]

    def _unscoped_context(self) -> Context:
        """Return the context without the guard of a tenant."""
        return msgspec.structs.replace(self._context, guard=None)

    def __repr__(self) -> str:
        names = ", ".join(self._context.names.values())
        scope = f", {self._context.tenant}" if self._context.tenant else ""
        return f"{type(self).__name__}({names}{scope})"


class Database(_Connection, Streams):
    """Runs plans and waits for their results."""

    _transport: Transport

    @property
    def transport(self) -> Transport:
        """What sends the requests of this database; it is not limited to a tenant."""
        return self._transport

    def through(
        self, transport: Transport, *, clock: Callable[[], datetime] | None = None
    ) -> Database:
        """Return this database with another transport, for example one that wraps its own.

        Tables, tenant, cursors and observer are the same. `clock` returns the time of writes, if it
        is not the current one. Closing the returned database does not close the transport.
        """
        return Database(transport, self._context_with(clock), self._tables)

    def run(self, plan: Plan[T]) -> T:
        """Run a plan and return its result."""
        if not isinstance(plan, Plan):
            raise _not_a_plan(plan, _RUN_TAKES)
        try:
            return run(plan, self._context, self._transport.send)
        except UnsupportedOperation as error:
            raise _needed(error, plan) from None
        except (IndexNotReady, UniqueNotReady):  # it may have become ready since it was looked up
            context, send = self._unscoped_context(), self._transport.send
            for table, known in self._unready_tables():
                self._set_unready(table, run(FindUnready(table, known), context, send))
        return run(plan, self._context, self._transport.send)

    def iterate(self, plan: Query[T]) -> Iterator[T]:
        """Yield every result of a query, page by page, up to its limit.

        Raise UnreadableItem at an item that does not match its entity, after the results before it.
        """
        if not isinstance(plan, Query):
            raise _not_a_plan(plan, _ITERATE_TAKES)
        while True:
            try:
                page = self.run(plan)
            except UnreadableItem as error:
                yield from error.results
                raise
            yield from page
            if page.next_cursor is None:
                return
            plan = plan.after(page.next_cursor)

    def transaction(self) -> TransactionBlock:
        """Collect writes in a `with` block; all or none are applied when it ends."""
        return TransactionBlock(self)

    def close(self) -> None:
        """Close the target, unless it was opened by the caller."""
        if self._owned:
            self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncDatabase(_Connection, AsyncStreams):
    """Runs plans in an event loop."""

    _transport: AsyncTransport

    @property
    def transport(self) -> AsyncTransport:
        """What sends the requests of this database; it is not limited to a tenant."""
        return self._transport

    def through(
        self, transport: AsyncTransport, *, clock: Callable[[], datetime] | None = None
    ) -> AsyncDatabase:
        """Return this database with another transport; see `Database.through`."""
        return AsyncDatabase(transport, self._context_with(clock), self._tables)

    def blocking(self) -> Database:
        """Return this database for code without `await`, on the same target."""
        transport: Any = self._transport  # both kinds of transport can be used in both ways
        return Database(transport, self._context, self._tables)

    async def run(self, plan: Plan[T]) -> T:
        """Run a plan and return its result."""
        if not isinstance(plan, Plan):
            raise _not_a_plan(plan, _RUN_TAKES)
        try:
            return await run_async(plan, self._context, self._transport.send_async)
        except UnsupportedOperation as error:
            raise _needed(error, plan) from None
        except (IndexNotReady, UniqueNotReady):  # it may have become ready since it was looked up
            context, send = self._unscoped_context(), self._transport.send_async
            for table, known in self._unready_tables():
                found = await run_async(FindUnready(table, known), context, send)
                self._set_unready(table, found)
        return await run_async(plan, self._context, self._transport.send_async)

    async def iterate(self, plan: Query[T]) -> AsyncIterator[T]:
        """Yield every result of a query, page by page, up to its limit.

        Raise UnreadableItem at an item that does not match its entity, after the results before it.
        """
        if not isinstance(plan, Query):
            raise _not_a_plan(plan, _ITERATE_TAKES)
        while True:
            try:
                page = await self.run(plan)
            except UnreadableItem as error:
                for result in error.results:
                    yield result
                raise
            for result in page:
                yield result
            if page.next_cursor is None:
                return
            plan = plan.after(page.next_cursor)

    def transaction(self) -> AsyncTransactionBlock:
        """Collect writes in an `async with` block; all or none are applied when it ends."""
        return AsyncTransactionBlock(self)

    async def close(self) -> None:
        """Close the target, unless it was opened by the caller."""
        if self._owned:
            await self._transport.close_async()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class _Writes:
    def __init__(self) -> None:
        self._writes: list[Write[Any]] = []

    def add(self, *writes: Write[Any]) -> None:
        """Add writes; they are applied when the block ends."""
        self._writes += writes


class TransactionBlock(_Writes):
    """`with db.transaction() as tx: tx.add(create(order), …)`: all or nothing."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._writes:
            self._database.run(transact(*self._writes))


class AsyncTransactionBlock(_Writes):
    """`async with db.transaction() as tx: tx.add(create(order), …)`: all or nothing."""

    def __init__(self, database: AsyncDatabase) -> None:
        super().__init__()
        self._database = database

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._writes:
            await self._database.run(transact(*self._writes))
