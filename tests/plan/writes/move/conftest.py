"""An engine and a database with the tables of menus."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.writes.move.menus import Menus
from tests.prepared import Prepare, with_tables


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Menus)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Menus)
