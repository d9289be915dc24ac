"""Endpoints: the function that FastAPI calls for a request to an access pattern.

    request ──path, query, body──▶ arguments ──pattern──▶ plan ──page, If-Match──▶ db.run ──▶ response

    what the plan returns        the response
    an entity, an aggregate      200, with the ETag of its version or content; 404 if there is none
    a page                       200, `{"items": […], "next_cursor": …}`, with a Link to the next one
    what it creates              201, with its Location if a route reads it by its attributes;
                                 of a transaction that only creates, a list, without a Location
    what it deletes              204; 404 if there was none
    anything else                200, as JSON

The signature of an endpoint is made from the parameters of its pattern, so that FastAPI validates
them and describes them in the OpenAPI schema. An endpoint runs what the pattern returns, and
nothing else: its requests are those that `explain` shows.
"""  # noqa: E501 - the way of a request reads better on one line

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import pydantic
from fastapi import Body, Depends, Path, Query, Request, Response
from msgspec import Struct

from tablewright.fastapi.databases import Paging, get_database
from tablewright.fastapi.etags import (
    CreatedETag,
    CreateOnly,
    IfMatch,
    RequiredIfMatch,
    WritePrecondition,
    read_precondition,
)
from tablewright.fastapi.hidden import MEMBER, Hidden, dump_without
from tablewright.fastapi.idempotency import ResponseRecorder, json_response
from tablewright.fastapi.parameters import stated_type
from tablewright.fastapi.problems import found
from tablewright.mapping.entity import EntityMap
from tablewright.model.http_operation import HttpOperation
from tablewright.model.route import Route
from tablewright.plan.inspection import (
    conditions_of,
    create_only,
    entity_of,
    has_page_size,
    writes_of,
)
from tablewright.plan.plan import Plan
from tablewright.plan.reads.include import PAGED
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.query import Query as QueryPlan
from tablewright.plan.reads.single import Then
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.returning import ReturningOld
from tablewright.plan.writes.several import Transaction
from tablewright.plan.writes.write import Write
from tablewright.plans import AccessPattern

#: Parameters of an endpoint that are not those of its pattern.
_REQUEST, _RESPONSE, _DATABASE = "request_", "response_", "database_"
_PAGE, _TAG, _BODY, _CREATE_ONLY = "page_", "tag_", "body_", "create_only_"


class Exposed(Struct, frozen=True, eq=False):
    """An operation with its name, which is unique in an API."""

    operation: HttpOperation
    name: str
    #: The parameters that the API fills in itself, and the dependencies that return their values.
    given: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    #: The one of them that is the tenant; "" without a tenancy.
    tenant: str = ""
    #: Whether a write of a versioned entity needs If-Match.
    requires_match: bool = False
    #: The attributes that no response contains.
    hidden: Hidden = MappingProxyType({})

    @property
    def pattern(self) -> AccessPattern:
        """The access pattern."""
        return self.operation.pattern

    @property
    def route(self) -> Route:
        """Its route."""
        return self.operation.route

    @property
    def entity(self) -> EntityMap | None:
        """The only entity that it reads or writes; None if there are several."""
        entities = self.pattern.entities
        return entities[0] if len(entities) == 1 else None

    @property
    def status(self) -> int:
        """The status of a response without a problem."""
        plan = self.operation.plan
        writes = writes_of(plan) if isinstance(plan, Transaction) else (plan,)
        is_created = all(isinstance(each, Create) for each in writes)
        return 204 if isinstance(plan, Delete) else 201 if is_created else 200


def endpoint_of(exposed: Exposed, locations: Mapping[EntityMap, Route]) -> Callable[..., Any]:
    """Return the function that FastAPI calls; `locations` are the routes that read an entity."""
    pattern, plan, tenant = exposed.pattern, exposed.operation.plan, exposed.tenant
    only = exposed.operation.only
    call, status = caller_of(pattern), exposed.status
    is_write, is_page = pattern.shape.is_write, isinstance(plan, PAGED)
    is_read_tagged = is_tagged_read(exposed.operation)
    is_tagged = is_tagged_by_content(exposed.operation)
    # In a transaction, If-Match may be about another item than the one that is created.
    is_own_tag = not isinstance(pattern.plan, Transaction) or not is_guarded(pattern.plan)
    dump = dump_without(exposed.operation.result, exposed.hidden)
    recorder = None
    if pattern.idempotency is not None:
        recorder = ResponseRecorder(pattern.idempotency, status)

    def finish(request: Request, response: Response, tag: Any, result: Any) -> bytes:
        """Set the headers of a response, and return its body."""
        if only is not None:
            result = result[only]
        if isinstance(plan, Delete):
            return b""
        if is_page:
            _link_next(request, response, result)
        elif isinstance(plan, Create):
            _locate(request, response, result, locations)
        elif not is_write or isinstance(plan, Then):  # what it reads first may not exist
            result = found(result)
        elif isinstance(plan, ReturningOld):
            return b"" if result is None else dump(result)
        if is_tagged:
            body = dump(result)
            tag.set_content(body)
            return body
        if tag is not None and is_own_tag:
            tag.set(result)
        return dump(result)

    async def endpoint(**given: Any) -> Any:
        request, response = given.pop(_REQUEST), given.pop(_RESPONSE)
        database, page = given.pop(_DATABASE), given.pop(_PAGE, None)
        tag, body = given.pop(_TAG, None), given.pop(_BODY, None)
        if is_read_tagged:
            tag = read_precondition(request, response)
        is_create_only = given.pop(_CREATE_ONLY, False)
        if body is not None:
            given |= {name: getattr(body, name) for name in type(body).model_fields}
        if tenant:
            database = database.for_tenant(**{tenant: given[tenant]})
        made: Any = call(given)
        if page is not None:
            made = page.apply(made)
        if is_create_only:
            made = create_only(made)
        elif isinstance(tag, WritePrecondition):
            made = tag.apply(made)
        if recorder is not None:
            describe = partial(finish, request, response, tag)
            return await recorder.respond(request, response, database, made, given, describe)
        result = await database.run(made)
        if isinstance(plan, Delete):
            found(result)
        content = finish(request, response, tag, result)
        return json_response(response, status if content else 204, content)

    parameters = [
        keyword(_REQUEST, Request),
        keyword(_RESPONSE, Response),
        *arguments_of(exposed),  # a caller without a tenant is refused first
        keyword(_DATABASE, Annotated[Any, Depends(get_database)]),
        *_preconditions(exposed),
    ]
    if isinstance(plan, QueryPlan) and "cursor" not in pattern.types:
        is_sized = "limit" in pattern.types or has_page_size(plan)
        paging = Annotated[Any, Depends(_after)] if is_sized else Paging
        parameters.append(keyword(_PAGE, paging))
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = exposed.name
    setattr(endpoint, MEMBER, exposed.hidden)
    return endpoint


def keyword(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter of an endpoint, which FastAPI fills in by its type."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


async def _after(
    cursor: Annotated[
        str | None, Query(description="The `next_cursor` of the page before.")
    ] = None,
) -> Continued:
    return Continued(cursor)


class Continued(Struct, frozen=True):
    """A page of a pattern that says itself how many items it has."""

    cursor: str | None

    def apply(self, plan: QueryPlan[Any]) -> QueryPlan[Any]:
        """Return the plan of this page."""
        return plan.after(self.cursor)


def arguments_of(exposed: Exposed) -> Iterable[inspect.Parameter]:
    """Yield the parameters of the pattern: in the path, the query or the body."""
    operation, pattern = exposed.operation, exposed.pattern
    defaults = operation.defaults
    for name, dependency in exposed.given.items():
        yield keyword(name, Annotated[Any, Depends(dependency)])
    for name in operation.route.parameters:
        yield keyword(name, Annotated[stated_type(pattern, name), Path()])
    for name in operation.query:
        yield keyword(name, Annotated[stated_type(pattern, name), Query()], defaults[name])
    if operation.is_whole:
        (name,) = operation.body
        yield keyword(name, Annotated[pattern.types[name], Body()], defaults[name])
    elif operation.body:
        fields: dict[str, Any] = {
            name: (
                stated_type(pattern, name, is_json=True),
                ... if defaults[name] is inspect.Parameter.empty else defaults[name],
            )
            for name in operation.body
        }
        title = "".join(word.capitalize() for word in exposed.name.split("_"))
        forbid = pydantic.ConfigDict(extra="forbid")
        yield keyword(_BODY, pydantic.create_model(f"{title}Body", __config__=forbid, **fields))


def caller_of(pattern: AccessPattern) -> Callable[[Mapping[str, Any]], Plan[Any]]:
    """Return a function that calls the pattern with arguments by name."""
    declared = inspect.signature(inspect.unwrap(pattern.function)).parameters.values()
    kinds = {each.kind for each in declared}
    if not kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}:
        return lambda given: pattern.function(**given)

    def call(given: Mapping[str, Any]) -> Plan[Any]:
        positional: list[Any] = []
        named = {}
        for each in declared:
            if each.kind is each.VAR_POSITIONAL:
                positional += given[each.name]
            elif each.kind is each.KEYWORD_ONLY:
                named[each.name] = given[each.name]
            elif each.kind is not each.VAR_KEYWORD:
                positional.append(given[each.name])
        plan: Plan[Any] = pattern.function(*positional, **named)
        return plan

    return call


# -- preconditions -------------------------------------------------------------------------------


def _preconditions(exposed: Exposed) -> Iterable[inspect.Parameter]:
    """Yield the parameters for the entity tags of the request and the response."""
    plan, operation = exposed.pattern.plan, exposed.operation
    if is_guarded(plan):
        yield keyword(_TAG, RequiredIfMatch if exposed.requires_match else IfMatch)
    elif isinstance(operation.plan, Create) and entity_of(operation.plan).version is not None:
        yield keyword(_TAG, CreatedETag)
    if can_be_create_only(plan):
        yield keyword(_CREATE_ONLY, CreateOnly)


def can_be_create_only(plan: Plan[Any]) -> bool:
    """Return whether `If-None-Match: *` lets a write only create its item."""
    return isinstance(plan, Put) and not conditions_of(plan)


def is_tagged_read(operation: HttpOperation) -> bool:
    """Return whether its response has an ETag: a page has none, for its cursor is always new."""
    pattern = operation.pattern
    return not pattern.shape.is_write and not isinstance(pattern.plan, PAGED)


def is_tagged_by_content(operation: HttpOperation) -> bool:
    """Return whether the ETag is that of what is read, and not the version of an entity."""
    entity = getattr(operation.result, "__entity__", None)
    has_version = isinstance(entity, EntityMap) and entity.version is not None
    return is_tagged_read(operation) and not has_version


def is_guarded(plan: Plan[Any]) -> bool:
    """Return whether If-Match says which version a write expects."""
    writes = writes_of(plan) if isinstance(plan, Transaction) else (plan,)
    guarded = [
        each
        for each in writes
        if isinstance(each, Write)
        and not isinstance(each, Create)
        and entity_of(each).version is not None
    ]
    return len(guarded) == 1


# -- headers -------------------------------------------------------------------------------------


def _link_next(request: Request, response: Response, page: Page[Any]) -> None:
    """Add a link to the next page (RFC 8288)."""
    if page.next_cursor is not None:
        query = [
            (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
        ]
        target = (
            f"{quote(request.scope['path'])}?{urlencode([*query, ('cursor', page.next_cursor)])}"
        )
        response.headers["Link"] = f'<{target}>; rel="next"'


def _locate(
    request: Request, response: Response, created: Any, locations: Mapping[EntityMap, Route]
) -> None:
    """Add the address of what was created, if a route reads it by its attributes."""
    route = locations.get(created.__entity__)
    if route is not None:
        kind: Any = type(created)
        values = _adapter(kind).dump_python(created, mode="json")
        path = route.path
        for name in route.parameters:
            path = path.replace(f"{{{name}}}", quote(str(values[name]), safe=""))
        response.headers["Location"] = request.scope.get("root_path", "") + path


@cache
def _adapter(entity: type) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(entity)
