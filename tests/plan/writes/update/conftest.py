"""An engine, a database and one stored order."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright import Table, create
from tablewright.database import Database
from tests.plan.writes.update.orders import AT, Order, Orders


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Orders,)


@pytest.fixture
def order(db: Database) -> Order:
    return db.run(
        create(
            Order(
                customer="C1",
                number=7,
                at=AT,
                city="Bern",
                street="Aare",
                rank=5,
                total=Decimal(20),
            )
        )
    )
