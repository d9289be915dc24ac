"""An engine and a database with every table of the aggregate tests."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.reads.aggregates.sales import Carte, Joined, Kitchen, Ranked, Sales
from tests.prepared import Prepare, with_tables


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Sales, Carte, Kitchen, Joined, Ranked)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Sales, Carte, Kitchen, Joined, Ranked)
