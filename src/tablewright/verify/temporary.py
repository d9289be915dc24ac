"""Temporary tables: tables for one run of the checks, with names of their own.

The names are random, so no existing table is read or written. The tables are removed when the block
ends, also after an exception or Ctrl-C.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from tablewright.errors import (
    ResourceInUseException,
    ResourceNotFoundException,
    TablewrightError,
)
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.model.databases.provision import Provision
from tablewright.model.table import Table
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.transport import open_target
from tablewright.transport.tables import wait_until_active


@contextmanager
def temporary_tables(target: str, *tables: type[Table]) -> Iterator[Database]:
    """Create tables named `verify-<random>-<table>` at a target and remove them afterwards."""
    prefix = f"verify-{secrets.token_hex(4)}-"
    names = {table.__table__: prefix + table.__table__.name for table in tables}
    with closing(open_target(target)) as transport:
        context = Context(names=names, secret=secrets.token_bytes(32))
        database = Database(transport, context, tables)
        for table in names:  # fails here, before a table is created, if removing is not allowed
            database.run(_Remove(table))
        try:
            for table in names:
                database.run(Provision(table, create=True))
            yield database
        finally:
            remove_tables(database, names)


def remove_tables(database: Database, tables: Iterable[TableMap]) -> None:
    """Remove tables; if some cannot be removed, or after Ctrl-C, raise an error that names them."""
    left = {database.table_names[table]: table for table in tables}
    reason: TablewrightError | KeyboardInterrupt | None = None
    for name in [*left]:
        try:
            database.run(_Remove(left[name]))
            del left[name]
        except TablewrightError as error:
            reason = reason or error
        except KeyboardInterrupt as error:
            reason = error
            break
    if left:
        raise TablewrightError(
            f"these tables could not be removed; delete them: {', '.join(left)} "
            f"({str(reason) or 'interrupted'})"
        ) from reason


class _Remove(Plan[None]):
    """Delete a table, if it exists."""

    def __init__(self, table: TableMap) -> None:
        self._table = table

    def _steps(self, context: Context) -> Steps[None]:
        name = context.name_of(self._table)
        try:
            if self._table.settings.deletion_protection:
                unprotected = {"TableName": name, "DeletionProtectionEnabled": False}
                yield Request("UpdateTable", unprotected)
                yield from wait_until_active(name)
            try:
                yield Request("DeleteTable", {"TableName": name})
            except ResourceInUseException:  # it is still being created
                yield from wait_until_active(name)
                yield Request("DeleteTable", {"TableName": name})
        except ResourceNotFoundException:
            pass
