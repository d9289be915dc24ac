"""The menu with its sample data, in all four variants."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tablewright.designs.menu.samples import sample
from tests.designs.menu.support import TABLES


@pytest.fixture
def db(engine: Engine) -> Database:
    """Return a database with the sample data of all four variants."""
    database = connect(engine, *TABLES.values())
    for entity in sample():
        database.run(put(entity))
    return database
