"""Seeding: create the tables of a design with its sample data, or temporary ones for the checks.

If `seed` fails or is interrupted, the tables that it has created are removed, and what it has
loaded into existing tables is deleted. These were empty before, so nothing else is deleted.

Temporary tables have random names, so no existing table is read or written. They are removed when
the block ends, also after an exception or Ctrl-C.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

from tablewright.engine import Engine
from tablewright.errors import (
    DesignLoadError,
    ResourceInUseException,
    ResourceNotFoundException,
    TableNotEmpty,
    TablewrightError,
)
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.model.databases.provision import Provision
from tablewright.model.table import Table
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.put import create
from tablewright.transfer.endpoints import open_or_create
from tablewright.transfer.sending import run_steps
from tablewright.transport import Transport
from tablewright.transport.tables import describe_table, wait_until_active
from tablewright.transport.targets import open_target
from tablewright.verify.contents import Scanner
from tablewright.verify.design import Design, describe_failure

#: The write time of sample entities without an `updated_at()` attribute.
DEFAULT_WRITE_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def seed(design: Design, target: str | Engine) -> dict[str, Counter[str]]:
    """Load the sample data of a design and return the number of items by table and entity.

    Sentinels of unique values have the entity "". Raises TableNotEmpty before it writes any item if
    a table contains items, and TableMismatch if a table is not as declared.
    """
    if isinstance(target, Engine):
        return load_into(design, open_target(target))
    with open_or_create(target) as transport:
        return load_into(design, transport)


def load_into(design: Design, transport: Transport) -> dict[str, Counter[str]]:
    """Load the sample data of a design through a transport, as `seed` does."""
    names = {table.__table__: table.__table__.name for table in design.tables}
    entities: list[Any] = []
    with ExitStack() as undo:
        context = Context(names=names, secret=secrets.token_bytes(32))
        database = Database(transport, context, design.tables)
        existing = [
            table for table, name in names.items() if run_steps(transport, describe_table(name))
        ]
        for table in names:
            if table not in existing:
                undo.callback(remove_tables, database, [table])
            database.run(Provision(table, create=True))
        scan = Scanner(database)
        refuse_items(
            scan,
            "sample data is loaded into empty tables only; delete the table or use a new file",
        )
        undo.callback(_delete_sample, entities, existing, database)
        load_sample(design, database, entities)
        loaded = {name: _count(table, scan) for table, name in names.items()}
        undo.pop_all()
    return loaded


def load_sample(design: Design, database: Database, loaded: list[Any] | None = None) -> None:
    """Store a design's sample data in its tables, each entity with its own `updated_at()` time.

    `loaded` gets the entities, each before it is stored. Raises DesignLoadError if `sample` fails,
    or if an entity cannot be stored.
    """
    try:
        for entity in design.sample() if design.sample else ():
            if loaded is not None:
                loaded.append(entity)
            updated = type(entity).__entity__.updated_at
            moment = DEFAULT_WRITE_TIME if updated is None else vars(entity)[updated.name]
            clocked = database.through(database.transport, clock=repeat(moment).__next__)
            clocked.run(create(entity))
    except Exception as error:
        raise DesignLoadError(
            f"{design.name}: the sample data cannot be stored: {describe_failure(error)}"
        ) from error


def refuse_items(scan: Scanner, fix: str) -> None:
    """Raise TableNotEmpty if a table contains items."""
    for table, name in scan.database.table_names.items():
        if not scan.is_empty(table):
            raise TableNotEmpty(f"the table {name} is not empty: {fix}")


def _count(table: TableMap, scan: Scanner) -> Counter[str]:
    kinds = (kind for kind in map(table.identify, scan.items(table)) if not kind.is_record)
    return Counter("" if kind.stored is None else kind.stored.name for kind in kinds)


def _delete_sample(entities: list[Any], tables: list[TableMap], database: Database) -> None:
    """Delete the loaded entities that are in these tables."""
    try:
        for entity in reversed(entities):  # those that count others are the first
            kind = type(entity).__entity__
            if kind.table in tables:
                database.run(Delete(kind, kind.stored_key(entity)))
    except (TablewrightError, KeyboardInterrupt) as error:
        names = ", ".join(table.name for table in tables)
        raise TablewrightError(
            f"a part of the sample data could not be deleted; delete the items of: {names} "
            f"({str(error) or 'interrupted'})"
        ) from error


@contextmanager
def temporary_tables(target: str, *tables: type[Table]) -> Iterator[Database]:
    """Create tables named `verify-<random>-<table>` at a target and remove them afterwards.

    A file that did not exist is removed with them.
    """
    prefix = f"verify-{secrets.token_hex(4)}-"
    names = {table.__table__: prefix + table.__table__.name for table in tables}
    with open_or_create(target) as transport:
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
