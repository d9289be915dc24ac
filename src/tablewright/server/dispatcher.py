"""The dispatcher: what a connection expects of its server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tablewright.engine import Engine, Step
from tablewright.server.authentication import Authenticator
from tablewright.server.budget import Budget
from tablewright.server.hosts import Hosts
from tablewright.server.limits import Limits
from tablewright.server.responses import ResponseBuilder

if TYPE_CHECKING:
    from tablewright.server.connection import Connection
    from tablewright.server.isolation import IsolatedEngines
    from tablewright.server.telemetry import Telemetry


class Dispatcher(Protocol):
    """The parts of a server that a connection uses."""

    engine: Engine | IsolatedEngines
    responses: ResponseBuilder
    authenticator: Authenticator
    hosts: Hosts
    limits: Limits
    budget: Budget
    telemetry: Telemetry | None
    is_stopping: bool

    def connection_opened(self, connection: Connection) -> None: ...
    def connection_closed(self, connection: Connection) -> None: ...
    def submit(self, connection: Connection, step: Step) -> None:
        """Run a step, then call `connection.complete` with its result."""
        ...

    def prepare_in_thread(self, connection: Connection, prepare: Callable[[], Step]) -> None:
        """Call `prepare` in a thread, then submit its step, or call `connection.complete`."""
        ...

    def compress_in_thread(self, connection: Connection, body: bytes, encoding: bytes) -> None:
        """Compress a response in a thread, then call `connection.complete`."""
        ...
