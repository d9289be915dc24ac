"""Fixtures: the types of the fixtures for pytest, for annotations in tests.

    def test_an_order_is_paid(tablewright_db: MakeDatabase) -> None:
        db = tablewright_db(Commerce)

The fixtures themselves are in `tablewright.pytest_plugin`.
"""

from __future__ import annotations

from typing import Any, Protocol

from tablewright.model.databases.database import AsyncDatabase, Database
from tablewright.model.table import Table


class MakeDatabase(Protocol):
    """`tablewright_db(Commerce)` returns a database with empty tables; options as for `connect`.

    With `beside`, it opens the tables of another database, for example with the next version of
    their design.
    """

    def __call__(
        self, *tables: type[Table], beside: Database | None = None, **options: Any
    ) -> Database: ...


class MakeAsyncDatabase(Protocol):
    """`await tablewright_async_db(Commerce)` returns a database; options as `connect_async`."""

    async def __call__(self, *tables: type[Table], **options: Any) -> AsyncDatabase: ...
