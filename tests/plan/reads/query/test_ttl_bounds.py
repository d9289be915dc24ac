"""A TTL is stored in whole seconds; a bound with a fraction of a second is compared exactly."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import Attr, Entity, Table, attr, connect, key, put, ttl
from tablewright.database import Database
from tablewright.errors import ConditionFailed
from tests.transports import record_requests

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
#: Stored as the seconds -1, 0, 0, 1, 1 and 2 after noon.
STORED = [timedelta(seconds=each) for each in (-1, -0.5, 0, 0.000001, 1, 1.5)]
BOUNDS = [timedelta(seconds=each) for each in (-2, -1, -0.5, 0, 0.000001, 0.999999, 1, 1.5, 2, 3)]


class Web(Table, name="ttl_bounds"): ...


class Session(Entity, table=Web):
    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=2)
    ends: Attr[datetime] = ttl()
    primary = key("USER" / user, "SESSION" / number)


class Queue(Table, name="ttl_queue", sk="ends"): ...


class Job(Entity, table=Queue):
    queue: Attr[str] = attr()
    ends: Attr[datetime] = ttl()
    primary = key("QUEUE" / queue, ends)


@pytest.fixture(scope="module")
def db() -> Database:
    db = connect(":memory:", Web, Queue)
    for number, each in enumerate(STORED):
        db.run(put(Session(user="u", number=number, ends=NOON + each)))
        db.run(put(Job(queue="q", ends=NOON + each)))
    return db


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: str(bound.total_seconds()))
@pytest.mark.parametrize("name", COMPARE)
def test_a_comparison_is_that_of_the_moments_that_are_read(
    db: Database, name: str, bound: timedelta
) -> None:
    compare, moment = COMPARE[name], NOON + bound
    every = db.run(Session.primary.within("u"))
    found = db.run(Session.primary.within("u").filter(compare(Session.ends, moment)))  # type: ignore[arg-type]
    assert list(found) == [each for each in every if compare(each.ends, moment)]
    jobs = db.run(Job.primary.within("q"))
    ranged = db.run(getattr(Job.primary.within("q"), name)(moment))
    assert list(ranged) == [job for job in jobs if compare(job.ends, moment)]


@pytest.mark.parametrize("low", BOUNDS[::2], ids=lambda bound: str(bound.total_seconds()))
@pytest.mark.parametrize("high", BOUNDS[1::2], ids=lambda bound: str(bound.total_seconds()))
def test_so_is_between(db: Database, low: timedelta, high: timedelta) -> None:
    first, last = sorted((NOON + low, NOON + high))
    every = db.run(Session.primary.within("u"))
    found = db.run(Session.primary.within("u").filter(Session.ends.between(first, last)))
    assert list(found) == [each for each in every if first <= each.ends <= last]
    jobs = db.run(Job.primary.within("q"))
    assert list(db.run(Job.primary.within("q").between(first, last))) == [
        job for job in jobs if first <= job.ends <= last
    ]


def test_a_value_equals_what_is_stored_for_it(db: Database) -> None:
    written = NOON + timedelta(seconds=1.5)
    found = db.run(Session.primary.within("u").filter(Session.ends == written))
    assert [each.number for each in found] == [5]


def test_a_condition_of_a_write_compares_exactly(db: Database) -> None:
    half = NOON + timedelta(seconds=1.5)
    plan = Session.primary("u", 4).update(Session.ends.set(NOON + timedelta(seconds=1)))
    db.run(plan.condition(Session.ends < half))
    with pytest.raises(ConditionFailed):
        db.run(plan.condition(Session.ends > half))


def test_a_whole_second_is_sent_as_one() -> None:
    with connect(":memory:", Web) as db:
        recording = record_requests(db)
        db.run(Session.primary.within("u").filter(Session.ends > NOON))
        db.run(Session.primary.within("u").filter(Session.ends > NOON + timedelta(milliseconds=1)))
    values = [request["ExpressionAttributeValues"].values() for _, request in recording.requests]
    assert {"N": "1768478400"} in values[0]
    assert {"N": "1768478400.001"} in values[1]
