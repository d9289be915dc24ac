"""Databases and pages: dependencies of endpoints.

    app = FastAPI(lifespan=lifespan("tracker.db", Tracker))

    async def list_issues(db: DatabaseDep, page: Paging) -> Page[Issue]:
        return await db.run(page.apply(open_issues()))

    def count_issues(db: SyncDatabaseDep) -> int: ...

    OrgDatabase = Annotated[AsyncDatabase, Depends(tenant_database(org_id=current_org))]

The database is opened when the application starts. The lifespan adds it to its state, so each
request has it, also those of mounted applications. Each process of a server opens its own.

`Paging` has the query parameters `limit` and `cursor`. A response is `{"items": […], "next_cursor":
"…" | null}`. A cursor is opaque and can be in a URL.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import Annotated, Any, ParamSpec, Protocol, Self, TypeAlias, TypeVar

from fastapi import Depends, FastAPI, Query
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


class _Paged(Protocol):
    """A plan with pages: a query, or an aggregate with a page of members."""

    def page_size(self, size: int, /) -> Self: ...
    def after(self, cursor: str | None, /) -> Self: ...


Plan = TypeVar("Plan", bound=_Paged)


@dataclass(frozen=True)
class PageParams:
    """The page that a client requests."""

    limit: int
    cursor: str | None = None

    def apply(self, plan: Plan) -> Plan:
        """Return the plan of this page."""
        return plan.page_size(self.limit).after(self.cursor)


def page_params(*, default: int = 20, maximum: int = 100) -> Callable[..., Any]:
    """Return a dependency with another page size: `Depends(page_params(maximum=500))`."""
    size: Any = Query(default, ge=1, le=maximum, description="The number of items on a page.")
    start: Any = Query(None, description="The `next_cursor` of the page before.")

    async def get_page_params(limit: int = size, cursor: str | None = start) -> PageParams:
        return PageParams(limit, cursor)

    return get_page_params


#: Pages of 20 items, or of 1 to 100 if the client says so.
Paging: TypeAlias = Annotated[PageParams, Depends(page_params())]
