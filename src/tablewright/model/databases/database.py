"""Databases: run plans against an open target.

db = connect("commerce.db", Commerce)         # see `connecting`
db.run(plan)                                  # the plan's result
for order in db.iterate(plan): ...            # all results of a query, page by page
db.for_tenant(user_id="u1")                   # a database that is limited to one tenant
db.through(Recorder(db.transport))            # the same tables, with another transport

async with connect_async("commerce.db", Commerce) as adb:
    await adb.run(plan)                       # the same plans
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, Self, TypeVar

import msgspec

from tablewright.errors import (
    IndexNotReady,
    InvalidValue,
    UniqueNotReady,
    UnreadableItem,
    UnsupportedOperation,
)
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import FindUnready, Provided
from tablewright.model.databases.stream_events import AsyncStreams, Streams
from tablewright.model.table import Table
from tablewright.plan.migration.admission import ProgramWatch
from tablewright.plan.plan import Context, Plan, Unready, run, run_async
from tablewright.plan.reads.query import Query
from tablewright.plan.writes.several import transact
from tablewright.plan.writes.write import Write
from tablewright.transport import AsyncTransport, Transport
from tablewright.transport.call_limits import UNLIMITED, CallLimits, limited

T = TypeVar("T")
D = TypeVar("D")


def _not_a_plan(plan: Any, expected: str) -> InvalidValue:
    if hasattr(plan, "__pattern__"):
        name = plan.__name__
        return InvalidValue(f"{name} is a pattern; call it and run its plan: {name}(…)")
    return InvalidValue(f"{expected}, not {plan!r}")


_RUN_TAKES = "run() takes a plan, such as Order.primary(…) or create(order)"
_ITERATE_TAKES = "iterate() takes a query, such as Order.by_status(…)"


def _require_pages(plan: Any) -> None:
    """Raise unless `iterate` can read all pages of a plan."""
    if not isinstance(plan, Query):
        raise _not_a_plan(plan, _ITERATE_TAKES)
    if plan._before is not None:
        raise InvalidValue("iterate() reads forward; leave before() out, or run page by page")


def _needed(error: UnsupportedOperation, plan: Plan[Any]) -> UnsupportedOperation:
    if error.pattern:
        return error
    return UnsupportedOperation(error.operation, error.endpoint, plan._name)


class AnyDatabase:
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
        #: Whether `close` closes the transport.
        self._owned = owned

    @property
    def table_names(self) -> Mapping[TableMap, str]:
        """The tables of this database, each with its name at the target."""
        return self._context.names

    def _context_with(self, clock: Callable[[], datetime] | None) -> Context:
        if clock is None:
            return self._context
        return msgspec.structs.replace(self._context, clock=clock)

    def _call_context(self, timeout: float | None, max_attempts: int | None) -> Context:
        """Return the context of a call that starts now, with its limits."""
        given, known = CallLimits.of(timeout, max_attempts), self._context.limits
        if given is None and known is None:
            return self._context
        return msgspec.structs.replace(self._context, limits=(known or UNLIMITED).started(given))

    def for_tenant(self, **tenant: object) -> Self:
        """Return this database for one tenant; it refuses requests outside the tenant's shards."""
        if self._context.tenant:
            raise InvalidValue(
                f"this database is already scoped to {self._context.tenant}; call for_tenant(…) on "
                "the database that connect(…) returned"
            )
        for table in self._tables:
            tenancy = table.__tenancy__
            if tenancy is not None and list(tenant) == [tenancy.tenant]:
                compiled = table.__table__
                name = self._context.names[compiled]
                check = tenancy.tenant_check(compiled, name, tenant[tenancy.tenant])
                context = msgspec.structs.replace(
                    self._context,
                    names={compiled: name},
                    tenant=check.tenant,
                    filtered=frozenset(compiled.indexes),
                    tenant_check=check,
                )
                return type(self)(self._transport, context, (table,))
        given = ", ".join(f"{name}=…" for name in tenant)
        known = [f"{t.__tenancy__.tenant}=…" for t in self._tables if t.__tenancy__ is not None]
        fix = "no table of this database declares a Tenancy; declare tenancy = Tenancy(…) in one"
        if known:
            fix = f"use for_tenant({' or '.join(known)})"
        raise InvalidValue(f"for_tenant({given}): {fix}")

    def _set_provided(self, tables: Mapping[TableMap, Provided]) -> None:
        """Record what was found when the tables were opened."""
        watch = ProgramWatch()
        for table, found in tables.items():
            self._set_unready(table, found.unready)
            if found.revision is not None:
                watch.add(table, self._context.names[table], found.revision)
                self._context = msgspec.structs.replace(self._context, watch=watch)

    def _set_unready(self, table: TableMap, unready: Unready) -> None:
        """Record which indexes of a table cannot be read."""
        found = self._context.unready
        if unready and found is None:
            self._context = msgspec.structs.replace(self._context, unready={table: unready})
        elif unready and found is not None:
            found[table] = unready
        elif found is not None:
            found.pop(table, None)
            if self._context.watch is not None:
                self._context.watch.rely_on(table)

    def _unready_tables(self) -> list[tuple[TableMap, Unready]]:
        """Return the tables with indexes that cannot be read yet."""
        unready = dict(self._context.unready or {})
        return [(table, unready[table]) for table in self._context.names if table in unready]

    def _unscoped_context(self) -> Context:
        """Return the context without the check of a tenant, and for requests to records."""
        return msgspec.structs.replace(self._context, tenant_check=None, watch=None)

    def __repr__(self) -> str:
        names = ", ".join(self._context.names.values())
        scope = f", {self._context.tenant}" if self._context.tenant else ""
        return f"{type(self).__name__}({names}{scope})"


class Database(AnyDatabase, Streams):
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

        Tables, tenant, cursors and observer stay the same. `clock` replaces the current time in
        writes. Closing the returned database does not close the transport.
        """
        return Database(transport, self._context_with(clock), self._tables)

    def run(
        self, plan: Plan[T], *, timeout: float | None = None, max_attempts: int | None = None
    ) -> T:
        """Run a plan and return its result; the limits replace those of `connect`."""
        if not isinstance(plan, Plan):
            raise _not_a_plan(plan, _RUN_TAKES)
        context = self._call_context(timeout, max_attempts)
        send = limited(self._transport, self._transport.send, context.limits)
        try:
            return run(plan, context, send)
        except UnsupportedOperation as error:
            raise _needed(error, plan) from None
        except (IndexNotReady, UniqueNotReady):  # it may have become ready since it was looked up
            unscoped = self._unscoped_context()
            for table, known in self._unready_tables():
                self._set_unready(table, run(FindUnready(table, known), unscoped, send))
        context = msgspec.structs.replace(self._context, limits=context.limits)
        return run(plan, context, send)

    def iterate(self, plan: Query[T]) -> Iterator[T]:
        """Yield every result of a query, page by page, up to its limit; each page is a call.

        Raise UnreadableItem at an item that does not match its entity, after the results before it.
        """
        _require_pages(plan)
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

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncDatabase(AnyDatabase, AsyncStreams):
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

    async def run(
        self,
        plan: Plan[T],
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # of a whole call, with its retries
        max_attempts: int | None = None,
    ) -> T:
        """Run a plan and return its result; the limits replace those of `connect`."""
        if not isinstance(plan, Plan):
            raise _not_a_plan(plan, _RUN_TAKES)
        context = self._call_context(timeout, max_attempts)
        send = limited(self._transport, self._transport.send_async, context.limits)
        try:
            return await run_async(plan, context, send)
        except UnsupportedOperation as error:
            raise _needed(error, plan) from None
        except (IndexNotReady, UniqueNotReady):  # it may have become ready since it was looked up
            unscoped = self._unscoped_context()
            for table, known in self._unready_tables():
                self._set_unready(table, await run_async(FindUnready(table, known), unscoped, send))
        context = msgspec.structs.replace(self._context, limits=context.limits)
        return await run_async(plan, context, send)

    async def iterate(self, plan: Query[T]) -> AsyncIterator[T]:
        """Yield every result of a query, page by page, up to its limit; each page is a call.

        Raise UnreadableItem at an item that does not match its entity, after the results before it.
        """
        _require_pages(plan)
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

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Writes(Generic[D]):
    """The writes of a transaction, and the database that runs it."""

    def __init__(self, database: D) -> None:
        self._database = database
        self._writes: list[Write[Any]] = []

    def add(self, *writes: Write[Any]) -> None:
        """Add writes; they are applied when the block ends."""
        self._writes += writes


class TransactionBlock(_Writes[Database]):
    """`with db.transaction() as tx: tx.add(create(order), …)`: all or nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._writes:
            self._database.run(transact(*self._writes))


class AsyncTransactionBlock(_Writes[AsyncDatabase]):
    """`async with db.transaction() as tx: tx.add(create(order), …)`: all or nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._writes:
            await self._database.run(transact(*self._writes))
