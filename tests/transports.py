"""Transports for tests: each wraps a real transport and records, changes or delays requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Container
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import ValidationException
from tablewright.transport import Response, Transport
from tablewright.transport.targets import Local

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")


class RecordingTransport:
    """Records the requests that it sends."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.requests: list[tuple[str, dict[str, Any]]] = []

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.requests]

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.requests.append((operation, dict(request)))
        return self.inner.send(operation, request)

    def close(self) -> None:
        self.inner.close()


class RecordingLocal(RecordingTransport):
    """Records the requests to a local transport, blocking or not."""

    inner: Local

    async def send_async(self, operation: str, request: dict[str, Any]) -> Response:
        self.requests.append((operation, dict(request)))
        return await self.inner.send_async(operation, request)

    async def close_async(self) -> None:
        await self.inner.close_async()


def record_requests(database: Any) -> RecordingLocal:
    """Record the requests of a database, blocking or not, from now on."""
    assert isinstance(database._transport, Local)
    database._transport = recording = RecordingLocal(database._transport)
    return recording


class CapacityTransport(RecordingTransport):
    """Records also how many items were read, and which indexes were used or changed."""

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner)
        self.reset()

    def reset(self) -> None:
        self.requests.clear()
        self.read = 0
        self.indexes: set[str] = set()

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.requests.append((operation, request))
        response = self.inner.send(operation, {**request, "ReturnConsumedCapacity": "INDEXES"})
        decoded = msgspec.json.decode(response.body)
        self.read += decoded.get("ScannedCount", 0)
        capacity = decoded["ConsumedCapacity"]
        for consumed in capacity if isinstance(capacity, list) else [capacity]:
            self.indexes |= set(consumed.get("GlobalSecondaryIndexes", {}))
        return response


class InterferingTransport(RecordingTransport):
    """Lets another client write just before a request is sent.

    `interfere` is called `times` times, after the first `skip` requests of the operations in
    `before`; its argument is how many calls are left.
    """

    def __init__(
        self,
        inner: Transport,
        interfere: Callable[[int], object],
        *,
        times: int = 1,
        skip: int = 0,
        before: Container[str] = WRITES,
    ) -> None:
        super().__init__(inner)
        self.interfere = interfere
        self.times = times
        self.skip = skip
        self.before = before

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation in self.before:
            if self.skip > 0:
                self.skip -= 1
            elif self.times > 0:
                self.times -= 1
                self.interfere(self.times)
        return super().send(operation, request)


class Interrupted(Exception):
    """The process ended, or the network failed."""


class InterruptedTransport:
    """Fails at the transaction with the number `at`: before it is applied, or after."""

    def __init__(self, inner: Transport, at: int, *, applied: bool) -> None:
        self.inner = inner
        self.at = at
        self.applied = applied
        self.sizes: list[int] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation != "TransactWriteItems":
            return self.inner.send(operation, request)
        self.sizes.append(len(request["TransactItems"]))
        fails = len(self.sizes) == self.at
        if fails and not self.applied:
            raise Interrupted
        response = self.inner.send(operation, request)
        if fails:
            raise Interrupted
        return response

    def close(self) -> None:
        self.inner.close()


class ThrottlingTransport:
    """Leaves the last `unprocessed` writes of each of the first `times` batches unprocessed."""

    def __init__(self, inner: Transport, *, times: int, unprocessed: int) -> None:
        self.inner = inner
        self.times = times
        self.unprocessed = unprocessed
        self.sizes: list[int] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation != "BatchWriteItem":
            return self.inner.send(operation, request)
        writes = [(name, one) for name, some in request["RequestItems"].items() for one in some]
        self.sizes.append(len(writes))
        if self.times <= 0:
            return self.inner.send(operation, request)
        self.times -= 1
        processed, left = writes[: -self.unprocessed], writes[-self.unprocessed :]
        if processed:
            self.inner.send(operation, {"RequestItems": _by_table(processed)})
        return Response(msgspec.json.encode({"UnprocessedItems": _by_table(left)}))

    def close(self) -> None:
        self.inner.close()


def _by_table(writes: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    tables: dict[str, list[Any]] = {}
    for name, write in writes:
        tables.setdefault(name, []).append(write)
    return tables


class InterceptingTransport:
    """Calls a function before each request to an engine; it may raise, or return the response."""

    def __init__(
        self, engine: Engine, intercept: Callable[[str, dict[str, Any]], bytes | None]
    ) -> None:
        self.local = Local(engine)
        self.intercept = intercept

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        body = self.intercept(operation, request)
        return self.local.send(operation, request) if body is None else Response(body)

    def close(self) -> None:
        self.local.close()


class DelayedTransport:
    """Adds the latency of a network: half before the request arrives, half after."""

    def __init__(self, inner: Transport, latency: float) -> None:
        self.inner = inner
        self.latency = latency

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        time.sleep(self.latency / 2)
        try:
            return self.inner.send(operation, request)
        finally:
            time.sleep(self.latency / 2)

    def close(self) -> None:
        self.inner.close()


class LocalWithoutLocalIndexes(Local):
    """An endpoint that does not support local secondary indexes."""

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation == "CreateTable" and "LocalSecondaryIndexes" in request:
            raise ValidationException("Local Secondary Indexes are not supported")
        return super().send(operation, request)
