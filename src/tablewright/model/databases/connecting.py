"""Connecting: open a target, and create or check the tables of a design there.

    db = connect("shop.db", Shop)                             a Database
    async with connect_async("shop.db", Shop) as db: ...     opens it, closes it at the end
    db = await connect_async("shop.db", Shop)                 opens it; close it with db.close()

Invariant: a database is returned only if its tables are as declared. If they are not, or on any
other error, a target that was opened here is closed again.

A program imports this module with its model, and may never connect. So databases, their plans and
transports are imported by the first call.
"""

from __future__ import annotations

import os
from collections.abc import Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.limits import SWEEP_SECONDS
from tablewright.mapping.table import TableMap
from tablewright.model.table import Table
from tablewright.plan.plan import Context
from tablewright.plan.request_events import Observer
from tablewright.transport.targets import Local, open_target

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.model.databases.database import AnyDatabase, AsyncDatabase, Database
    from tablewright.model.databases.provision import Provision
    from tablewright.policy import Documents, Principal
    from tablewright.storage import Durability
    from tablewright.transport.call_limits import CallLimits
    from tablewright.transport.remote import Remote

#: What `connect` can open.
Target: TypeAlias = "str | Path | Engine | Remote"

#: The environment variable with the secret of cursors, which several processes can share.
CURSOR_SECRET = "TABLEWRIGHT_CURSOR_SECRET"
#: The secret of the cursors of this process, if none is given.
_PROCESS_SECRET = os.urandom(32)


def connect(
    target: Target,
    *tables: type[Table],
    create: bool | None = None,
    update: bool = False,
    table_name: str | None = None,
    cursor_secret: bytes | str | None = None,
    durability: Durability = "full",
    sweep_seconds: float | None = SWEEP_SECONDS,
    observe: Observer | None = None,
    policy: Documents | Principal | None = None,
    timeout: float | None = None,
    max_attempts: int | None = None,
    moves_to: Target | None = None,
) -> Database:
    """Open a database.

    The target is `":memory:"`, the path of a file, an open `Engine`, `"dynamodb://eu-west-1"`, the
    URL of an endpoint with DynamoDB's protocol, or a `Remote` transport with its own timeouts.

    A missing table is created in memory and in a file; elsewhere only with `create=True`. A table
    that differs from its declaration raises TableMismatch, which lists the differences. Global
    indexes, TTL and a stream that it lacks are added only with `update=True`, which can take hours
    on AWS. Nothing else is changed, but expired items are deleted once TTL is enabled. Declared
    keys that differ from the stored ones raise DesignMismatch.

    `table_name` replaces the declared name of the table at the target. Cursors are
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

    `timeout` is the number of seconds for a whole call, such as `run`, with its retries;
    `max_attempts` says how often a request is sent, with the first time. By default a call has no
    limit, and a request over the network has 4 attempts, of 35 s at most. A call that has no time
    left raises EndpointUnavailable. Both can be given to `run`, too. They apply to `connect`
    itself, unless it creates or changes tables.

    `moves_to` is the target that the tables are to be moved to, or were moved to, by `migrate apply
    DESIGN TARGET DESTINATION`; for another name, the same target. The records of the tables say
    where the items are, so the program continues during the move, and after it.
    """
    from tablewright.model.databases.database import Database

    context = _context(tables, table_name, cursor_secret, observe, timeout, max_attempts)
    principal = _principal(policy, target)
    transport, owned = _transport(target, moves_to, context, principal, durability, sweep_seconds)
    database = Database(transport, _unlimited(context, create, update), tables, owned=owned)
    try:
        plans = _provisions(database, create, update=update)
        database._set_provided({each.table: database.run(each) for each in plans})
    except BaseException:
        database.close()
        raise
    _restrict(database, principal, context.limits)
    return database


def connect_async(
    target: Target,
    *tables: type[Table],
    create: bool | None = None,
    update: bool = False,
    table_name: str | None = None,
    cursor_secret: bytes | str | None = None,
    durability: Durability = "full",
    sweep_seconds: float | None = SWEEP_SECONDS,
    observe: Observer | None = None,
    policy: Documents | Principal | None = None,
    timeout: float | None = None,
    max_attempts: int | None = None,
    moves_to: Target | None = None,
) -> Connecting[AsyncDatabase]:
    """Open a database for use in an event loop; see `connect` for the parameters.

    Use `async with connect_async(…) as db`, which closes it at the end, or
    `db = await connect_async(…)`. The call alone opens nothing.
    """

    async def open_database() -> AsyncDatabase:
        from tablewright.model.databases.database import AsyncDatabase

        context = _context(tables, table_name, cursor_secret, observe, timeout, max_attempts)
        principal = _principal(policy, target)
        transport, owned = _transport(
            target, moves_to, context, principal, durability, sweep_seconds
        )
        opening = _unlimited(context, create, update)
        database = AsyncDatabase(transport, opening, tables, owned=owned)
        try:
            plans = _provisions(database, create, update=update)
            database._set_provided({each.table: await database.run(each) for each in plans})
        except BaseException:
            await database.close()
            raise
        _restrict(database, principal, context.limits)
        return database

    return Connecting(open_database())


#: The type of the database.
D = TypeVar("D", bound=AbstractAsyncContextManager[Any])


class Connecting(Coroutine[Any, Any, D], Generic[D]):
    """A database to be opened by `await` or `async with`.

    It is a coroutine, so `asyncio.run`, `create_task` and `gather` take it as well. Like a
    coroutine it can be used once, and Python warns if it is never used.
    """

    __slots__ = ("_database", "_opening")

    def __init__(self, opening: Coroutine[Any, Any, D]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, Any, D]:
        return self._opening.__await__()

    async def __aenter__(self) -> D:
        self._database = await self._opening
        return self._database

    async def __aexit__(self, *error: Any) -> None:
        await self._database.__aexit__(*error)

    def send(self, value: Any) -> Any:
        return self._opening.send(value)

    def throw(self, *error: Any) -> Any:
        return self._opening.throw(*error)

    def close(self) -> None:
        self._opening.close()


def open_transport(
    target: Any, durability: Durability = "full", sweep_seconds: float | None = None
) -> tuple[Local | Remote, bool]:
    """Return the transport to a target, and whether the database closes it."""
    transport = open_target(target, durability=durability, sweep_seconds=sweep_seconds)
    return transport, isinstance(target, (str, Path))


def _transport(
    target: Target,
    moves_to: Target | None,
    context: Context,
    principal: Principal | None,
    durability: Durability,
    sweep_seconds: float | None,
) -> tuple[Any, bool]:
    """Return the transport of a database, and whether the database closes it."""
    if moves_to is not None and principal is not None:
        raise InvalidValue("policy= and moves_to= cannot be used together")
    transport, owned = open_transport(target, durability, sweep_seconds)
    if moves_to is None:
        return transport, owned

    from tablewright.model.databases.following import FollowingTransport

    def open_other() -> tuple[Local | Remote, bool]:
        if moves_to == target:
            return transport, False
        return open_transport(moves_to, durability, sweep_seconds)

    return FollowingTransport(transport, open_other, context.names, owned=owned), True


def _provisions(database: AnyDatabase, create: bool | None, *, update: bool) -> list[Provision]:
    """Return the plans that create or check the tables.

    By default, a missing table is created only in this process.
    """
    from tablewright.model.databases.provision import Provision

    creates = isinstance(database._transport, Local) if create is None else create
    return [Provision(table, create=creates, update=update) for table in database.table_names]


def _unlimited(context: Context, create: bool | None, update: bool) -> Context:
    """Return the context for opening a database: to create tables may take minutes."""
    return replace(context, limits=None) if create or update else context


def _restrict(
    database: AnyDatabase, principal: Principal | None, limits: CallLimits | None
) -> None:
    """Apply the policies of a principal, and the limits, to the calls of a database."""
    database._context = replace(database._context, limits=limits)
    transport = database._transport
    if principal is not None and isinstance(transport, Local):
        database._transport = Local(transport.engine, principal)


def _principal(policy: Documents | Principal | None, target: object) -> Principal | None:
    if policy is None:
        return None
    from tablewright.policy import as_principal
    from tablewright.transport.remote import Remote

    if isinstance(target, Remote) or "://" in str(target):
        raise InvalidValue(
            f"policy= restricts an engine in this process, not {target}; give the policy to the "
            "user whose credentials are used there"
        )
    return as_principal(policy)


def _context(
    tables: tuple[type[Table], ...],
    table_name: str | None,
    secret: bytes | str | None,
    observe: Observer | None,
    timeout: float | None,
    max_attempts: int | None,
) -> Context:
    from tablewright.transport.call_limits import CallLimits

    if not tables:
        raise InvalidValue(
            "connect(target, …) takes at least one Table: pass the classes of your tables"
        )
    names: dict[TableMap, str] = {}
    for table in tables:
        compiled = getattr(table, "__table__", None)
        if not isinstance(compiled, TableMap):
            raise InvalidValue(f"connect(target, …) takes subclasses of Table, not {table!r}")
        if not compiled.entities:
            raise DeclarationError(
                f"{table.__name__} has no entities; import the module that declares them"
            )
        for awaited in compiled.awaited_links:
            raise DeclarationError(awaited.problem)
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
    limits = CallLimits.of(timeout, max_attempts)
    return Context(names=names, secret=secret_bytes, observe=observe, limits=limits)
