"""A database in memory with the tables of the shop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import connect
from tablewright.database import Database
from tablewright.transport.targets import Local
from tests.model.database.shop import Ledger, Shop, engine_of


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Shop, Ledger) as db:
        yield db
        report = engine_of(db).check() if isinstance(db._transport, Local) else True
        assert report
