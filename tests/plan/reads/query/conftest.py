"""An engine and a database, empty and filled."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tablewright import Engine, connect, create
from tablewright.database import Database
from tests.plan.reads.query.desk import MONDAY, Desk, Diary, Shelf, Weather, comment, task
from tests.prepared import Prepare, with_tables

TABLES = (Desk, Weather, Shelf, Diary)


def fill(engine: Engine) -> None:
    db = connect(engine, *TABLES)
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


@pytest.fixture
def prepare(request: pytest.FixtureRequest) -> Prepare:
    return fill if "filled" in request.fixturenames else with_tables(*TABLES)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, *TABLES)


@pytest.fixture
def filled(db: Database) -> Database:
    """Twelve tasks with three comments each, and a task of another project."""
    return db
