"""A database with the catalog table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import connect
from tablewright.database import Database
from tests.model.entities.catalog import Catalog, engine_of


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Catalog) as db:
        yield db
        assert engine_of(db).check()
