"""Problems: exceptions as problem details (RFC 9457), in `application/problem+json`.

    404  not_found              the item does not exist, or is not the tenant's
    404  no_such_route          no operation has this path
    409  already_exists         an item with this key exists
    409  unique_violation       another entity has this value
    409  condition_failed       a condition of the write is false
    409  version_conflict       the item has another version
    412  precondition_failed    the same, for a request with If-Match; it exists: If-None-Match
    422  invalid_value          a value is not valid for its attribute or key
    422  invalid_cursor         not a cursor of this query, these arguments and this tenant
    429  throttled              the capacity is exceeded; Retry-After
    503  contention             other writers kept changing the item; Retry-After
    503  unavailable            the database does not respond; Retry-After

Errors of FastAPI itself (`HTTPException`, a request that is not valid) and unexpected ones (500)
have the same format, so a client needs one way to read errors. The code of an HTTPException is the
phrase of its status, `method_not_allowed`; a dict as its detail adds or replaces members of the
problem.

Invariant: a body contains no key and no stored value. What an exception says about them is logged,
not sent. Names of entities and attributes are sent; the OpenAPI schema has them as well.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import pydantic
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException as StarletteHTTPException

from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    Contention,
    EndpointUnavailable,
    IndexNotReady,
    InvalidCursor,
    InvalidTransition,
    InvalidValue,
    NotFound,
    ServiceUnavailable,
    StoreBusy,
    TablewrightError,
    TenantViolation,
    ThrottlingException,
    UniqueNotReady,
    UniqueViolation,
    ValidationException,
    VersionConflict,
)
from tablewright.fastapi.hidden import hidden_in
from tablewright.mapping.pydantic_bridge import hiding, showing

T = TypeVar("T")

logger = logging.getLogger("tablewright.fastapi")

MEDIA_TYPE = "application/problem+json"
#: The header with the id of a request, and the member of a request's scope.
REQUEST_ID = "x-request-id"
#: FastAPI's models of the response 422.
_REPLACED = ("HTTPValidationError", "ValidationError")
#: Decimals whose digits DynamoDB can store.
_DECIMAL = r"^[+-]?[0-9]{1,19}(\.[0-9]{1,19})?$"
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


class InvalidField(pydantic.BaseModel):
    """A value of a request that is not valid, as FastAPI describes it."""

    loc: list[str | int] = pydantic.Field(description="Where it is, such as body, title.")
    msg: str
    type: str


class Problem(pydantic.BaseModel):
    """Problem details (RFC 9457)."""

    type: str = pydantic.Field(default="about:blank", description="A URI of the kind of problem.")
    title: str = pydantic.Field(description="The phrase of the status.")
    status: int
    code: str = pydantic.Field(description="The kind of problem, for programs.")
    detail: str = pydantic.Field(description="The problem, for people.")
    errors: list[InvalidField] = pydantic.Field(
        default_factory=list, description="The values that are not valid."
    )


def found(value: T | None) -> T:
    """Return the value; respond with 404 if it is None."""
    if value is None:
        raise HTTPException(404, "It does not exist.")
    return value


def add_exception_handlers(app: FastAPI) -> None:
    """Respond to exceptions with problem details, and describe them in the OpenAPI schema.

    A handler that the application adds afterwards, for one of these exceptions or a subclass, takes
    precedence.
    """
    for kind in _PROBLEMS:
        app.add_exception_handler(kind, _on_tablewright_error)
    app.add_exception_handler(StarletteHTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(Exception, _on_unexpected_error)
    _describe_problems(app)


#: The status, the code and the detail of each exception; `{entity}` is the name of the entity.
_PROBLEMS: dict[type[TablewrightError], tuple[int, str, str]] = {
    NotFound: (404, "not_found", "The {entity} does not exist."),
    TenantViolation: (404, "not_found", "It does not exist."),
    AlreadyExists: (409, "already_exists", "The {entity} already exists."),
    UniqueViolation: (409, "unique_violation", "Another {entity} has the same {attributes}."),
    InvalidTransition: (
        409,
        "invalid_transition",
        "The {attribute} of the {entity} cannot change to this value now.",
    ),
    ConditionFailed: (
        409,
        "condition_failed",
        "The {entity} is not in a state that allows the request.",
    ),
    VersionConflict: (
        409,
        "version_conflict",
        "The {entity} has been changed since this version was read.",
    ),
    InvalidValue: (422, "invalid_value", "A value is not valid."),
    # DynamoDB refuses a value that fits its type, such as an empty text in the key of an index.
    ValidationException: (422, "invalid_value", "A value is not valid."),
    InvalidCursor: (422, "invalid_cursor", "The cursor is not one of this list."),
    ThrottlingException: (429, "throttled", "There are too many requests; retry later."),
    Contention: (503, "contention", "Other requests keep changing the same item; retry later."),
    EndpointUnavailable: (503, "unavailable", "The database does not respond; retry later."),
    IndexNotReady: (503, "unavailable", "The data is being prepared; retry later."),
    UniqueNotReady: (503, "unavailable", "The data is being prepared; retry later."),
    ServiceUnavailable: (503, "unavailable", "The database is overloaded; retry later."),
    StoreBusy: (503, "unavailable", "The database is busy; retry later."),
}


#: The header of a request that makes 412 of an exception.
_PRECONDITIONS: dict[type[TablewrightError], str] = {
    VersionConflict: "if-match",
    AlreadyExists: "if-none-match",
}


async def _on_tablewright_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TablewrightError)
    kind = next(each for each in type(error).__mro__ if each in _PROBLEMS)
    status, code, detail = _PROBLEMS[kind]
    is_warning = status >= 500 or isinstance(error, TenantViolation)
    logger.log(
        logging.WARNING if is_warning else logging.DEBUG,
        "%s %s%s: %s: %s",
        request.method,
        request.url.path,
        f" [{request.scope[REQUEST_ID]}]" if REQUEST_ID in request.scope else "",
        type(error).__name__,
        error,
    )
    header = _PRECONDITIONS.get(kind)
    if header is not None and header in request.headers:
        status, code = 412, "precondition_failed"
    detail = detail.format(
        entity=getattr(error, "entity", ""),
        attribute=getattr(error, "attribute", ""),
        attributes=", ".join(getattr(error, "attributes", ())),
    )
    if error.maybe_applied:
        detail += " It may have been applied."
    members: dict[str, Any] = {"code": code, "detail": detail}
    if isinstance(error, InvalidValue) and error.attribute:
        members["errors"] = [InvalidField(loc=[error.attribute], msg=detail, type=code)]
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    return problem_response(status, headers, **members)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    status, headers = error.status_code, dict(error.headers or {})
    if status < 200 or status in (204, 205, 304):  # they have no body
        return Response(status_code=status, headers=headers)
    detail: Any = error.detail
    members = dict(detail) if isinstance(detail, Mapping) else {"detail": str(detail)}
    if status == 404 and "endpoint" not in request.scope:
        members = {"code": "no_such_route", "detail": "The API has no operation at this path."}
    return problem_response(status, headers, **members)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [
        InvalidField(loc=list(each["loc"]), msg=each["msg"], type=each["type"])
        for each in error.errors()
    ]
    detail = "The request is not valid."
    return problem_response(422, code="invalid_request", detail=detail, errors=errors)


async def _on_unexpected_error(request: Request, error: Exception) -> Response:
    own = request.scope.get(REQUEST_ID)
    if own is not None:
        logger.error("%s %s [%s]: unexpected error", request.method, request.url.path, own)
    headers = {} if own is None else {REQUEST_ID: own}
    detail = "An unexpected error has occurred."
    return problem_response(500, headers, detail=detail)  # the server logs the traceback


def problem_response(
    status: int, headers: Mapping[str, str] | None = None, /, **members: Any
) -> Response:
    """Return the response with a problem; the code and the detail are by default the phrase."""
    phrase = HTTPStatus(status).phrase if status in list(HTTPStatus) else f"Status {status}"
    problem = {
        "type": "about:blank",
        "title": phrase,
        "status": status,
        "code": phrase.lower().replace(" ", "_"),
        "detail": phrase,
    }
    body = to_json(problem | members | {"status": status})
    return Response(body, status, headers, MEDIA_TYPE)


# -- the OpenAPI schema --------------------------------------------------------------------------


def _describe_problems(app: FastAPI) -> None:
    """Describe problem details in the OpenAPI schema of the application, whenever it is made.

    Each operation gets a default response: what it sends for every status that it does not list. It
    replaces FastAPI's own description of the response 422, which has another format.
    """
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            hidden = hidden_in(app.routes)
            make_examples = getattr(app.state, "make_examples", None)
            examples = {} if make_examples is None else make_examples(hidden)
            with hiding(hidden), showing(examples):
                app.openapi_schema = _described(make())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's way to extend the schema


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    prefix = "#/components/schemas/"
    own = Problem.model_json_schema(ref_template=prefix + "{model}")
    components = schema.setdefault("components", {})
    models = components.setdefault("schemas", {})
    models.update(own.pop("$defs", {}))
    models[Problem.__name__] = own
    components.setdefault("responses", {})[Problem.__name__] = {
        "description": "A problem.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"{prefix}{Problem.__name__}"}}},
    }
    _state_decimals(schema)
    for path in schema["paths"].values():
        for method, operation in path.items():
            if method in _METHODS:
                _describe(operation["responses"], f"#/components/responses/{Problem.__name__}")
    if prefix + _REPLACED[0] not in str(schema["paths"]):
        for name in _REPLACED:
            models.pop(name, None)
    return schema


def _state_decimals(part: Any) -> None:
    """Say which texts are decimals; pydantic describes a Decimal as a number or any text."""
    if isinstance(part, dict):
        if part.get("anyOf") == [{"type": "number"}, {"type": "string"}]:
            part["anyOf"][1]["pattern"] = _DECIMAL
        for each in part.values():
            _state_decimals(each)
    elif isinstance(part, list):
        for each in part:
            _state_decimals(each)


def _describe(responses: dict[str, Any], reference: str) -> None:
    """Add the default response, unless there is one, and remove FastAPI's response 422."""
    if _REPLACED[0] in str(responses.get("422")):
        del responses["422"]
    responses.setdefault("default", {"$ref": reference})
