"""A database with the items of several tenants, whole and scoped to one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import Engine, connect, create
from tablewright.database import Database
from tests.model.tenancy.market import USERS, Inventory, Market, everything_of
from tests.prepared import Prepare, checked
from tests.things import Things


def fill(engine: Engine) -> None:
    db = connect(engine, Market, Things)
    for user in USERS:
        for entity in everything_of(user):
            db.run(create(entity))
    for number in range(3):
        db.run(create(Inventory(item_id=number)))


@pytest.fixture
def prepare() -> Prepare:
    return fill


@pytest.fixture
def engine(prepare: Prepare) -> Iterator[Engine]:
    """An engine with these items. What a test writes is checked, and undone."""
    with checked(prepare) as engine:
        yield engine


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Market, Things, cursor_secret="secret")


@pytest.fixture
def own(db: Database) -> Database:
    """The database of the user a."""
    return db.for_tenant(user_id="a")
