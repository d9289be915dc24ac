"""Reasons: why each access pattern of a design is efficient, derived from its shape and table."""

from __future__ import annotations

from tablewright.mapping.table import TableMap
from tablewright.plan.shape import READS, Shape


def why_efficient(shape: Shape, table: TableMap) -> str:
    """Say in a few words what a pattern costs at most, and what it avoids."""
    requests = list(shape.requests)
    writes = [request for request in requests if request.operation not in READS]
    if not writes:
        return "; ".join(dict.fromkeys(_read(request, table) for request in requests))
    before = requests[: requests.index(writes[-1])]
    return "; ".join([*_reads_before(before, writes[-1]), *_write(writes[-1], reads=bool(before))])


def _read(shape: Shape, table: TableMap) -> str:
    if shape.operation == "Scan":
        return "not efficient: it reads the whole table"
    if shape.operation != "Query":
        return "point read by the whole primary key"
    text = "one partition"
    if shape.index is not None:
        text += f" of an index{_contents(shape, table)}"
    if "begins_with(" in shape.condition:
        text += ", by a prefix of the sort key"
    elif " AND " in shape.condition:
        text += ", by a condition on the sort key"
    if shape.filter:
        text += "; a filter discards items after they are read"
    if shape.page.startswith("{"):
        text += f"; page size {shape.page}"
    return text


def _contents(shape: Shape, table: TableMap) -> str:
    """Say which entities a sparse index contains, or only the partition that the query reads."""
    keys = [
        (entity.name, key)
        for entity in table.entities
        for key in entity.indexes
        if key.index is not None and key.index.name == shape.index
    ]
    asked = [key for name, key in keys if name in shape.entity.split(", ")]
    names = {
        name: None
        for name, key in keys
        if any(each.can_equal(each.partition_attributes, key.templates) for each in asked)
    }
    if len(names) == len(table.entities):
        return ""
    if len({name for name, _ in keys}) == 1:
        return f" that contains only {', '.join(names)}"
    return f", with items of {' and '.join(names)} only"


def _reads_before(reads: list[Shape], write: Shape) -> list[str]:
    """Say what is read before a write, and whether the write requires it to be unchanged."""
    if not reads:
        return []
    read = "a query" if any(each.operation == "Query" for each in reads) else "a point read"
    requires = [text for each in (write, *write.steps) for text in each.requires]
    is_guarded = any("unchanged since the read" in text for text in requires)
    guard = "; the write requires what was read to be unchanged" if is_guarded else ""
    return [f"{read} first{guard}"]


def _write(shape: Shape, *, reads: bool) -> list[str]:
    if shape.operation.startswith("Transact"):
        parts = ["all or nothing, by exact keys"]
    else:
        parts = ["one write by the exact key"]
    actions = (shape, *shape.steps)
    own = [each for each in actions if each.entity in (shape.entity, *shape.entity.split(", "))]
    if any("the item does not exist" in each.requires for each in own):
        how = "a condition" if reads else "a condition, not a read,"
        parts.append(f"{how} prevents duplicates")
    count = len({name for each in actions if each.index for name in each.index.split(", ")})
    if count > 0 or shape.operation in ("PutItem", "UpdateItem"):
        changed = {0: "no index", 1: "one index"}.get(count, f"{count} indexes")
        parts.append(f"changes keys of {changed}")
    return parts
