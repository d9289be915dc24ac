"""Only one executor works at a time, and one that has lost its lease writes nothing."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tablewright import Engine
from tablewright.errors import DynamoDBError, MigrationBusy
from tablewright.plan.plan import Wait
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    in_pages,
    migration,
    record,
    sending,
    steps_of,
    stop_before,
    stored,
    whole,
)

PAIR = PAIRS["several changes"]


def apply(**options: Any) -> Any:
    return migration("apply", PAIR.new, **options)


class Stepwise:
    """An executor that performs one request at a time."""

    def __init__(self, engine: Engine) -> None:
        self._send = in_pages(sending(engine))
        self._steps: Generator[Any, bytes, Any] = steps_of(apply())
        self.step = next(self._steps)

    def advance(self) -> None:
        try:
            answer = b""
            if not isinstance(self.step, Wait):
                answer = self._send(self.step.operation, self.step.body)
        except DynamoDBError as fault:
            self.step = self._steps.throw(fault)
        else:
            self.step = self._steps.send(answer)


def test_an_executor_beside_a_working_one_is_refused() -> None:
    engine = stored(PAIR)
    first = Stepwise(engine)
    for _ in range(12):
        first.advance()
    second = steps_of(apply(lease_seconds=5))
    step = next(second)
    waited = list[float]()
    with pytest.raises(MigrationBusy, match="another executor migrates the table 'things'"):  # noqa: PT012  # two plans in turn
        while True:
            if isinstance(step, Wait):
                waited.append(step.seconds)
                for _ in range(3):  # it makes progress
                    first.advance()
                step = second.send(b"")
            else:
                step = second.send(sending(engine)(step.operation, step.body))
    assert waited == [2.0]


@pytest.mark.parametrize("seconds", [0.5, 2, 5, 30])
def test_a_dead_executor_is_replaced_after_its_lease(seconds: float) -> None:
    engine = stored(PAIR)
    with pytest.raises(Stopped):
        drive(apply(), stop_before(12, sending(engine)))
    waits = list[float]()
    drive(apply(lease_seconds=seconds), engine, waits)
    assert sum(waits) == seconds


def test_of_two_that_wait_for_a_dead_one_the_slower_does_not_take_over_from_the_faster() -> None:
    engine = stored(PAIR)
    with pytest.raises(Stopped):
        drive(apply(), stop_before(12, sending(engine)))

    def race(operation: str, body: dict[str, Any]) -> bytes:
        if "$fence" in body.get("ExpressionAttributeNames", {}).values() and not rivals:
            rivals.append(Stepwise(engine))
            while rivals[0].step.operation != "UpdateItem":
                rivals[0].advance()
            rivals[0].advance()
        return sending(engine)(operation, body)

    rivals = list[Stepwise]()
    with pytest.raises(MigrationBusy, match="another executor migrates"):
        drive(apply(lease_seconds=4), race)
    for _ in range(5):
        rivals[0].advance()  # it still has its lease


@pytest.mark.parametrize(
    "first", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in range(9, 16))]
)
def test_a_stalled_executor_writes_nothing_after_another_has_taken_over(first: int) -> None:
    """It wakes up when the other one has migrated the table, and another has gone back."""
    stalls = 0
    for number in range(first, 60, 8):
        engine = stored(PAIR)
        stalled = Stepwise(engine)
        try:
            for _ in range(number):
                stalled.advance()
        except StopIteration:
            break
        drive(apply(), engine)
        drive(migration("rollback", PAIR.old), engine)
        before = whole(engine)
        with pytest.raises((MigrationBusy, StopIteration)):  # noqa: PT012  # all its requests
            while True:
                stalled.advance()
        assert whole(engine) == before
        stalls += 1
    assert stalls > 2


def test_a_lost_response_to_the_lease_does_not_make_it_wait() -> None:
    engine = stored(PAIR)
    acquired = False

    def lose(operation: str, body: dict[str, Any]) -> bytes:
        nonlocal acquired
        answer = sending(engine)(operation, body)
        if operation == "UpdateItem" and not acquired:
            acquired = True  # a transport sends it again
            return sending(engine)(operation, body)
        return answer

    waits = list[float]()
    drive(apply(lease_seconds=30), lose, waits)
    assert sum(waits) == 0
    assert "$lease" not in record(engine)


def test_an_executor_that_has_ended_leaves_no_lease() -> None:
    engine = stored(PAIR)
    for command, side in (("apply", PAIR.new), ("apply", PAIR.new), ("complete", PAIR.new)):
        drive(migration(command, side), engine)
        assert record(engine).keys().isdisjoint({"$lease", "$steps", "$target"})
