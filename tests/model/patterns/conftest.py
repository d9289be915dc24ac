"""An engine, a database and items to find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tests.model.patterns.club import Club, Numbers
from tests.model.patterns.found import ITEMS, Found


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Club, Found, Numbers)


@pytest.fixture
def found(db: Database) -> Database:
    for item in ITEMS:
        db.run(put(item))
    return db
