"""An engine, a database and one stored order."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from tablewright import Engine, connect, create
from tablewright.database import Database
from tests.plan.writes.update.orders import AT, Order, Orders


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Orders)


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
