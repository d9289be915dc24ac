"""An engine and databases of entities with unique values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.writes.unique.accounts import Accounts, Recipes


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Recipes)


@pytest.fixture
def accounts(engine: Engine) -> Database:
    return connect(engine, Accounts)
