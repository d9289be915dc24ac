"""The commerce design with its sample data and a fixed clock."""

from __future__ import annotations

import msgspec
import pytest

from tablewright import Engine, connect, put
from tablewright.database import Database
from tablewright.designs.commerce import Commerce
from tablewright.designs.commerce.samples import sample
from tests.designs.commerce.support import NOW
from tests.transports import CapacityTransport


@pytest.fixture
def db(engine: Engine) -> Database:
    """Return a database with the sample data and a fixed clock."""
    database = connect(engine, Commerce)
    database._context = msgspec.structs.replace(database._context, clock=lambda: NOW)
    for entity in sample():
        database.run(put(entity))
    return database


@pytest.fixture
def sent(db: Database) -> CapacityTransport:
    db._transport = sent = CapacityTransport(db._transport)
    return sent
