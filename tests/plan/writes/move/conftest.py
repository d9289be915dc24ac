"""An engine and a database with the tables of menus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tests.plan.writes.move.menus import Menus


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Menus)
