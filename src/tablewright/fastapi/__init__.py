"""FastAPI: databases as dependencies, errors as problem details, ETags and pages.

    app = FastAPI(lifespan=lifespan("tracker.db", Tracker))
    add_exception_handlers(app)

    @app.get("/issues/{number}")
    async def get_issue(number: int, db: DatabaseDep, etag: ETag) -> Issue:
        return etag.set(found(await db.run(issue(number))))

Modules:

    databases   `lifespan`, the dependencies that return the database or one of a tenant, and
                `Paging`: the query parameters `limit` and `cursor`
    problems    exceptions as RFC 9457 problem details, in responses and in OpenAPI
    etags       `ETag` and `IfMatch`: conditional requests, based on versions
    requests    a limit for bodies, and an id for each request
    changes     what changes in the results of a query, as server-sent events
    document    what the OpenAPI document says: requests, links, examples
    parameters  the types of arguments, with the limits of their pattern
    endpoints   the function that FastAPI calls for a request to an access pattern
    callers     `ApiKeys`: who sends a request, by a key; claims and scopes
    hidden      attributes that no response contains
    tokens      `Tokens`: who sends a request, by a JSON Web Token; imported from there
    application `create_app`, `pattern_router`: an HTTP API whose operations are access patterns

The package needs FastAPI: `pip install 'tablewright[fastapi]'`. It must not know any design, and
adds no route to an application that it was not asked for.
"""

from __future__ import annotations

try:
    import fastapi as _  # noqa: F401  # the modules below need it
except ModuleNotFoundError as error:
    if error.name != "fastapi":
        raise
    raise ModuleNotFoundError(
        "tablewright.fastapi needs FastAPI: pip install 'tablewright[fastapi]'", name="fastapi"
    ) from None

from tablewright.fastapi.application import create_app, pattern_router
from tablewright.fastapi.callers import ApiKeys
from tablewright.fastapi.databases import (
    DatabaseDep,
    PageParams,
    Paging,
    SyncDatabaseDep,
    get_database,
    get_sync_database,
    lifespan,
    page_params,
    tenant_database,
)
from tablewright.fastapi.etags import ETag, IfMatch
from tablewright.fastapi.problems import Problem, add_exception_handlers, found
from tablewright.fastapi.requests import RequestMiddleware

__all__ = [
    "ApiKeys",
    "DatabaseDep",
    "ETag",
    "IfMatch",
    "PageParams",
    "Paging",
    "Problem",
    "RequestMiddleware",
    "SyncDatabaseDep",
    "add_exception_handlers",
    "create_app",
    "found",
    "get_database",
    "get_sync_database",
    "lifespan",
    "page_params",
    "pattern_router",
    "tenant_database",
]
