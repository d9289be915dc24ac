"""A pytest fixture that creates databases in memory.

    def test_an_order_is_paid(tablewright_db):
        db = tablewright_db(Commerce)
        db.run(create(order))

pytest finds the fixture when the package is installed. Each test has its own database and uses no
port, so tests can run in parallel, also with pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from tablewright.model.database import Database
    from tablewright.model.table import Table


class MakeDatabase(Protocol):
    """`tablewright_db(Commerce)` returns a database with empty tables; options as for `connect`."""

    def __call__(self, *tables: type[Table], **options: Any) -> Database: ...


@pytest.fixture
def tablewright_db() -> Iterator[MakeDatabase]:
    """Yield a function that creates databases in memory; close them after the test."""
    with ExitStack() as databases:

        def make(*tables: type[Table], **options: Any) -> Database:
            from tablewright.model.database import (
                connect,
            )  # a test session without the fixture does not need it

            return databases.enter_context(connect(":memory:", *tables, **options))

        yield make
