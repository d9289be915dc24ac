"""The menu with its sample data, in all four variants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import connect, put
from tablewright.database import Database
from tablewright.designs.menu.samples import sample
from tests.designs.menu.support import TABLES, engine


@pytest.fixture
def db() -> Iterator[Database]:
    """Return a database with the sample data of all four variants."""
    with connect(":memory:", *TABLES.values()) as database:
        for entity in sample():
            database.run(put(entity))
        yield database
        assert engine(database).check()
