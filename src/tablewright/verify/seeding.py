"""Seeding: create the tables of a design and load its sample data, or leave nothing behind.

If this fails or is interrupted, the tables that it has created are removed, and what it has loaded
into existing tables is deleted. These were empty before, so nothing else is deleted.
"""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import ExitStack
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import TablewrightError
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.writes.delete import Delete
from tablewright.transport import Transport, open_target
from tablewright.transport.tables import describe_table
from tablewright.verify.contents import Scanner, load_sample, refuse_items
from tablewright.verify.design import Design
from tablewright.verify.temporary import remove_tables


def seed(design: Design, target: str | Engine) -> dict[str, Counter[str]]:
    """Load the sample data of a design and return the number of items by table and entity.

    Sentinels of unique values have the entity "". Raises TableNotEmpty before it writes any item if
    a table contains items, and TableMismatch if a table is not as declared.
    """
    with ExitStack() as opened:
        transport = open_target(target)
        if not isinstance(target, Engine):
            opened.callback(transport.close)
        return load_into(design, transport)


def load_into(design: Design, transport: Transport) -> dict[str, Counter[str]]:
    """Load the sample data of a design through a transport, as `seed` does."""
    names = {table.__table__: table.__table__.name for table in design.tables}
    entities: list[Any] = []

    def sample() -> list[Any]:
        assert design.sample is not None
        entities.extend(design.sample())
        return entities

    with ExitStack() as undo:
        context = Context(names=names, secret=secrets.token_bytes(32))
        database = Database(transport, context, design.tables)
        existing = [table for table in names if database.run(_Exists(table))]
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
        load_sample(msgspec.structs.replace(design, sample=sample), database)
        loaded = {name: _count(table, scan) for table, name in names.items()}
        undo.pop_all()
    return loaded


def _count(table: TableMap, scan: Scanner) -> Counter[str]:
    kinds = (kind for kind in map(table.identify, scan.items(table)) if not kind.is_record)
    return Counter("" if kind.stored is None else kind.stored.name for kind in kinds)


def _delete_sample(entities: list[Any], tables: list[TableMap], database: Database) -> None:
    """Delete the entities that are in these tables, as far as they have been loaded."""
    try:
        for entity in entities:
            kind = type(entity).__entity__
            if kind.table in tables:
                database.run(Delete(kind, kind.stored_key(entity)))
    except (TablewrightError, KeyboardInterrupt) as error:
        names = ", ".join(table.name for table in tables)
        raise TablewrightError(
            f"a part of the sample data could not be deleted; delete the items of: {names} "
            f"({str(error) or 'interrupted'})"
        ) from error


class _Exists(Plan[bool]):
    """Return whether a table exists."""

    def __init__(self, table: TableMap) -> None:
        self._table = table

    def _steps(self, context: Context) -> Steps[bool]:
        return (yield from describe_table(context.name_of(self._table))) is not None
