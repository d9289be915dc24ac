"""Infer a design in a test: from a sample to its source, and to the module that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tablewright.designs.catalog import load
from tablewright.infer import Sample, infer_design, write_module
from tablewright.mapping.table import TableMap
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item


def import_source(source: str, folder: Path) -> TableMap:
    """Return the table of a module."""
    file = folder / "inferred.py"
    file.write_text(source, encoding="utf-8")
    (table,) = load(str(file)).tables
    return table.__table__


def keys(*names: str, **types: str) -> KeySchema:
    """Return the keys of a table or an index: the partition key, and the sort key if any."""
    found = [KeyAttribute(name, types.get(name, "S")) for name in names]
    return KeySchema((found[0],), tuple(found[1:]))


def gsi(name: str, *names: str, **types: str) -> IndexDescription:
    return IndexDescription(name, "global", keys(*names, **types))


def item(**attributes: Any) -> Item:
    """Return an item; texts and numbers are plain values."""
    return {name.replace("__", "-"): _value(value) for name, value in attributes.items()}


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    return value


def sample_of(
    *items: Item,
    names: KeySchema | None = None,
    indexes: tuple[IndexDescription, ...] = (),
    **more: Any,
) -> Sample:
    is_exact = more.pop("is_exact", False)
    table = TableDescription("things", names or keys("PK", "SK"), indexes, **more)
    return Sample(table, items, is_exact=is_exact)


def infer_source(*items: Item, **settings: Any) -> str:
    """Return the source of the design of some items."""
    return write_module(infer_design(sample_of(*items, **settings)))


def lines_of(source: str) -> list[str]:
    """Return the declarations of attributes and keys, without what is always there."""
    body = source[source.index("class ") :]
    joined = body.replace("(\n        ", "(").replace(",\n        ", ", ").replace(",\n    )", ")")
    return [line.strip() for line in joined.replace("\n    )", ")").splitlines() if line.strip()]
