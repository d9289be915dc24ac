"""Reasons: why each access pattern of a design is efficient, derived from its shape and table."""

from __future__ import annotations

from itertools import takewhile

from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.table import TableMap
from tablewright.plan.facts import Absent, Actions, Paging, Repeats, Unchanged
from tablewright.plan.shape import Shape
from tablewright.symbol import Expression
from tablewright.wire.operations import READS


def why_efficient(shape: Shape, table: TableMap) -> str:
    """Say in a few words what a pattern costs at most, and what it avoids."""
    requests = list(shape.requests)
    writes = [request for request in requests if request.operation not in READS]
    if not writes:
        return "; ".join(dict.fromkeys(_read(request, table) for request in requests))
    before = list(takewhile(lambda request: request is not writes[-1], requests))
    return "; ".join([*_reads_before(before, writes[-1]), *_write(writes[-1], reads=bool(before))])


def _read(shape: Shape, table: TableMap) -> str:
    if shape.operation == "Scan":
        return "not efficient: it reads the whole table"
    if shape.operation != "Query":
        return "point read by the whole primary key"
    text, partition = "one partition", {table.attributes[0]}
    if shape.indexes:
        partition = {*shape.indexes[0].partition}
        text += f" of an index{_contents(shape, table)}"
    (key,) = shape.keys
    assert isinstance(key, KeyCondition)
    if key.sort is not None and key.sort.comparison == "begins_with":
        text += ", by a prefix of the sort key"
    elif not set(key.attributes) <= partition:
        text += ", by a condition on the sort key"
    if shape.filters:
        text += "; a filter discards items after they are read"
    if isinstance(shape.extent, Paging) and isinstance(shape.extent.size, Expression):
        text += f"; page size {shape.page}"
    return text


def _contents(shape: Shape, table: TableMap) -> str:
    """Say which entities a sparse index contains, or only the partition that the query reads."""
    (index,) = shape.indexes
    keys = [
        (entity, key) for entity in table.entities for key in entity.indexes if key.index == index
    ]
    asked = [key for entity, key in keys if entity in shape.targets]
    found = {
        entity: entity.name
        for entity, key in keys
        if any(each.can_equal(each.partition_attributes, key.templates) for each in asked)
    }
    if len(found) == len(table.entities):
        return ""
    if len({entity for entity, _ in keys}) == 1:
        return f" that contains only {', '.join(found.values())}"
    return f", with items of {' and '.join(found.values())} only"


def _reads_before(reads: list[Shape], write: Shape) -> list[str]:
    """Say what is read before a write, and whether the write requires it to be unchanged."""
    if not reads:
        return []
    read = "a query" if any(each.operation == "Query" for each in reads) else "a point read"
    required = [fact for each in (write, *write.steps) for fact in each.requirements]
    is_guarded = any(isinstance(fact, Unchanged) for fact in required)
    guard = "; the write requires what was read to be unchanged" if is_guarded else ""
    return [f"{read} first{guard}"]


def _write(shape: Shape, *, reads: bool) -> list[str]:
    if shape.operation.startswith("Transact"):
        parts = ["all or nothing, by exact keys"]
    else:
        parts = ["one write by the exact key"]
    actions = (shape, *shape.steps)
    own = [each for each in actions if all(target in shape.targets for target in each.targets)]
    if any(Absent() in each.requirements for each in own):
        how = "a condition" if reads else "a condition, not a read,"
        parts.append(f"{how} prevents duplicates")
    count = len({index for each in actions for index in each.indexes})
    if shape.extent == Actions(None, Repeats.WHAT_HAS_CHANGED):
        parts.append("changes the keys of indexes that follow from what has changed")
    elif count > 0 or shape.operation in ("PutItem", "UpdateItem"):
        changed = {0: "no index", 1: "one index"}.get(count, f"{count} indexes")
        parts.append(f"changes keys of {changed}")
    return parts
