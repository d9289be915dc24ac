"""An engine and a database, empty and filled."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from tablewright import Engine, connect, create
from tablewright.database import Database
from tests.plan.reads.query.desk import MONDAY, Desk, Diary, Shelf, Weather, comment, task


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Desk, Weather, Shelf, Diary)


@pytest.fixture
def filled(db: Database) -> Database:
    """Twelve tasks with three comments each, and a task of another project."""
    for number in range(1, 13):
        created = task(
            number,
            due=None if number % 3 == 0 else date(2026, 2, number),
            assignee="ann" if number % 2 else None,
            priority=number,
        )
        db.run(create(created))
        for name in "abc":
            db.run(create(comment(number, name, by="ann", at=MONDAY + timedelta(hours=number))))
    db.run(create(task(1, project="Q")))
    return db
