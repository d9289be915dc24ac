"""Applications: an HTTP API whose operations are access patterns.

    app = create_app("shop.db", Shop)                                 those that declare a route
    app = create_app("shop.db", Shop, patterns=[orders_by_status])    these
    own.include_router(pattern_router([orders_by_status]))            in an application of your own

Invariants: a pattern is exposed only if it declares a route or is listed. What is exposed is a
GetItem, a Query or a write by key, never a scan. With `tenant`, every request runs in the database
of the caller's tenant, and the tenant is no part of a path, a query or a body.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from msgspec.structs import replace
from starlette.middleware.cors import CORSMiddleware

from tablewright.errors import DeclarationError, TablewrightError
from tablewright.fastapi.callers import Callers
from tablewright.fastapi.changes import LAST_EVENT_ID, endpoint_of_changes
from tablewright.fastapi.databases import DatabaseDep, lifespan
from tablewright.fastapi.document import describe, examples_of, links_of
from tablewright.fastapi.endpoints import (
    Exposed,
    can_be_create_only,
    endpoint_of,
    is_guarded,
    is_tagged_read,
)
from tablewright.fastapi.etags import IF_NONE_MATCH, REQUIRED_IF_MATCH
from tablewright.fastapi.hidden import hidden_of
from tablewright.fastapi.idempotency import PARAMETER
from tablewright.fastapi.problems import add_exception_handlers
from tablewright.fastapi.requests import MAX_BODY, RequestMiddleware
from tablewright.mapping.entity import EntityMap
from tablewright.model.databases.connecting import Target
from tablewright.model.entity import Entity
from tablewright.model.http_operation import operation_of
from tablewright.model.pattern import traced_pattern
from tablewright.model.route import METHODS, Route, route_of, same_place, without_parameter
from tablewright.model.table import Table
from tablewright.plan.migration.revision import record_request
from tablewright.plan.plan import Plan
from tablewright.plan.reads.get import Get
from tablewright.plan.writes.delete import Delete
from tablewright.plans import AccessPattern, access_patterns

logger = logging.getLogger("tablewright.fastapi")

#: A function decorated with `@access_pattern`, or what is known of one.
Pattern = Callable[..., Plan[Any]] | AccessPattern
#: The name of a tenancy, and a dependency of FastAPI that returns the id of the caller's tenant.
Tenant = Mapping[str, Callable[..., Any]]
#: The names of parameters that the API fills in, and dependencies that return their values.
Given = Mapping[str, Callable[..., Any]]
_NOTHING: Given = MappingProxyType({})

#: Returns the scope that the operation of a pattern needs; "" if it needs none.
Scope = Callable[[AccessPattern], str]

#: The headers that scripts of other origins may read.
_EXPOSED_HEADERS = ("ETag", "Link", "Location", "Retry-After", "X-Request-ID")


def create_app(
    target: Target,
    *tables: type[Table],
    patterns: Iterable[Pattern] | Mapping[str, Iterable[Pattern]] | None = None,
    tenant: Tenant | None = None,
    given: Given = _NOTHING,
    tokens: Callers | None = None,
    scope: Scope | None = None,
    dependencies: Sequence[Any] = (),
    require_if_match: bool = False,
    hidden: Sequence[object] = (),
    changes: Iterable[Pattern] = (),
    cors_origins: Sequence[str] = (),
    max_body: int = MAX_BODY,
    examples: Iterable[Entity] = (),
    title: str | None = None,
    version: str = "0.1.0",
    **options: Any,
) -> FastAPI:
    """Return an application whose operations are the access patterns of tables.

    `patterns` are those that are exposed; by default those that declare `route=`. A dict has the
    patterns below each prefix of paths, such as "/v1". The path, the method and the parameters of
    each follow from its declaration: see `pattern_router`. `tenant`, `given`, `tokens`, `scope`,
    `dependencies`, `require_if_match`, `hidden` and `changes` are those of the router.
    `cors_origins` may call the API from a browser. A body of more than `max_body` bytes is refused.
    `examples` are entities that the OpenAPI document shows. The other options are those of
    `connect_async`.

    Raise DeclarationError if no pattern is exposed.
    """
    if patterns is None:
        patterns = [each for table in tables for each in access_patterns(table) if each.route]
        if not patterns:
            names = ", ".join(table.__name__ for table in tables) or "no table"
            raise DeclarationError(
                f"no pattern of {names} declares a route, so the API would be empty; pass "
                "patterns=[…], or declare @access_pattern(route='GET /orders/{order_id}')"
            )
    app = FastAPI(
        title=title or ", ".join(table.__name__ for table in tables),
        version=version,
        lifespan=lifespan(target, *tables, **options),
    )
    add_exception_handlers(app)
    shown = list(examples)
    app.state.make_examples = lambda hidden: examples_of(shown, hidden)
    app.add_middleware(RequestMiddleware, max_body=max_body)
    if cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors_origins),
            allow_methods=list(METHODS),
            allow_headers=["*"],
            expose_headers=list(_EXPOSED_HEADERS),
        )
    below: Any = patterns if isinstance(patterns, Mapping) else {"": patterns}
    for prefix, each in below.items():
        router = pattern_router(
            each,
            tenant=tenant,
            given=given,
            tokens=tokens,
            scope=scope,
            dependencies=dependencies,
            require_if_match=require_if_match,
            hidden=hidden,
            prefix=prefix,
        )
        app.include_router(router)
    followed = pattern_router(
        (),
        tenant=tenant,
        given=given,
        tokens=tokens,
        scope=scope,
        dependencies=dependencies,
        hidden=hidden,
        changes=changes,
    )
    app.include_router(followed)
    app.include_router(health)
    return app


health = APIRouter(prefix="/health", tags=["health"])


@health.get("/live", operation_id="live")
async def _live() -> dict[str, str]:
    """The process runs."""
    return {"status": "ok"}


@health.get("/ready", operation_id="ready")
async def _ready(database: DatabaseDep) -> dict[str, str]:
    """The database responds to a read of one item of each table."""
    for table, name in database.table_names.items():
        request = record_request(table, name)
        try:
            await database.transport.send_async(request.operation, request.body)
        except TablewrightError as error:
            logger.warning("not ready: the table %s: %s", name, error)
            detail = {"code": "unavailable", "detail": "The database does not respond."}
            raise HTTPException(503, detail, headers={"Retry-After": "1"}) from error
    return {"status": "ok"}


def pattern_router(
    patterns: Iterable[Pattern],
    *,
    tenant: Tenant | None = None,
    given: Given = _NOTHING,
    tokens: Callers | None = None,
    scope: Scope | None = None,
    dependencies: Sequence[Any] = (),
    require_if_match: bool = False,
    hidden: Sequence[object] = (),
    changes: Iterable[Pattern] = (),
    prefix: str = "",
) -> APIRouter:
    """Return a router with one operation for each access pattern.

    A route is the one that the pattern declares, or its default: see `tablewright.model.route`. The
    id of an operation is the name of its pattern, behind the words of the prefix. With
    `tenant={"org_id": current_org}`, where current_org is a dependency that returns the id of the
    caller's tenant, this id is passed to the parameter `org_id`, which is not part of the API.
    `given={"author": current_user}` does so for other parameters, in the patterns that have them.
    With `tokens`, each operation needs a valid token, and the scope that `scope` returns for its
    pattern. `dependencies` run before each operation. With `require_if_match`, a write of an entity
    with a version needs If-Match, and is 428 without it. `hidden` are attributes that no response
    contains, such as `User.password`; requests can. `changes` are queries whose results a caller
    can follow, as server-sent events: see `tablewright.fastapi.changes`. The application must have
    the lifespan and the handlers of this package.

    Raise DeclarationError for patterns that cannot be exposed: a scan, two with the same route or
    the same name, or, with `tenant`, one that does not take the tenant.
    """
    before = "".join(f"{word}_" for word in re.findall(r"\w+", prefix))
    exposed = [
        replace(
            _expose(traced_pattern(each), tenant, given, before),
            requires_match=require_if_match,
            hidden=hidden_of(traced_pattern(each), hidden),
        )
        for each in patterns
    ]
    _refuse_doubled(exposed)
    if scope is not None and tokens is None:
        raise DeclarationError("scope=… needs tokens=…: a scope is one of a token")
    checks = [] if tokens is None else [Depends(tokens)]
    router = APIRouter(prefix=prefix, dependencies=[*checks, *dependencies])
    locations = _locations(exposed, prefix)
    # FastAPI takes the first route that matches, so a word comes before a parameter.
    for each in sorted(exposed, key=lambda one: _specificity(one.route)):
        needed = None if scope is None else scope(each.pattern)
        checks = [] if tokens is None or not needed else [Depends(tokens.require(needed))]
        links = links_of(each, exposed)
        _add_operation(router, each, locations, links, checks)
    for pattern in map(traced_pattern, changes):
        followed = replace(
            _expose(pattern, tenant, given, before), hidden=hidden_of(pattern, hidden)
        )
        needed = None if scope is None else scope(pattern)
        checks = [] if tokens is None or not needed else [Depends(tokens.require(needed))]
        _add_changes(router, followed, checks)
        _add_methods(router, f"{prefix}/changes{followed.route.path}", ["GET"], has_head=False)
    methods: dict[str, list[str]] = {}
    for each in exposed:
        methods.setdefault(each.route.path, []).append(each.route.method)
    for path, allowed in methods.items():
        _add_methods(router, prefix + path, allowed)
    return router


def _expose(pattern: AccessPattern, tenant: Tenant | None, given: Given, before: str) -> Exposed:
    if "Scan" in pattern.shape.operation:
        raise DeclarationError(
            f"pattern {pattern.name} scans a table, and an API must not; leave it out",
            location=pattern.location,
        )
    (name,) = tenant or ("",)
    if name and name not in pattern.types:
        raise DeclarationError(
            f"pattern {pattern.name} has no parameter {name!r}, to which the tenant of the caller "
            "is passed",
            location=pattern.location,
        )
    filled = {
        each: how for each, how in {**(tenant or {}), **given}.items() if each in pattern.types
    }
    route = route_of(pattern)
    for each in filled:
        route = without_parameter(route, each)
    operation = operation_of(pattern, route, given=filled)
    return Exposed(operation, before + pattern.name, filled, name)


def _refuse_doubled(exposed: Sequence[Exposed]) -> None:
    doubled = same_place((each.pattern.label, each.route) for each in exposed)
    if doubled is not None:
        one, other, route = doubled
        raise DeclarationError(
            f"{route} is the route of {one} and of {other}; declare another one for one of them: "
            "@access_pattern(route='…')"
        )
    names: dict[str, str] = {}
    for each in exposed:
        if names.setdefault(each.name, each.pattern.label) != each.pattern.label:
            raise DeclarationError(
                f"{names[each.name]} and {each.pattern.label} have the same name, which is the id "
                "of an operation; rename one, or put each into a router of its own"
            )


def _locations(exposed: Iterable[Exposed], prefix: str) -> dict[EntityMap, Route]:
    """Return the route that reads each entity by attributes that it has."""
    found: dict[EntityMap, Route] = {}
    for each in exposed:
        entity = each.entity
        if isinstance(each.pattern.plan, Get) and entity is not None:
            names = each.route.parameters
            shown = entity.attributes.keys() - each.hidden.get(entity.type, frozenset())
            if names and shown.issuperset(names):
                found.setdefault(entity, Route("GET", prefix + each.route.path))
    return found


def _specificity(route: Route) -> list[bool]:
    return [segment.startswith("{") for segment in route.path.split("/")]


def _add_operation(
    router: APIRouter,
    exposed: Exposed,
    locations: Mapping[EntityMap, Route],
    links: Mapping[str, Any],
    checks: Sequence[Any],
) -> None:
    pattern, plan = exposed.pattern, exposed.pattern.plan
    endpoint = endpoint_of(exposed, locations)
    is_delete, is_tagged = (
        isinstance(exposed.operation.plan, Delete),
        is_tagged_read(exposed.operation),
    )
    headers = [] if pattern.idempotency is None else [PARAMETER]
    if exposed.requires_match and is_guarded(plan):
        headers.append(REQUIRED_IF_MATCH | {"required": not can_be_create_only(plan)})
    if is_tagged:
        headers.append(IF_NONE_MATCH)
    first, _, rest = pattern.doc.partition("\n")
    settings: dict[str, Any] = {
        "operation_id": exposed.name,
        "dependencies": checks,
        "summary": first.strip().removesuffix(".") or exposed.name.replace("_", " ").capitalize(),
        "description": rest.strip() or None,
        "tags": [entity.name for entity in pattern.entities[:1]],
        "status_code": exposed.status,
        "responses": ({304: {"description": "The client has this version."}} if is_tagged else {})
        | ({exposed.status: {"links": links}} if links else {}),
        "response_model": None if is_delete else exposed.operation.result,
        "openapi_extra": {"x-tablewright": describe(pattern)}
        | ({"parameters": headers} if headers else {}),
    }
    router.add_api_route(exposed.route.path, endpoint, methods=[exposed.route.method], **settings)
    if exposed.route.method == "GET":
        router.add_api_route(
            exposed.route.path,
            endpoint,
            methods=["HEAD"],
            include_in_schema=False,
            dependencies=checks,
            response_model=settings["response_model"],
        )


def _add_changes(router: APIRouter, exposed: Exposed, checks: Sequence[Any]) -> None:
    router.add_api_route(
        f"/changes{exposed.route.path}",
        endpoint_of_changes(exposed),
        methods=["GET"],
        operation_id=f"{exposed.name}_changes",
        dependencies=checks,
        summary=f"Changes: {exposed.pattern.doc.partition('.')[0] or exposed.name}",
        tags=[entity.name for entity in exposed.pattern.entities[:1]],
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "Server-sent events: created, updated, deleted, reset.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        },
        openapi_extra={"x-tablewright": describe(exposed.pattern), "parameters": [LAST_EVENT_ID]},
    )


def _add_methods(
    router: APIRouter, path: str, methods: Sequence[str], *, has_head: bool = True
) -> None:
    """Answer OPTIONS, and refuse other methods, with all methods that a path has.

    Starlette alone would name those of one of its routes.
    """
    head = {"HEAD"} if "GET" in methods and has_head else set()
    allowed = sorted({*methods, "OPTIONS"} | head)
    headers = {"Allow": ", ".join(allowed)}
    if "PATCH" in methods:
        headers["Accept-Patch"] = "application/merge-patch+json, application/json"

    async def list_methods(_: Request) -> Response:
        return Response(status_code=204, headers=headers)

    async def refuse(request: Request) -> Response:
        raise HTTPException(405, headers=headers)

    router.add_route(path, list_methods, ["OPTIONS"], include_in_schema=False)
    others = [each for each in (*METHODS, "HEAD", "TRACE") if each not in allowed]
    if others:
        router.add_route(path, refuse, others, include_in_schema=False)
