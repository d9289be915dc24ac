"""One client for both ways to send, so that a test is written once."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol, TypeVar

from tablewright import AsyncDatabase, Database, Table
from tablewright.model.database import _context
from tablewright.plan.plan import Plan
from tablewright.transport import Remote
from tablewright.transport.sigv4 import Credentials

T = TypeVar("T")


def remote(url: str, **options: Any) -> Remote:
    options = {
        "region": "us-east-1",
        "credentials": lambda: Credentials("key", "secret"),
        **options,
    }
    return Remote(url, **options)


class Client(Protocol):
    """Sends requests, and runs plans."""

    remote: Remote

    def send(self, operation: str, request: dict[str, Any]) -> bytes: ...
    def run(self, plan: Plan[T], table: type[Table]) -> T: ...
    def close(self) -> None: ...


class Waiting:
    def __init__(self, url: str, **options: Any) -> None:
        self.remote = remote(url, **options)

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        return self.remote.send(operation, request)

    def run(self, plan: Plan[T], table: type[Table]) -> T:
        context = _context((table,), None, None, None)
        return Database(self.remote, context, (table,)).run(plan)

    def close(self) -> None:
        self.remote.close()


class Looping:
    def __init__(self, url: str, **options: Any) -> None:
        self.remote = remote(url, **options)
        self._runner = asyncio.Runner()
        self._closed = False

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        return self._runner.run(self.remote.send_async(operation, request))

    def run(self, plan: Plan[T], table: type[Table]) -> T:
        context = _context((table,), None, None, None)
        return self._runner.run(AsyncDatabase(self.remote, context, (table,)).run(plan))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._runner.run(self.remote.close_async())
            self._runner.close()
