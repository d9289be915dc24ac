"""An engine and a database with the tables of menus."""

from __future__ import annotations

import pytest

from tablewright import Table
from tests.plan.writes.move.menus import Menus


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Menus,)
