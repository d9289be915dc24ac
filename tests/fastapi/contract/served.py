"""An application behind a socket, whose requests to DynamoDB are compared with its document."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import uvicorn
from fastapi import FastAPI

from tablewright.plan.facts import UnitRange
from tablewright.plan.request_events import RequestEvent
from tablewright.plan.shape import Shape
from tablewright.plans import AccessPattern

_READS = ("GetItem", "Query", "BatchGetItem", "TransactGetItems")
_WRITES = ("PutItem", "UpdateItem", "DeleteItem")
Sent = tuple[str, str | None]


class StatedRequests:
    """Compares what each HTTP request asks of DynamoDB with what its operation states.

    An operation with one request sends that one. One with several leaves out what is not needed,
    such as a write of what it has not found. It sends no other request, and repeats only a query,
    until a page is full. The units are at most the stated ones.
    """

    def __init__(
        self, app: FastAPI, events: list[RequestEvent], patterns: Iterable[AccessPattern]
    ) -> None:
        self._app = app
        self._events = events
        shapes = {each.label: each.api_shape for each in patterns}
        self._stated: dict[str, tuple[list[Sent], Shape]] = {}
        for operations in app.openapi()["paths"].values():
            for operation in operations.values():
                if "x-tablewright" in operation:
                    stated = operation["x-tablewright"]
                    requests = [
                        (each["operation"], each.get("index")) for each in stated["requests"]
                    ]
                    self._stated[operation["operationId"]] = requests, shapes[stated["pattern"]]
        self.differences: list[str] = []
        self.compared = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        self._events.clear()
        status = 0

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._app(scope, receive, sending)
        name = getattr(scope.get("route"), "operation_id", None)
        if name in self._stated:
            self.compared += 1
            self._compare(f"{scope['method']} {scope['path']}: {status}", name)

    def _compare(self, request: str, name: str) -> None:
        stated, shape = self._stated[name]
        sent = [(each.operation, each.index or None) for each in self._events]
        sent = [each for each, _ in groupby(sent, key=lambda one: one)]
        left = iter(stated)
        is_stated = all(any(_is_stated(each, other) for other in left) for each in sent)
        is_refused = not request.endswith((": 200", ": 201", ": 204", ": 304"))
        if not is_stated or (len(stated) == 1 and not sent and not is_refused):
            self.differences.append(f"{request}: sent {sent}, stated {stated}")
        for kind, limits in (("read", shape.read_range), ("write", shape.write_range)):
            is_read = kind == "read"
            units = sum(
                each.units for each in self._events if (each.operation in _READS) is is_read
            )
            if units and units not in UnitRange(0, limits.high, limits.per_item):
                self.differences.append(f"{request}: {units} {kind} units, stated {limits}")


def _is_stated(sent: Sent, stated: Sent) -> bool:
    """Return whether a request is the stated one; a transaction of one write is that write."""
    is_same_place = sent[0] not in _READS or sent[1] == stated[1]
    is_same = sent[0] == stated[0] and is_same_place
    return is_same or (sent[0] in _WRITES and stated[0] == "TransactWriteItems")


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on a free port while the block runs; return its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listening.close()
