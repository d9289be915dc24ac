"""The seam: one operation and its request in, the answer's JSON out.

A transport raises the `DynamoDBError` that DynamoDB would answer with. It knows nothing of entities
or plans; every target gets the same request.
"""

from __future__ import annotations

from typing import Any, Protocol


class Transport(Protocol):
    """Sends requests, and waits for each answer."""

    def send(self, operation: str, request: dict[str, Any]) -> bytes: ...
    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends requests without blocking the event loop."""

    async def send_async(self, operation: str, request: dict[str, Any]) -> bytes: ...
    async def close_async(self) -> None: ...
