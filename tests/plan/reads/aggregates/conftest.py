"""An engine and a database with every table of the aggregate tests."""

from __future__ import annotations

import pytest

from tablewright import Table
from tests.plan.reads.aggregates.sales import Carte, Joined, Kitchen, Ranked, Sales


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Sales, Carte, Kitchen, Joined, Ranked)
