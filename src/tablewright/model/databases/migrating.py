"""Migrating: carry the tables of a design from one version to the next, in Python.

    from tablewright import migrations

    for each in migrations.plan("shop.db", Shop):
        print(*each.steps, sep="\\n")
    migrations.apply("shop.db", Shop)          # the new version; run again to continue
    migrations.rollback("shop.db", OldShop)    # the old version
    migrations.complete("shop.db", Shop)

A deployment job runs `apply` before it starts the new version of a program. The table records which
version its items are prepared for, so `connect` refuses a program of any other version.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

from msgspec import Struct

from tablewright.design_changes import DesignChange
from tablewright.errors import InvalidValue, MigrationRefused, TableNotFound
from tablewright.model.databases import connecting
from tablewright.model.databases.database import Database
from tablewright.model.databases.provision import Prepare, definition
from tablewright.model.description import describe_design
from tablewright.model.table import Table
from tablewright.plan.migration.executing import Report, Version
from tablewright.plan.migration.inspecting import ReadRevision
from tablewright.plan.migration.migrate import (
    Apply,
    Baseline,
    Complete,
    MigrationPlan,
    MigrationReport,
    Rollback,
)
from tablewright.plan.migration.revision import Command, Revision
from tablewright.plan.migration.write_rate import ResolveRate, read_rate
from tablewright.plan.plan import Context

#: A target as `connect` takes it, or a database that is open.
Target: TypeAlias = "connecting.Target | Database"


class MigrationStatus(Struct, frozen=True):
    """Which version of a design a table is prepared for, and how far a migration is."""

    table: str
    #: None: the table does not record it.
    revision: Revision | None
    #: How the declared version differs from the one that the items are prepared for.
    changes: tuple[DesignChange, ...] = ()


def plan(
    target: Target,
    *tables: type[Table],
    table_name: str | None = None,
    command: Command = "apply",
) -> list[MigrationPlan]:
    """Return what `apply`, or another command, would do to each table.

    Nothing is written, not even a lease.
    """
    commands: dict[Command, Any] = {"apply": Apply, "rollback": Rollback, "complete": Complete}
    make = commands[command]
    with _opened(target, tables, table_name) as database:
        return [database.run(make(version_of(database, each)).preview()) for each in tables]


class ExecutorOptions(TypedDict, total=False):
    """The options of the commands that write.

    `units_per_second` limits the write units: a number, or a share of the write capacity of the
    table, such as "25%" (`plan/migration/write_rate.py`). With `by_template`, a template changes
    indexes, TTL and stream: their steps wait until the table is so, however long that takes, and
    `progress` says what is awaited. If another executor is at work, a command waits `lease_seconds`
    to see whether it makes progress, and raises MigrationBusy if it does. A step
    `await-programs` waits `program_seconds` (by default 15) until connected programs that it stops
    have noticed; 0 is for tables that no program is connected to. With `plan`, what `plan()` has
    returned for the table, a command raises MigrationRefused if it would do something else now.
    """

    progress: Report | None
    units_per_second: float | str | None
    lease_seconds: float
    program_seconds: float | None
    by_template: bool
    plan: MigrationPlan | None


def apply(
    target: Target,
    *tables: type[Table],
    table_name: str | None = None,
    **options: Unpack[ExecutorOptions],
) -> list[MigrationReport]:
    """Prepare tables and their items for the declared version; run it again to continue.

    `ExecutorOptions` describes the options. Raises MigrationRefused if the change cannot be carried
    out, DuplicateValues if stored items share a unique value, and InvalidValue for an invalid rate
    or a share of a table without a limited capacity; then nothing was changed.
    """
    with _opened(target, tables, table_name) as database:
        _check_rate(database, tables, options.get("units_per_second"))
        return [database.run(Apply(version_of(database, each), **options)) for each in tables]


def rollback(
    target: Target,
    *tables: type[Table],
    table_name: str | None = None,
    **options: Unpack[ExecutorOptions],
) -> list[MigrationReport]:
    """Prepare tables and items for the version before again, and remove what the new one added.

    `tables` are those of the old version. It is possible until `complete`. The options are those of
    `apply`.
    """
    with _opened(target, tables, table_name) as database:
        _check_rate(database, tables, options.get("units_per_second"))
        return [database.run(Rollback(version_of(database, each), **options)) for each in tables]


def complete(
    target: Target,
    *tables: type[Table],
    table_name: str | None = None,
    delete_removed: bool = False,
    **options: Unpack[ExecutorOptions],
) -> list[MigrationReport]:
    """Remove what only the version before needs; this cannot be undone.

    The items of removed entities stay, unless `delete_removed` is true. The options are those of
    `apply`.
    """
    with _opened(target, tables, table_name) as database:
        _check_rate(database, tables, options.get("units_per_second"))
        return [
            database.run(
                Complete(version_of(database, each), delete_removed=delete_removed, **options)
            )
            for each in tables
        ]


def baseline(target: Target, *tables: type[Table], table_name: str | None = None) -> None:
    """Record that the items of tables are prepared for the declared version.

    It does not read the items: compare them with the design first (`tablewright check-items`).
    Raises MigrationRefused if a table records a version already.
    """
    with _opened(target, tables, table_name) as database:
        for each in tables:
            database.run(Prepare(each.__table__, record=False))  # it is as declared
            database.run(Baseline(version_of(database, each)))


def status(
    target: Target, *tables: type[Table], table_name: str | None = None
) -> list[MigrationStatus]:
    """Return what each table records; nothing is written."""
    with _opened(target, tables, table_name) as database:
        return [
            MigrationStatus(
                database.table_names[each.__table__],
                *database.run(ReadRevision(version_of(database, each))),
            )
            for each in tables
        ]


def write_units(
    target: Target, table: type[Table], rate: float | str, *, table_name: str | None = None
) -> float:
    """Return how many write units per second `units_per_second=rate` is, for the table as it is.

    Raises InvalidValue for an invalid rate, or a share of a table without a limited capacity.
    """
    read = read_rate(rate)
    with _opened(target, (table,), table_name) as database:
        return database.run(ResolveRate(table.__table__, read))


def _check_rate(
    database: Database, tables: tuple[type[Table], ...], rate: float | str | None
) -> None:
    """Raise InvalidValue for a rate that cannot be kept, before anything is changed."""
    if rate is not None:
        for each in tables:
            database.run(ResolveRate(each.__table__, read_rate(rate)))


def version_of(database: Database, table: type[Table]) -> Version:
    """Return the declared version of a table, with the name that it has in a database."""
    return table_version(table, database.table_names[table.__table__])


def table_version(table: type[Table], name: str) -> Version:
    """Return the declared version of a table that has this name."""
    compiled = table.__table__
    design = describe_design(table).tables[compiled.name]
    return Version(compiled, design, definition(compiled, name))


@contextmanager
def _opened(
    target: Target, tables: tuple[type[Table], ...], table_name: str | None
) -> Iterator[Database]:
    """Open a target without comparing its tables; a missing file is not created."""
    names = {each.__table__: table_name or each.__table__.name for each in tables}
    context = Context(names=names, secret=secrets.token_bytes(32))
    if not tables:
        raise InvalidValue("a migration takes at least one Table: pass the classes of your tables")
    if table_name is not None and len(tables) > 1:
        raise InvalidValue("table_name= takes one table; migrate each table separately")
    if isinstance(target, (str, Path)) and "://" not in str(target):
        if str(target) == ":memory:":
            raise MigrationRefused(
                "':memory:' has no tables; pass a file, an Engine or an endpoint"
            )
        if not Path(target).is_file():
            raise TableNotFound(f"{target}: no such file")
    if isinstance(target, Database):
        yield Database(target.transport, context, tables)
        return
    transport, owned = connecting.open_transport(target)
    database = Database(transport, context, tables, owned=owned)
    try:
        yield database
    finally:
        database.close()
