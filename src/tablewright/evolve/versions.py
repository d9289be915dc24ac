"""Versions: one side of a comparison, whatever states it.

a design, a lock file             tables with their entities
a template, a table at a target   the structure of tables; nothing is known of their entities
a model of NoSQL Workbench        the same, without TTL, streams and local indexes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tablewright.design_description import DesignDescription, TableDesign, read_lock
from tablewright.errors import LockRefused
from tablewright.infer import read_model
from tablewright.mapping.table import TableMap
from tablewright.model.description import describe_design
from tablewright.plan.backfill.index_record import IndexRecord
from tablewright.table_description import TableDescription
from tablewright.templates import read_tables
from tablewright.templates.document import load_document
from tablewright.transfer.definition import read_request
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
