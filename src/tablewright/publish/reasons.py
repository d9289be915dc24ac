"""Reasons: why each access pattern of a design is efficient, derived from its shape and table."""

from __future__ import annotations

from tablewright.mapping.table import TableMap
from tablewright.plan.shape import READS, Shape


def why_efficient(shape: Shape, table: TableMap) -> str:
    """Say in a few words what a pattern costs at most, and what it avoids."""
    *before, last = shape.requests
    if last.operation in READS:
        return "; ".join(dict.fromkeys(_read(request, table) for request in shape.requests))
    return "; ".join([*_guarded(before), *_write(last, reads=bool(before))])


def _read(shape: Shape, table: TableMap) -> str:
    if shape.operation == "Scan":
        return "not efficient: it reads the whole table"
    if shape.operation != "Query":
        return "point read by the whole primary key"
    parts = ["one partition"]
    if "begins_with(" in shape.condition:
        parts.append("by a prefix of the sort key")
    elif " AND " in shape.condition:
        parts.append("by a condition on the sort key")
    text = " ".join(parts)
    if shape.index is not None:
        text += f" of an index{_contents(shape.index, table)}"
    if shape.filter:
        text += "; a filter discards items after they are read"
    if shape.page.startswith("{"):
        text += f"; page size {shape.page}"
    return text


def _contents(name: str, table: TableMap) -> str:
    """Say which entities a sparse index contains; nothing for an index that contains all."""
    entities = [
        entity.name
        for entity in table.entities
        if any(key.index is not None and key.index.name == name for key in entity.index_keys)
    ]
    if len(entities) == len(table.entities):
        return ""
    return f" that contains only {', '.join(entities)}"


def _guarded(reads: list[Shape]) -> list[str]:
    """Say what reads before a write are for."""
    if not reads:
        return []
    read = "a query" if any(each.operation == "Query" for each in reads) else "a point read"
    return [f"{read} first; the write fails if what was read has changed since"]


def _write(shape: Shape, *, reads: bool) -> list[str]:
    if shape.operation.startswith("Transact"):
        parts = ["all or nothing, by exact keys"]
    else:
        parts = ["one write by the exact key"]
    actions = (shape, *shape.steps)
    if any("the item does not exist" in each.requires for each in actions):
        how = "a condition" if reads else "a condition, not a read,"
        parts.append(f"{how} prevents duplicates")
    count = len({name for each in actions if each.index for name in each.index.split(", ")})
    changed = {0: "no index", 1: "one index"}.get(count, f"{count} indexes")
    return [*parts, f"changes keys of {changed}"]
