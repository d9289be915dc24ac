"""Databases: opened when an application starts, and passed to its endpoints as dependencies.

    app = FastAPI(lifespan=lifespan("tracker.db", Tracker))

    async def get_issue(number: int, db: DatabaseDep) -> Issue: ...
    def count_issues(db: SyncDatabaseDep) -> int: ...

    OrgDatabase = Annotated[AsyncDatabase, Depends(tenant_database(org_id=current_org))]

The lifespan adds the database to its state, so each request has it, also those of mounted
applications. Each process of a server opens its own.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from multiprocessing import parent_process
from typing import Annotated, Any, ParamSpec, TypeAlias, TypeVar

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection

from tablewright.database import AsyncDatabase, Database
from tablewright.errors import InvalidValue
from tablewright.model.databases.connecting import CURSOR_SECRET, connect_async

logger = logging.getLogger("tablewright.fastapi")

P = ParamSpec("P")
R = TypeVar("R")

#: What `FastAPI(lifespan=…)` takes.
Lifespan: TypeAlias = Callable[[FastAPI], AbstractAsyncContextManager[Mapping[str, Any]]]

#: The database in the state of a request.
_STATE = "tablewright_database"


def _with_parameters_of(_: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Declare that a function has the parameters of another one."""
    return lambda function: function


@_with_parameters_of(connect_async)
def lifespan(*arguments: Any, **options: Any) -> Lifespan:
    """Return a lifespan that opens a database; the parameters are those of `connect_async`.

    A lifespan of your own can enter it: `async with lifespan(…)(app) as state: yield state`.
    """

    @asynccontextmanager
    async def opened(_: FastAPI) -> AsyncIterator[Mapping[str, Any]]:
        if not options.get("cursor_secret"):
            _warn_of_other_workers()
        async with connect_async(*arguments, **options) as database:
            yield {_STATE: database}

    return opened


def _warn_of_other_workers() -> None:
    """Warn if cursors have a secret of this process, and it may be one of several workers.

    The workers of uvicorn are processes of `multiprocessing`; the number of those of gunicorn and
    others is in WEB_CONCURRENCY.
    """
    if os.environ.get(CURSOR_SECRET):
        return
    if parent_process() is not None or os.environ.get("WEB_CONCURRENCY", "1") not in ("", "1"):
        logger.warning(
            "this process may be one of several workers, and its cursors are valid in no other "
            "one: set %s to the same secret for all workers, or pass cursor_secret=… to lifespan()",
            CURSOR_SECRET,
        )


async def get_database(connection: HTTPConnection) -> AsyncDatabase:
    """Return the database of the lifespan; tests can override this dependency."""
    database = getattr(connection.state, _STATE, None)
    if not isinstance(database, AsyncDatabase):
        raise RuntimeError(
            "no database is open: create the application with FastAPI(lifespan=lifespan(target, "
            "…)), and in tests enter the client: with TestClient(app) as client"
        )
    return database


#: The database, for `async def` endpoints.
DatabaseDep: TypeAlias = Annotated[AsyncDatabase, Depends(get_database)]


async def get_sync_database(database: DatabaseDep) -> Database:
    """Return the database of the lifespan for code without `await`, on the same target."""
    return database.blocking()


#: The database, for `def` endpoints, which FastAPI runs in threads.
SyncDatabaseDep: TypeAlias = Annotated[Database, Depends(get_sync_database)]


def tenant_database(**tenant: Callable[..., object]) -> Callable[..., Any]:
    """Return a dependency that returns the database of one tenant.

    `tenant_database(org_id=current_org)`: the name is that of the `Tenancy`, the value is a
    dependency that returns the tenant's id.
    """
    if len(tenant) != 1:
        raise InvalidValue(
            "tenant_database() takes one dependency, by the name of the tenancy: "
            "tenant_database(org_id=current_org)"
        )
    ((name, dependency),) = tenant.items()
    identity: Any = Depends(dependency)

    async def get_tenant_database(
        database: DatabaseDep, tenant_id: Any = identity
    ) -> AsyncDatabase:
        return database.for_tenant(**{name: tenant_id})

    return get_tenant_database
