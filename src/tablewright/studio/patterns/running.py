"""Running: run the plan of a read, and record what it asks of the target.

    ran = run(database, plan)
    ran.result, ran.exchanges        the typed result; requests, responses, units and times

This module must not know markup.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.database import Database
from tablewright.plan.events import add_capacity, consumed_units
from tablewright.plan.plan import Plan
from tablewright.plan.reads.query import Query
from tablewright.transport import Response, Transport
from tablewright.verify.run import count_entities, count_items

#: How many requests a page makes for one run.
MAX_REQUESTS = 100


class RunTooLarge(TablewrightError):
    """A plan makes more requests than a page does."""


class SentRequest(Struct, frozen=True):
    """One request, as the plan made it, and what came back."""

    operation: str
    body: dict[str, Any]
    #: How many items the target has read for it.
    read: int
    units: float
    seconds: float


class Ran(Struct, frozen=True):
    """What running a plan has given."""

    result: Any
    error: TablewrightError | None
    exchanges: tuple[SentRequest, ...]

    @property
    def read(self) -> int:
        return sum(each.read for each in self.exchanges)

    @property
    def returned(self) -> int:
        return count_entities(self.result)

    @property
    def units(self) -> float:
        return sum(each.units for each in self.exchanges)

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.exchanges)


class RequestRecorder:
    """A transport that records the requests that it sends."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self.exchanges: list[SentRequest] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if len(self.exchanges) >= MAX_REQUESTS:
            raise RunTooLarge(
                f"this pattern makes more than {MAX_REQUESTS} requests, which is more than a page "
                "does; run it with db.run() in a program"
            )
        started = time.perf_counter()
        response = self._transport.send(operation, add_capacity(operation, request))
        seconds = time.perf_counter() - started
        read = count_items(msgspec.json.decode(response.body))
        units = consumed_units(response.body)
        with self._lock:
            self.exchanges.append(SentRequest(operation, request, read, units, seconds))
        return response

    def close(self) -> None:
        """Do nothing: the owner closes the transport."""


def run(database: Database, plan: Plan[Any]) -> Ran:
    """Run a plan. An error of the plan is part of what is returned; those of the target too.

    A page has the items that can be decoded, and the errors of the others.
    """
    recorder = RequestRecorder(database._transport)
    recorded = Database(recorder, database._context, database._tables)
    result, error = None, None
    try:
        result = recorded.run(plan.skip_unreadable() if isinstance(plan, Query) else plan)
    except TablewrightError as found:
        error = found
    return Ran(result, error, tuple(recorder.exchanges))
