"""Running: run the plan of a read, and record what it asks of the target.

    ran = run(database, plan)
    ran.result, ran.exchanges        the typed result; requests, responses, units and times

This module must not know markup.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.databases.database import Database
from tablewright.model.pattern import AccessPattern, explain
from tablewright.plan.plan import Plan
from tablewright.plan.reads.query import Query
from tablewright.plan.shape import Shape
from tablewright.transport import Response
from tablewright.verify.trace import Recorder, TracedRequest, count_entities

#: How many requests a page makes for one run.
MAX_REQUESTS = 100


class RunTooLarge(TablewrightError):
    """A plan makes more requests than a page does."""


class Ran(Struct, frozen=True):
    """What running a plan has given."""

    result: Any
    error: TablewrightError | None
    exchanges: tuple[TracedRequest, ...]

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


class RequestRecorder(Recorder):
    """A transport that records the requests that it sends, up to as many as a page makes."""

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if len(self.requests) >= MAX_REQUESTS:
            raise RunTooLarge(
                f"this pattern makes more than {MAX_REQUESTS} requests, which is more than a page "
                "does; run it with db.run() in a program"
            )
        return super().send(operation, request)


def run(database: Database, plan: Plan[Any]) -> Ran:
    """Run a plan. An error of the plan is part of what is returned; those of the target too.

    A page has the items that can be decoded, and the errors of the others.
    """
    recorder = RequestRecorder(database.transport)
    recorded = database.through(recorder)
    result, error = None, None
    try:
        result = recorded.run(plan.skip_unreadable() if isinstance(plan, Query) else plan)
    except TablewrightError as found:
        error = found
    answered = tuple(each for each in recorder.requests if each.error is None)
    return Ran(result, error, answered)


def shape_of(pattern: AccessPattern) -> Shape:
    """Return the shape of a pattern."""
    return _shape(pattern.function)


@cache
def _shape(function: Callable[..., Any]) -> Shape:
    return explain(function)
