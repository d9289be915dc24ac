"""Versions: which version of the design the tables of the target are prepared for.

Three requests for each table: DescribeTable, GetItem of its record, DescribeTimeToLive. Nothing is
written.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from tablewright.errors import MigrationRefused, TableNotFound
from tablewright.model.databases.migrating import version_of
from tablewright.model.table import Table
from tablewright.plan.migration.migrate import Inspect, MigrationInspection
from tablewright.studio.target.inventory import THREADS
from tablewright.studio.workspace import Workspace


class VersionedTable(Struct, frozen=True):
    """What a table of the design records."""

    name: str
    #: None: the table does not exist, or its record cannot be read.
    found: MigrationInspection | None = None
    #: Why the record cannot be read; "" if it can.
    problem: str = ""

    @property
    def is_migrating(self) -> bool:
        """Whether a migration is under way; it may be interrupted."""
        revision = None if self.found is None else self.found.revision
        return revision is not None and not (revision.state is None and revision.lease is None)


def inspect_tables(workspace: Workspace) -> list[VersionedTable]:
    """Return what each table of the design records; tables without entities have no version."""
    tables = [table for table in workspace.tables if table.__table__.entities]
    if workspace.is_remote:
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(lambda table: _inspect(workspace, table), tables))
    return [_inspect(workspace, table) for table in tables]


def _inspect(workspace: Workspace, table: type[Table]) -> VersionedTable:
    name, database = table.__table__.name, workspace.database()
    try:
        return VersionedTable(name, database.run(Inspect(version_of(database, table))))
    except TableNotFound:
        return VersionedTable(name)
    except MigrationRefused as error:
        return VersionedTable(name, problem=str(error))
