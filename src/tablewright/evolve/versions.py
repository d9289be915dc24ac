"""Versions: one side of a comparison, whatever states it. Nothing is written.

a design, a lock file             tables with their entities
a template, a table at a target   the structure of tables; nothing is known of their entities
a model of NoSQL Workbench        the same, without TTL, streams and local indexes

If a table at a target records which version of a design its items are prepared for (`migrate
baseline`), its entities are known as well. Otherwise its index record, if it has one, states what
the stored keys are made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_description import DesignDescription, TableDesign, read_lock
from tablewright.errors import AccessDeniedException, LockRefused, UnsupportedOperation
from tablewright.infer import read_model
from tablewright.mapping.table import TableMap
from tablewright.model.description import describe_design
from tablewright.plan.backfill.index_record import IndexRecord, read_record
from tablewright.plan.plan import Context, Plan, Steps, run
from tablewright.table_description import TableDescription
from tablewright.templates import read_tables
from tablewright.templates.document import load_document
from tablewright.transfer import open_source
from tablewright.transfer.definition import read_request, read_ttl_attribute, require_description
from tablewright.transfer.endpoints import list_tables, select_tables
from tablewright.transport import Transport
from tablewright.verify import Design

Source: TypeAlias = Literal["design", "lock file", "template", "model", "tables"]


class LiveTable(Struct, frozen=True):
    """What is known of a table at a target beside its structure."""

    #: About how many items it has, and their bytes; None if the endpoint does not say.
    items: int | None = None
    size: int = 0
    record: IndexRecord | None = None


class DesignVersion(Struct, frozen=True):
    """One side of a comparison."""

    #: What people call it: `shop.py at main`.
    name: str
    source: Source
    description: DesignDescription
    #: The file that states it; "" if there is none.
    file: str = ""
    #: The tables at a target, by name.
    live: Mapping[str, LiveTable] = {}
    #: The tables of a design that is loaded in this process, by name: what no description has, such
    #: as `fill=`.
    declared: Mapping[str, TableMap] = {}

    @property
    def is_live(self) -> bool:
        return self.source == "tables"

    @property
    def has_entities(self) -> bool:
        """Whether the entities are known, and not only the structure of the tables."""
        return all(each.entities is not None for each in self.description.tables.values())

    def beside(self, other: DesignVersion) -> DesignVersion:
        """Return this version, with what its format cannot hold taken from the other one."""
        if self.source != "model":
            return self
        tables = {
            name: _completed(each, other.description.tables.get(name))
            for name, each in self.description.tables.items()
        }
        return replace(self, description=DesignDescription(tables))


def _completed(model: TableDesign, other: TableDesign | None) -> TableDesign:
    if other is None:
        return model
    local = {name: each for name, each in other.indexes.items() if each.kind == "local"}
    return replace(model, ttl=other.ttl, stream=other.stream, indexes=local | model.indexes)


def describe_version(design: Design, name: str, file: str = "") -> DesignVersion:
    """Return a design as one side of a comparison."""
    declared = {table.__table__.name: table.__table__ for table in design.tables}
    return DesignVersion(name, "design", describe_design(*design.tables), file, declared=declared)


def read_lock_file(file: Path) -> DesignVersion:
    """Return the design in a lock file; raise LockRefused if the file cannot be read."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise LockRefused(f"{file}: {error.strerror}") from None
    return DesignVersion(str(file), "lock file", read_lock(text, str(file)), str(file))


def read_file(path: Path) -> DesignVersion:
    """Return the tables of a template, of a folder of `cdk synth`, or of a model file.

    Raise TemplateRefused, ModelFileRefused or TransferRefused, which name the file.
    """
    if not path.is_dir() and "DataModel" in load_document(path):
        model = read_model(path)
        return _structure(path, "model", (each.table for each in model.tables))
    found = [
        read_request(each.request, each.ttl, f"{each.file}: {each.resource}")
        for each in read_tables(path)
    ]
    return _structure(path, "template", found)


def _structure(path: Path, source: Source, tables: Iterable[TableDescription]) -> DesignVersion:
    described = {each.name: TableDesign.of(each) for each in tables}
    return DesignVersion(str(path), source, DesignDescription(described), str(path))


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
