"""Declared tables: what a template says about one table, as requests that create it.

Invariants:
- Existing tables are kept as they are; differences are reported.
- All declarations are checked before the first table is created. So a template with a mistake
  creates nothing, unless DynamoDB's checks find it only when the table is created.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError, ResourceNotFoundException, TemplateRefused
from tablewright.table_changes import Part, describe, differences
from tablewright.table_description import read_table, read_ttl


class DeclaredTable(msgspec.Struct, frozen=True):
    """A table that a template declares."""

    #: The file and the resource in it, for messages.
    file: str
    resource: str
    #: The CreateTable request, with tags and settings.
    request: dict[str, Any]
    #: The TTL attribute.
    ttl: str | None = None
    #: The PointInTimeRecoverySpecification of UpdateContinuousBackups.
    recovery: dict[str, Any] | None = None
    #: UpdateContributorInsights requests without their TableName.
    insights: tuple[dict[str, Any], ...] = ()
    #: An EnableKinesisStreamingDestination request without its TableName.
    kinesis: dict[str, Any] | None = None
    #: What the template declares but this package does not have, such as replicas.
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        name: str = self.request["TableName"]
        return name


class Location(msgspec.Struct, frozen=True):
    """Where a value is in a file: composes the messages of `TemplateRefused`."""

    file: str
    path: str

    def __truediv__(self, name: str | int) -> Location:
        part = f"[{name}]" if isinstance(name, int) else f".{name}"
        return Location(self.file, self.path + part)

    def __str__(self) -> str:
        return f"{self.file}: {self.path}"

    def refuse(self, problem: str) -> TemplateRefused:
        return TemplateRefused(f"{self}: {problem}")


def drop_missing(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request without the members that are None or empty lists."""
    return {name: value for name, value in request.items() if value is not None and value != []}


class TableOutcome(msgspec.Struct, frozen=True):
    """What was done for one declared table."""

    table: DeclaredTable
    is_new: bool
    #: How an existing table differs from its declaration.
    differences: tuple[str, ...] = ()


def create_tables(engine: Engine, tables: Sequence[DeclaredTable]) -> list[TableOutcome]:
    """Create the tables that are missing, with TTL, recovery and other settings."""
    for table in tables:
        _refuse_faults(table, partial(engine.prepare, "CreateTable", table.request))
    outcomes = []
    for table in tables:
        try:
            description = engine.call("DescribeTable", {"TableName": table.name})["Table"]
        except ResourceNotFoundException:
            _refuse_faults(table, partial(_create, engine, table))
            outcomes.append(TableOutcome(table, True))
        else:
            ttl = engine.call("DescribeTimeToLive", {"TableName": table.name})
            found = compare_table(table, description, ttl["TimeToLiveDescription"])
            outcomes.append(TableOutcome(table, False, tuple(found)))
    return outcomes


def compare_table(
    table: DeclaredTable, description: Mapping[str, Any], ttl: Mapping[str, Any]
) -> list[str]:
    """Return how a table differs from its declaration.

    `description` is that of DescribeTable, `ttl` that of DescribeTimeToLive. Compared are keys,
    indexes, billing, throughput, stream, class, protection and TTL; not tags and policies, which
    DescribeTable does not have.
    """
    found = read_table(description, read_ttl({"TimeToLiveDescription": ttl}))
    lines = []
    for each in differences(read_table(table.request, table.ttl), found):
        missing = "disabled" if each.part is Part.TTL else "none"
        texts = (describe(side) if side else missing for side in (each.wanted, each.found))
        lines.append("{}: declared {}, found {}".format(each.name, *texts))
    return lines


def _create(engine: Engine, table: DeclaredTable) -> None:
    named = {"TableName": table.name}
    engine.call("CreateTable", table.request)
    if table.ttl is not None:
        ttl = {"AttributeName": table.ttl, "Enabled": True}
        engine.call("UpdateTimeToLive", named | {"TimeToLiveSpecification": ttl})
    if table.recovery is not None:
        recovery = {"PointInTimeRecoverySpecification": table.recovery}
        engine.call("UpdateContinuousBackups", named | recovery)
    for insights in table.insights:
        engine.call("UpdateContributorInsights", named | insights)
    if table.kinesis is not None:
        engine.call("EnableKinesisStreamingDestination", named | table.kinesis)


def _refuse_faults(table: DeclaredTable, work: Callable[[], object]) -> None:
    try:
        work()
    except DynamoDBError as fault:
        raise TemplateRefused(f"{table.file}: {table.resource}: {fault.message}") from None
