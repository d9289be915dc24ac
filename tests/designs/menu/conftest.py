"""The menu with its sample data, in all four variants."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tablewright.designs.menu.checks import sample
from tests.designs.menu.support import TABLES
from tests.prepared import Prepare, with_tables


def fill(engine: Engine) -> None:
    database = connect(engine, *TABLES.values())
    for entity in sample():
        database.run(put(entity))


@pytest.fixture
def prepare(request: pytest.FixtureRequest) -> Prepare:
    return fill if "db" in request.fixturenames else with_tables()


@pytest.fixture
def db(engine: Engine) -> Database:
    """Return a database with the sample data of all four variants."""
    return connect(engine, *TABLES.values())
