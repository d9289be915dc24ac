"""Creation: create the declared tables in an engine, and compare them with tables that exist.

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
from tablewright.templates.table import DeclaredTable


class Outcome(msgspec.Struct, frozen=True):
    """What was done for one declared table."""

    table: DeclaredTable
    is_new: bool
    #: How an existing table differs from its declaration.
    differences: tuple[str, ...] = ()


def create_tables(engine: Engine, tables: Sequence[DeclaredTable]) -> list[Outcome]:
    """Create the tables that are missing, with TTL, recovery and other settings."""
    for table in tables:
        _refuse_faults(table, partial(engine.prepare, "CreateTable", table.request))
    outcomes = []
    for table in tables:
        try:
            description = engine.call("DescribeTable", {"TableName": table.name})["Table"]
        except ResourceNotFoundException:
            _refuse_faults(table, partial(_create, engine, table))
            outcomes.append(Outcome(table, True))
        else:
            ttl = engine.call("DescribeTimeToLive", {"TableName": table.name})
            found = compare_table(table, description, ttl["TimeToLiveDescription"])
            outcomes.append(Outcome(table, False, tuple(found)))
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
