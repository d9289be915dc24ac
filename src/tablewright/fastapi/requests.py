"""Requests: a limit for bodies, and an id for each request.

    413  content_too_large    the body is larger than the limit

An id is the header X-Request-ID of the request, if it has one of up to 128 usual characters, or a
new one. The response has it, and so has each line of the log `tablewright.fastapi` about it.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

from fastapi import HTTPException

from tablewright.fastapi.problems import REQUEST_ID, problem_response

#: DynamoDB's items have at most 400 kB, and its transactions 4 MB.
MAX_BODY = 1_048_576
_HEADER = REQUEST_ID.encode()
_is_id = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}").fullmatch

Message = MutableMapping[str, Any]


class RequestMiddleware:
    """Refuses bodies of more than `max_body` bytes, and gives each request an id.

    `app.add_middleware(RequestMiddleware, max_body=100_000)` in an application of your own.
    """

    def __init__(self, app: Any, max_body: int = MAX_BODY) -> None:
        self._app = app
        self._max_body = max_body

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given, length = b"", b""
        for name, value in scope["headers"]:
            if name == _HEADER:
                given = value
            elif name == b"content-length":
                length = value
        own = given if _is_id(given) else uuid4().hex.encode()
        scope[REQUEST_ID] = own.decode()

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (_HEADER, own)]
            await send(message)

        if length.isdigit() and int(length) > self._max_body:
            response = problem_response(413, **self._too_large())
            await response(scope, receive, send_with_id)
            return
        await self._app(scope, self._counting(receive), send_with_id)

    def _counting(self, receive: Any) -> Any:
        """Return `receive` with a limit, for a body whose length is not known before."""
        size = 0

        async def limited() -> Any:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._max_body:
                raise HTTPException(413, self._too_large())
            return message

        return limited

    def _too_large(self) -> dict[str, str]:
        detail = f"The body has more than {self._max_body:,} bytes."
        return {"code": "content_too_large", "detail": detail}
