"""The commerce design with its sample data and a fixed clock."""

from __future__ import annotations

import msgspec
import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tablewright.designs.commerce import Commerce
from tablewright.designs.commerce.checks import sample
from tests.designs.commerce.support import NOW
from tests.prepared import Prepare, with_tables
from tests.transports import CapacityTransport


def connected(engine: Engine) -> Database:
    """Return a database with a fixed clock."""
    database = connect(engine, Commerce)
    database._context = msgspec.structs.replace(database._context, clock=lambda: NOW)
    return database


def fill(engine: Engine) -> None:
    database = connected(engine)
    for entity in sample():
        database.run(put(entity))


@pytest.fixture
def prepare(request: pytest.FixtureRequest) -> Prepare:
    return fill if "db" in request.fixturenames else with_tables()


@pytest.fixture
def db(engine: Engine) -> Database:
    """Return a database with the sample data and a fixed clock."""
    return connected(engine)


@pytest.fixture
def sent(db: Database) -> CapacityTransport:
    db._transport = sent = CapacityTransport(db._transport)
    return sent
