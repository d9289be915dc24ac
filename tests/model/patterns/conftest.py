"""An engine, a database and items to find."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tests.model.patterns.club import Club, Numbers
from tests.model.patterns.found import ITEMS, Found
from tests.prepared import Prepare, with_tables

TABLES = (Club, Found, Numbers)


def fill(engine: Engine) -> None:
    db = connect(engine, *TABLES)
    for item in ITEMS:
        db.run(put(item))


@pytest.fixture
def prepare(request: pytest.FixtureRequest) -> Prepare:
    return fill if "found" in request.fixturenames else with_tables(*TABLES)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, *TABLES)


@pytest.fixture
def found(db: Database) -> Database:
    return db
