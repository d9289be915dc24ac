"""Idempotency: a request with an Idempotency-Key is applied once.

    @access_pattern(route="POST /orders", idempotency=Answer)
    def add_order(order: Order) -> Create[Order]: ...

    400  idempotency_key_missing    the operation needs the header Idempotency-Key
    400  idempotency_key_invalid    it is a text of other characters, or a longer one
    409  request_in_progress        this process is still answering a request with this key
    422  idempotency_key_reused     the key was sent with another request

The response of a request is recorded in the transaction of its write. A request with the same key
gets the recorded response, and writes nothing. What is refused is not recorded: it has written
nothing, so the client can send it again with the same key.

A request is identified by its method, path, query and body. A key belongs to what the key of the
record has beside it, such as a tenant; otherwise to the whole API. The header is that of the IETF's
draft; the quotes around the key are optional.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from fastapi import HTTPException, Request, Response
from msgspec import Struct

from tablewright.fastapi.problems import found
from tablewright.mapping.entity import EntityMap
from tablewright.model.idempotency import REQUEST, RESPONSE, record_values
from tablewright.plan.inspection import writes_of
from tablewright.plan.plan import Plan
from tablewright.plan.writes.once import Once
from tablewright.plan.writes.several import Transaction

#: The headers that are recorded.
_KEPT = ("ETag", "Location")
_HEADER = "Idempotency-Key"
_KEY = '"?[A-Za-z0-9._~+/=:-]{1,128}"?'
#: The header in OpenAPI. FastAPI would respond to a missing one with 422, the draft says 400.
PARAMETER: dict[str, Any] = {
    "name": _HEADER,
    "in": "header",
    "required": True,
    "description": "A key of this request, such as a UUID: sent again with it, it is applied once.",
    "schema": {"type": "string", "pattern": f"^{_KEY}$"},
    "example": "7b3f9f6e-0c1d-4c55-9b1f-5d2a8c1e6f10",
}


class _Recorded(Struct):
    """A response as it is recorded; a body is JSON."""

    status: int
    headers: dict[str, str]
    body: str


class ResponseRecorder:
    """Runs the writes of one operation, and records their responses."""

    def __init__(self, record: EntityMap, status: int) -> None:
        self._record = record
        self._status = status
        #: The keys of the requests that this process is answering.
        self._running: set[tuple[Any, ...]] = set()

    async def respond(
        self,
        request: Request,
        response: Response,
        database: Any,
        plan: Plan[Any],
        given: Mapping[str, Any],
        finish: Callable[[Any], bytes],
    ) -> Response:
        """Return the response of a write, or the recorded one.

        `given` are the arguments of the pattern; `finish` returns the body for a result of the
        plan, and sets its headers in `response`, where dependencies may have set others.
        """
        values = record_values(self._record, given, _key_of(request))
        identity = await _identity_of(request)

        def remember(left: Sequence[Any]) -> Any:
            result = left[0]
            if isinstance(plan, Transaction):
                result = tuple(left[: len(writes_of(plan))])
            body = finish(result).decode()
            headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
            recorded = _Recorded(self._status, headers, body)
            texts = {REQUEST: identity, RESPONSE: msgspec.json.encode(recorded).decode()}
            return self._record.type(**values, **texts)

        running = tuple(map(str, values.values()))
        if running in self._running:
            detail = "A request with this key is in progress; retry later."
            problem = {"code": "request_in_progress", "detail": detail}
            raise HTTPException(409, problem, headers={"Retry-After": "1"})
        self._running.add(running)
        try:
            record = found(await database.run(Once(plan, self._record, values, remember)))
        finally:
            self._running.discard(running)
        if getattr(record, REQUEST) != identity:
            detail = f"The {_HEADER} was sent with another request; choose a new one."
            raise HTTPException(422, {"code": "idempotency_key_reused", "detail": detail})
        first = msgspec.json.decode(getattr(record, RESPONSE), type=_Recorded)
        for name, text in first.headers.items():
            response.headers[name] = text
        return json_response(response, first.status, first.body.encode())


def json_response(before: Response, status: int, body: bytes) -> Response:
    """Return a response with the headers that were set before; without a body if that is empty."""
    kind = "application/json" if body else None
    return Response(body or None, status, dict(before.headers), kind)


def _key_of(request: Request) -> str:
    key: str | None = request.headers.get(_HEADER)
    if key is None:
        detail = f"It needs the header {_HEADER}."
        raise HTTPException(400, {"code": "idempotency_key_missing", "detail": detail})
    if re.fullmatch(_KEY, key) is None:
        detail = f"The {_HEADER} is a text of at most 128 letters, digits and . _ ~ + / = : -"
        raise HTTPException(400, {"code": "idempotency_key_invalid", "detail": detail})
    return key.strip('"')


async def _identity_of(request: Request) -> str:
    """Return what distinguishes a request from others."""
    where = f"{request.method} {request.scope['path']}?{request.url.query}\n"
    return hashlib.sha256(where.encode() + await request.body()).hexdigest()
