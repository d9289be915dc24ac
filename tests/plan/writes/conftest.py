from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, Table
from tests.plan.writes.bank import Bank, Branches
from tests.prepared import Prepare, checked


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Bank, Branches)


@pytest.fixture
def engine(prepare: Prepare) -> Iterator[Engine]:
    """An engine in memory. What a test writes is checked, and undone."""
    with checked(prepare) as engine:
        yield engine
