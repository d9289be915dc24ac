"""The transport interface: one operation and its request in, a response out.

A transport raises the `DynamoDBError` that DynamoDB would respond with. It knows nothing of
entities or plans, and passes every request on unchanged.
"""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct


class Response(Struct, frozen=True, gc=False):
    """A successful response."""

    #: DynamoDB's JSON.
    body: bytes
    #: How many times the request was sent.
    attempts: int = 1


class Transport(Protocol):
    """Sends requests and blocks until the response arrives."""

    def send(self, operation: str, request: dict[str, Any]) -> Response: ...
    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends requests without blocking the event loop."""

    async def send_async(self, operation: str, request: dict[str, Any]) -> Response: ...
    async def close_async(self) -> None: ...
