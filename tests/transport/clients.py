"""One client for both ways to send, so that a test is written once."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, TypeVar

from tablewright import Table
from tablewright.backoff import Backoff
from tablewright.database import AsyncDatabase, Database
from tablewright.plan.plan import Context, Plan
from tablewright.sigv4 import SigningCredentials
from tablewright.transport import Response, retry
from tablewright.transport.remote import Remote

T = TypeVar("T")


#: With the usual delays, up to 1 s after throttling, tests would mostly wait.
SOON = Backoff(retry.MAX_ATTEMPTS, first=0.01, longest=0.01)


def remote(url: str, **options: Any) -> Remote:
    options = {
        "region": "us-east-1",
        "after_failure": SOON,
        "after_throttling": SOON,
        "credentials": lambda: SigningCredentials("key", "secret"),
        **options,
    }
    return Remote(url, **options)


def _context(table: type[Table]) -> Context:
    compiled = table.__table__
    return Context(names={compiled: compiled.name}, secret=b"secret")


class Client(Protocol):
    """Sends requests, and runs plans."""

    remote: Remote

    def send(self, operation: str, request: dict[str, Any]) -> Response: ...
    def run(self, plan: Plan[T], table: type[Table]) -> T: ...
    def close(self) -> None: ...


class Waiting:
    def __init__(self, url: str, **options: Any) -> None:
        self.remote = remote(url, **options)

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        return self.remote.send(operation, request)

    def run(self, plan: Plan[T], table: type[Table]) -> T:
        return Database(self.remote, _context(table), (table,)).run(plan)

    def close(self) -> None:
        self.remote.close()


class Looping:
    def __init__(self, url: str, **options: Any) -> None:
        self.remote = remote(url, **options)
        self._runner = asyncio.Runner()
        self._closed = False

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        return self._runner.run(self.remote.send_async(operation, request))

    def run(self, plan: Plan[T], table: type[Table]) -> T:
        return self._runner.run(AsyncDatabase(self.remote, _context(table), (table,)).run(plan))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._runner.run(self.remote.close_async())
            self._runner.close()
