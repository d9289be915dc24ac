"""Live tables: the tables of a target as one side of a comparison. Nothing is written.

A table states its structure. If it records which version of a design its items are prepared for
(`migrate baseline`), its entities are known as well. Otherwise its index record, if it has one,
states what the stored keys are made of.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from msgspec.structs import replace

from tablewright.design_description import DesignDescription, TableDesign
from tablewright.errors import AccessDeniedException, UnsupportedOperation
from tablewright.evolve.versions import DesignVersion, LiveTable
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill.index_record import IndexRecord, read_record
from tablewright.plan.plan import Context, Plan, Steps, run
from tablewright.table_description import TableDescription
from tablewright.transfer import open_source
from tablewright.transfer.definition import read_ttl_attribute, require_description
from tablewright.transfer.endpoints import list_tables, select_tables
from tablewright.transport import Transport


def read_tables_at(
    target: str, names: Collection[str] | None = None, *, called: str | None = None
) -> DesignVersion:
    """Return the tables of a target that have these names, or all.

    `called` is what the target calls the only one of them. Raise TableNotFound if the target has
    none of them, TransferRefused or EndpointUnavailable if it cannot be read.
    """
    with open_source(target) as source:
        tables = _find(source, target, names, called)
        described = {name: _describe(source, stored) for name, stored in tables.items()}
        live = {name: _live(source, each) for name, each in described.items()}
    designs = {name: _design(each, live[name].record) for name, each in described.items()}
    return DesignVersion(target, "tables", DesignDescription(designs), live=live)


def _find(
    source: Transport, target: str, names: Collection[str] | None, called: str | None
) -> dict[str, str]:
    """Return the names of the tables at a target, by their names in the comparison."""
    if called is not None and names:
        select_tables(source, target, called)
        (name,) = names
        return {name: called}
    if names is None:
        return {name: name for name in select_tables(source, target, called)}
    existing = set(list_tables(source))
    found = {name: name for name in sorted(names) if name in existing}
    if not found:  # a name is wrong, or the target is
        select_tables(source, target, next(iter(sorted(names)), None))
    return found


def _describe(source: Transport, name: str) -> TableDescription:
    description = require_description(source, name)
    with suppress(UnsupportedOperation):  # an endpoint without TTL has no table with TTL
        description = replace(description, ttl=read_ttl_attribute(source, name))
    return description


def _design(table: TableDescription, record: IndexRecord | None) -> TableDesign:
    """Return what a table is, with the entities that it records."""
    found = TableDesign.of(table)
    if record is None or record.revision is None:
        return found
    structure = {name: getattr(found, name) for name in ("keys", "indexes", "ttl", "stream")}
    return replace(record.revision.design, **structure)


def _live(source: Transport, table: TableDescription) -> LiveTable:
    record: IndexRecord | None = None
    with suppress(AccessDeniedException):  # a role that may describe tables only
        plain = _plain_map(table)
        record = run(ReadRecord(plain), Context({plain: table.name}, b""), source.send)
    return LiveTable(table.state.items, table.state.size, record)


class ReadRecord(Plan[IndexRecord | None]):
    """Read the index record of a table; None if it has none."""

    def __init__(self, table: TableMap) -> None:
        self.table = table

    def _steps(self, context: Context) -> Steps[IndexRecord | None]:
        return (yield from read_record(self.table, context.name_of(self.table)))


def _plain_map(table: TableDescription) -> TableMap:
    """Return a table without entities, whose record can be read."""
    partition, *sort = table.keys.names
    found = TableMap(table.name, table.name, (partition, sort[0] if sort else None), None, {})
    found.key_types = table.key_types
    return found
