"""Client: call the access patterns of an HTTP API that was created with `tablewright.fastapi`.

    client = ApiClient("https://api.example.com")
    order = client.call(order_header, "C1", "O100")            CustomerOrder | None
    page = client.call(orders_by_status, "PAID")               Page[CustomerOrder]
    for order in client.iterate(orders_by_status, "PAID"): ...
    client.with_headers({"If-Match": '"3"'}).call(edit_order, "C1", "O100", patch)

A call has the parameters and the result of its pattern, so type checkers know both, and nothing has
to be generated. Errors are those that a database would raise: a problem with the code
`already_exists` is `AlreadyExists`; others are `ApiError`.

A GET, a PUT, a DELETE, and a request with an Idempotency-Key, which the client makes, is sent again
if there is no response, or the response is 503. Every request is sent again if the response is 429,
because then nothing was written. `Retry-After` sets the delay.

The module needs httpx2: `pip install 'tablewright[client]'`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterator, Mapping
from functools import cache
from typing import Any, Generic, ParamSpec, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
import msgspec
import pydantic
from msgspec import Struct

from tablewright import errors
from tablewright.backoff import Backoff
from tablewright.errors import (
    EndpointUnavailable,
    InvalidValue,
    TablewrightError,
    WriteRejected,
)
from tablewright.mapping.pydantic_bridge import OUTPUT
from tablewright.model.http_operation import HttpOperation, operation_of
from tablewright.model.pattern import traced_pattern
from tablewright.model.route import route_of, without_parameter
from tablewright.plan.inspection import writes_of
from tablewright.plan.plan import Plan, Wait
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.single import RequiredRead, Then
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.several import Transaction

__all__ = ["ApiClient", "ApiError", "AsyncApiClient"]

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
C = TypeVar("C", bound=httpx2.Client | httpx2.AsyncClient)

_REPEATABLE = ("GET", "PUT", "DELETE")
#: The upper bounds of the first delay and of the longest one, in seconds.
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 2.0
#: The exception of each code of a problem, as `tablewright.fastapi` makes them.
_ERRORS: dict[str, type[TablewrightError]] = {
    "not_found": errors.NotFound,
    "already_exists": errors.AlreadyExists,
    "unique_violation": errors.UniqueViolation,
    "invalid_transition": errors.InvalidTransition,
    "condition_failed": errors.ConditionFailed,
    "version_conflict": errors.VersionConflict,
    "precondition_failed": errors.VersionConflict,
    "invalid_value": errors.InvalidValue,
    "invalid_request": errors.InvalidValue,
    "invalid_cursor": errors.InvalidCursor,
    "throttled": errors.ThrottlingException,
    "contention": errors.Contention,
    "unavailable": errors.EndpointUnavailable,
}


class ApiError(TablewrightError):
    """An API responded with a problem that no database would raise, such as 401.

    `status` is that of the response, `code` and `detail` are those of the problem.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


class _Call(Struct, frozen=True):
    """An HTTP request for one operation."""

    method: str
    path: str
    query: dict[str, Any]
    content: bytes | None
    #: The same one in each attempt; "" if the operation takes none.
    idempotency_key: str = ""


#: A call yields requests and delays, and receives responses; None if there was none.
_Steps = Generator[_Call | Wait, httpx2.Response | None, T]


class _AnyClient(Generic[C]):
    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        given: Collection[str] = (),
        attempts: int = 3,
        http: C,
    ) -> None:
        if isinstance(given, str):
            raise InvalidValue(f"given={given!r} must be a collection of names: ({given!r},)")
        if "://" not in url:
            raise InvalidValue(f"{url!r} is not the URL of an API, such as https://{url}")
        self._url = url.rstrip("/")
        self._headers = dict(headers or {})
        self._given = frozenset(given)
        self._attempts = attempts
        self._http = http

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """Return this client with further headers, such as If-Match; it shares the connections."""
        return type(self)(
            self._url,
            headers=self._headers | dict(headers),
            given=self._given,
            attempts=self._attempts,
            http=self._http,
        )

    def _operation(self, pattern: Callable[..., Any]) -> HttpOperation:
        return _operation(traced_pattern(pattern).function, self._given)

    def _steps(
        self, operation: HttpOperation, call: _Call, *, extra: Mapping[str, Any] | None = None
    ) -> _Steps[Any]:
        """Send a call until it has a response, and return its result."""
        if extra:
            call = msgspec.structs.replace(call, query=call.query | dict(extra))
        attempt = 1
        while True:
            response = yield call
            delay = self._delay(call, response, attempt)
            if delay is None:
                break
            yield Wait(delay)
            attempt += 1
        if response is None:
            error = EndpointUnavailable(f"{self._url} does not respond")
            error.attempts, error.maybe_applied = attempt, call.method != "GET"
            raise error
        return _result(operation, response, attempt)

    def _delay(self, call: _Call, response: httpx2.Response | None, attempt: int) -> float | None:
        """Return the seconds to wait before the next attempt; None if there is none."""
        if response is not None and response.status_code not in (429, 503):
            is_running = response.status_code == 409 and "Retry-After" in response.headers
            if not is_running:
                return None
        is_refused = response is not None and response.status_code == 429
        is_repeatable = call.method in _REPEATABLE or call.idempotency_key
        if not is_refused and not is_repeatable:
            return None
        delay = Backoff(self._attempts, _FIRST_DELAY, _LONGEST_DELAY).delay(attempt)
        asked = "" if response is None else response.headers.get("Retry-After", "")
        return float(asked) if delay is not None and asked.isdigit() else delay


class ApiClient(_AnyClient[httpx2.Client]):
    """Calls the access patterns of an API, and waits for their results.

    `headers` are sent with every request, for example a token. `given` names the parameters that
    the API fills in itself, such as the tenant: calls take them, as the pattern does, and they are
    not sent. `timeout` is that of each attempt in seconds, `attempts` how many there are at most.
    `http` is a client of httpx2 to use instead of one with this timeout.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        given: Collection[str] = (),
        timeout: float = 10.0,
        attempts: int = 3,
        http: httpx2.Client | None = None,
    ) -> None:
        client = httpx2.Client(timeout=timeout) if http is None else http
        super().__init__(url, headers=headers, given=given, attempts=attempts, http=client)

    def call(self, pattern: Callable[P, Plan[T]], *arguments: P.args, **named: P.kwargs) -> T:
        """Return what the plan of a pattern returns; raise what a database would raise."""
        operation = self._operation(pattern)
        result: T = self._run(self._steps(operation, _call(operation, arguments, named)))
        return result

    def iterate(
        self, pattern: Callable[P, Query[R]], *arguments: P.args, **named: P.kwargs
    ) -> Iterator[R]:
        """Yield every result of a query, page by page."""
        operation = self._operation(pattern)
        call = _call(operation, arguments, named)
        page: Page[R] = self._run(self._steps(operation, call))
        while True:
            yield from page
            if page.next_cursor is None:
                return
            extra = {"cursor": page.next_cursor}
            page = self._run(self._steps(operation, call, extra=extra))

    def _run(self, steps: _Steps[Any]) -> Any:
        answer = None
        try:
            while True:
                step = steps.send(answer)
                answer = None
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                    continue
                try:
                    answer = self._http.request(**_request(step, self._url, self._headers))
                except httpx2.TransportError:
                    answer = None
        except StopIteration as stop:
            return stop.value

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncApiClient(_AnyClient[httpx2.AsyncClient]):
    """Calls the access patterns of an API in an event loop; the parameters are of `ApiClient`."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        given: Collection[str] = (),
        timeout: float = 10.0,
        attempts: int = 3,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        client = httpx2.AsyncClient(timeout=timeout) if http is None else http
        super().__init__(url, headers=headers, given=given, attempts=attempts, http=client)

    async def call(self, pattern: Callable[P, Plan[T]], *arguments: P.args, **named: P.kwargs) -> T:
        """Return what the plan of a pattern returns; raise what a database would raise."""
        operation = self._operation(pattern)
        result: T = await self._run(self._steps(operation, _call(operation, arguments, named)))
        return result

    async def iterate(
        self, pattern: Callable[P, Query[R]], *arguments: P.args, **named: P.kwargs
    ) -> AsyncIterator[R]:
        """Yield every result of a query, page by page."""
        operation = self._operation(pattern)
        call = _call(operation, arguments, named)
        page: Page[R] = await self._run(self._steps(operation, call))
        while True:
            for each in page:
                yield each
            if page.next_cursor is None:
                return
            extra = {"cursor": page.next_cursor}
            page = await self._run(self._steps(operation, call, extra=extra))

    async def _run(self, steps: _Steps[Any]) -> Any:
        answer = None
        try:
            while True:
                step = steps.send(answer)
                answer = None
                if isinstance(step, Wait):
                    await asyncio.sleep(step.seconds)
                    continue
                try:
                    answer = await self._http.request(**_request(step, self._url, self._headers))
                except httpx2.TransportError:
                    answer = None
        except StopIteration as stop:
            return stop.value

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


# -- requests and results --------------------------------------------------------------------------


@cache
def _operation(function: Callable[..., Any], given: frozenset[str]) -> HttpOperation:
    pattern = traced_pattern(function)
    route = route_of(pattern)
    for name in given:
        route = without_parameter(route, name)
    return operation_of(pattern, route, given=given)


@cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind)


def _call(operation: HttpOperation, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> _Call:
    """Return the request for these arguments; raise TypeError if they do not fit."""
    bound = inspect.signature(inspect.unwrap(operation.pattern.function)).bind(*arguments, **named)
    types = operation.pattern.types
    values = {
        name: _json(types[name], value) for name, value in bound.arguments.items() if name in types
    }
    path = operation.route.path
    for name in operation.route.parameters:
        path = path.replace(f"{{{name}}}", quote(str(values[name]), safe=""))
    query = {name: values[name] for name in operation.query if values.get(name) is not None}
    content = None
    if operation.is_whole:
        content = msgspec.json.encode(values[operation.body[0]])
    elif operation.body:
        sent = {name: values[name] for name in operation.body if name in values}
        content = msgspec.json.encode(sent)
    idempotency_key = "" if operation.pattern.idempotency is None else str(uuid4())
    return _Call(operation.route.method, path, query, content, idempotency_key)


def _json(kind: Any, value: Any) -> Any:
    """Return a value as JSON; of a patch or an input, what was set."""
    is_model = isinstance(value, pydantic.BaseModel)
    return _adapter(kind).dump_python(value, mode="json", by_alias=True, exclude_unset=is_model)


def _request(call: _Call, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    own = {"Content-Type": "application/json"} if call.content is not None else {}
    if call.idempotency_key:
        own["Idempotency-Key"] = call.idempotency_key
    return {
        "method": call.method,
        "url": url + call.path,
        "params": call.query or None,
        "content": call.content,
        "headers": own | dict(headers),
    }


def _result(operation: HttpOperation, response: httpx2.Response, attempts: int) -> Any:
    """Return the result in a response; raise the error of a problem."""
    if response.is_success:
        if response.status_code == 204:
            return None
        result = _adapter(operation.result).validate_json(response.content, context=OUTPUT)
        plan = operation.pattern.plan
        if operation.only is None or not isinstance(plan, Transaction):
            return result
        return tuple(result if at == operation.only else None for at in range(len(writes_of(plan))))
    try:
        problem = msgspec.json.decode(response.content)
        code, detail = problem["code"], problem["detail"]
        for each in problem.get("errors", ()):
            detail += f" {'.'.join(map(str, each['loc']))}: {each['msg']}."
    except (msgspec.DecodeError, KeyError, TypeError):
        code, detail = "", response.text[:200]
    is_read = not operation.pattern.shape.is_write
    plan = operation.pattern.plan
    may_be_none = (is_read and not isinstance(plan, RequiredRead)) or isinstance(
        plan, Delete | Then
    )
    if code == "not_found" and may_be_none:
        return None
    kind = _ERRORS.get(code)
    if kind is None:
        raise ApiError(response.status_code, code, detail)
    if issubclass(kind, WriteRejected):
        names = ", ".join(entity.name for entity in operation.pattern.entities)
        raise kind(detail, entity=names, key={}, current=None)
    error = kind(detail)
    error.attempts = attempts
    raise error
