"""An engine and databases of entities with unique values."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.writes.unique.accounts import Accounts, Recipes
from tests.prepared import Prepare, with_tables


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Recipes)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Recipes)


@pytest.fixture
def accounts(engine: Engine) -> Database:
    return connect(engine, Accounts)
