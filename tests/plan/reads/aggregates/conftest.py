"""An engine and a database with every table of the aggregate tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.reads.aggregates.sales import Carte, Joined, Kitchen, Ranked, Sales


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Sales, Carte, Kitchen, Joined, Ranked)
