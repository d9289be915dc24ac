"""A database with the tables that a folder or a file names."""

from __future__ import annotations

import pytest

from tablewright import Engine, Table, connect
from tablewright.database import Database
from tests.prepared import Prepare, with_tables


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    """The tables of `db`. A folder or a file overrides it."""
    return ()


@pytest.fixture
def prepare(tables: tuple[type[Table], ...]) -> Prepare:
    # mypy does not know that classes are hashable
    return with_tables(*tables)  # type: ignore[arg-type]


@pytest.fixture
def db(engine: Engine, tables: tuple[type[Table], ...]) -> Database:
    return connect(engine, *tables)
