"""A fixture for tests: an empty database in memory, for one test alone.

    def test_an_order_is_paid(tablewright_db):
        db = tablewright_db(Commerce)
        db.run(create(order))

pytest finds it by itself once the package is installed. Each test has its own database, nothing is
shared, no port is taken: tests may run side by side, under pytest-xdist too.
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
    """`tablewright_db(Commerce)`: a database with empty tables; options as those of `connect`."""

    def __call__(self, *tables: type[Table], **options: Any) -> Database: ...


@pytest.fixture
def tablewright_db() -> Iterator[MakeDatabase]:
    """Makes databases in memory, and closes them when the test is over."""
    with ExitStack() as databases:

        def make(*tables: type[Table], **options: Any) -> Database:
            from tablewright.model.database import connect  # only where it is used

            return databases.enter_context(connect(":memory:", *tables, **options))

        yield make
