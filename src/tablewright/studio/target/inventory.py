"""The inventory: the tables at the target, as their descriptions state them.

    overview(workspace, after)   a page of tables, those of the design first
    find_table(workspace, name)  one table

A table of the design that does not exist is listed, too. Counts and sizes are those of
DescribeTable, which DynamoDB updates about every six hours.

    inspect_tables(workspace)    which version of the design each table is prepared for

That takes three requests for each table: DescribeTable, GetItem of its record, DescribeTimeToLive.
Nothing is written.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import (
    AccessDeniedException,
    DesignMismatch,
    MigrationRefused,
    TableMismatch,
    TableNotFound,
    UnknownOperationException,
    UnsupportedOperation,
)
from tablewright.mapping.table import TableMap
from tablewright.model.databases.migrating import version_of
from tablewright.model.databases.provision import Provision
from tablewright.model.table import Table
from tablewright.plan.migration.inspecting import Inspect, MigrationInspection
from tablewright.schema import KeySchema, ProjectedAttributes
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription, read_ttl

#: The tables of a page, as many as ListTables returns at most.
PAGE = 100
#: The descriptions that are requested at the same time, if the target is not in this process.
THREADS = 8


class FoundTable(Struct, frozen=True):
    """What is known of a table; without a description, it does not exist."""

    name: str
    #: The table of the design with this name.
    declared: TableMap | None = None
    description: TableDescription | None = None
    #: How the table differs from its declaration.
    differences: tuple[str, ...] = ()

    @property
    def items(self) -> int:
        return 0 if self.description is None else self.description.state.items or 0


class Overview(Struct, frozen=True):
    """A page of tables."""

    tables: list[FoundTable]
    #: The name after which the next page begins.
    next: str | None


def overview(workspace: Workspace, after: str = "") -> Overview:
    """Return a page of tables; the first page begins with the tables of the design."""
    start = {"ExclusiveStartTableName": after} if after else {}
    answer: dict[str, Any] = {"TableNames": []}
    try:
        answer = workspace.send("ListTables", Limit=PAGE, **start)
    except AccessDeniedException:
        if not workspace.maps:  # those of the design may be described nevertheless
            raise
    names = [name for name in answer["TableNames"] if name not in workspace.maps]
    if not after:
        names = [*workspace.maps, *names]
    if workspace.is_remote:
        with ThreadPoolExecutor(THREADS) as threads:
            tables = list(threads.map(lambda name: find_table(workspace, name), names))
    else:
        tables = [find_table(workspace, name) for name in names]
    return Overview(tables, answer.get("LastEvaluatedTableName"))


def find_table(workspace: Workspace, name: str) -> FoundTable:
    """Return what is known of a table."""
    declared = workspace.maps.get(name)
    description = workspace.describe(name)
    if description is None:
        return FoundTable(name, declared)
    differences: list[str] = []
    if declared is not None and description.state.status == "ACTIVE":
        differences = compare_with_design(workspace, declared)
    description = replace(description, ttl=_ttl(workspace, name))
    return FoundTable(name, declared, description, tuple(differences))


def compare_with_design(workspace: Workspace, declared: TableMap) -> list[str]:
    """Return the differences between a table and its declaration, as `connect` states them."""
    try:
        workspace.database().run(Provision(declared, create=False))
    except (TableMismatch, DesignMismatch) as error:
        return list(map(str, error.differences))
    return []


def _ttl(workspace: Workspace, name: str) -> str | None:
    with suppress(UnsupportedOperation, UnknownOperationException, AccessDeniedException):
        return read_ttl(workspace.send("DescribeTimeToLive", TableName=name))
    return None


def format_keys(keys: KeySchema) -> str:
    """Return the attributes of a key with their types.

    >>> from tablewright.schema import KeyAttribute
    >>> format_keys(KeySchema((KeyAttribute("PK", "S"),)))
    'PK S'
    """
    return ", ".join(f"{key.name} {key.type}".strip() for key in keys)


def format_projection(projection: ProjectedAttributes) -> str:
    """Return ALL, KEYS_ONLY, or the attributes that an index contains besides the keys."""
    return ", ".join(projection.include) or projection.type


def format_created(seconds: float | None) -> str:
    """Return when a table was created."""
    if seconds is None:
        return "at an unknown time"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


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
