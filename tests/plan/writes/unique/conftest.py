"""An engine and databases of entities with unique values."""

from __future__ import annotations

import pytest

from tablewright import Engine, Table, connect
from tablewright.database import Database
from tests.plan.writes.unique.accounts import Accounts, Recipes


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Recipes,)


@pytest.fixture
def accounts(engine: Engine) -> Database:
    return connect(engine, Accounts)
