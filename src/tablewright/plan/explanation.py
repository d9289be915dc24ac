"""Explanations: shapes as text, for `explain`, documents and messages.

    Query on shop.gsi1: GSI1PK="STATUS#{status}" AND begins_with(GSI1SK, "ORDER#")
      order: descending
      page: 20
      units: 0.5 read (estimate); at most 89 read

Values that are not known yet are in braces. All text of shapes is made here, from their values;
nothing reads it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
from tablewright.mapping.members import UniqueMap
from tablewright.plan.change import Change
from tablewright.plan.condition import Condition
from tablewright.plan.facts import (
    NOTHING,
    Absent,
    Actions,
    AllPages,
    Assignment,
    Batches,
    EveryAttribute,
    Exists,
    Extent,
    InShards,
    OfTypes,
    OfVersion,
    Paging,
    Requirement,
    RootAndRows,
    ShapeKey,
    Stamped,
    Target,
    Unchanged,
    WholeScan,
    WrittenEvent,
)
from tablewright.symbol import Expression
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.plan.shape import Shape


# -- parts of a shape ----------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Render an argument of a plan, or the expression that stands for it."""
    if isinstance(value, Expression):
        return f"{{{value}}}"
    return str(value) if isinstance(value, int) else repr(value)


def content(value: Value) -> str:
    """Render a value: texts in quotes, numbers without."""
    ((tag, inside),) = value.items()
    return f'"{inside}"' if tag == "S" else str(inside)


def item_key(key: Item, separator: str = " AND ") -> str:
    """Render a whole key: `PK="USER" AND SK="USER#1"`."""
    return separator.join(f"{name}={content(value)}" for name, value in key.items())


def key_text(key: ShapeKey) -> str:
    """Render what a request asks of keys: `PK="USER" AND begins_with(SK, "USER#")`."""
    if isinstance(key, WholeScan):
        return key.reason
    text, sort = item_key(key.equal), key.sort
    if sort is None:
        return text
    values = [content(value) for value in sort.values]
    if sort.comparison == "between":
        return f"{text} AND {sort.attribute} BETWEEN {values[0]} AND {values[1]}"
    if sort.comparison == "begins_with":
        return f"{text} AND begins_with({sort.attribute}, {values[0]})"
    return f"{text} AND {sort.attribute}{sort.comparison}{values[0]}"


def condition(shape: Shape) -> str:
    text = "; ".join(map(key_text, shape.keys))
    return text if shape.parts is None else f"{text}, {parts_text(shape)}"


def parts_text(shape: Shape) -> str:
    """Return in which parts a range is read: `the first of 4 shards`."""
    assert shape.parts is not None
    is_first = not isinstance(shape.keys[0], WholeScan)
    how = "the first of" if is_first else "in"
    return f"{how} {shape.parts.count} {shape.parts.name}s"


def all_conditions(shape: Shape) -> str:
    """Return the condition on the key; of a transaction, those of its writes."""
    return shape.condition or "; ".join(dict.fromkeys(step.condition for step in shape.steps))


def target(described: Target) -> str:
    """Return the name of an entity, or of the sentinels of a unique value."""
    return described.type_name if isinstance(described, UniqueMap) else described.name


def page(shape: Shape) -> str:
    text = "" if shape.extent is None else _extent(shape.extent)
    return text if shape.parts is None else f"{text} of each {shape.parts.name}"


def _extent(extent: Extent) -> str:
    match extent:
        case AllPages():
            return "all pages"
        case Batches(size):
            return f"{size} in a request"
        case Paging(size, total, requests):
            text = "1 MB" if size is None else shown(size)
            if requests > 1 and size is not None:
                text += f", read until it is full, in up to {requests} requests"
            return text if total is None else f"{text}; at most {shown(total)} in all"
        case RootAndRows(size, has_lists, is_continued):
            text = "1 MB" if size is None else f"1 + {shown(size)}"
            text += ", and all rows of the other members" if has_lists else ""
            return f"{text}; the root is read again for later pages" if is_continued else text
        case Actions(count, repeats, below):
            names = ", ".join(each.name for each in below)
            text = f"{'' if count is None else count} {repeats.value}".strip()
            return f"{text}, with {names} below it" if names else text


def filter_text(shape: Shape) -> str:
    return " AND ".join(map(_filter, shape.filters))


def _filter(each: Condition[Any] | OfTypes | InShards) -> str:
    match each:
        case OfTypes(attribute, types):
            names = " or ".join(f'"{name}"' for name in types)
            return f"{attribute}={names}"
        case InShards(attribute):
            return f"{attribute} in the tenant's shards (in a database for a tenant)"
    return repr(each)


def assignment(each: Assignment) -> str:
    """Render what a write sets: `status = {status}`."""
    match each:
        case Change():
            return each.describe()
        case EveryAttribute():
            return "every attribute"
        case Stamped(name, value):
            return f"{name} = {value}"
        case WrittenEvent(history, more):
            when = "replaces an item" if history.always else f"changes {history.attribute}"
            return (
                f"{history.event.name}, in a transaction, if it {when} "
                f"(about {more:g} write units more)"
            )
    return _index_keys(each)


def _index_keys(keys: IndexKeys) -> str:
    """Render index keys: `GSI1PK="STATUS#{status}", GSI1SK="ORDER#{id}"`."""
    return " or ".join(map(_place, places_of([keys])))


def _place(key: KeyMap) -> str:
    text = item_key(key.symbolic().equal, ", ")
    return text if key.when is None else f"{text} (if {key.when!r})"


def requirement(each: Requirement) -> str:
    """Render what must hold for a write: `the item exists`, `version = {order.version}`."""
    match each:
        case Exists():
            return "the item exists"
        case Absent(owner):
            unless = "" if owner is None else f", unless this {owner.name} has reserved it before"
            return f"the item does not exist{unless}"
        case Unchanged("attributes", names):
            return f"{', '.join(names)} unchanged since the read"
        case Unchanged(what, names):
            return f"{names[0] if what == 'version' else what} is unchanged since the read"
        case OfVersion(name, version):
            return f"{name} = {shown(version)}"
    return repr(each)


# -- whole shapes --------------------------------------------------------------------------------


def units(shape: Shape, label: str, reads: float, writes: float) -> str:
    """Return units as text: `1 read, 7 write (LABEL); at most 100 read, 6,400 write`."""
    both = ((reads, "read", shape.read_range), (writes, "write", shape.write_range))
    amounts = [f"{round(amount, 2):g} {kind}" for amount, kind, _ in both if amount]
    most = [whole.most(kind) for _, kind, whole in both if whole != NOTHING]
    return f"{', '.join(amounts) or 'none'} ({label}); at most {', '.join(most)}"


def lines(shape: Shape) -> Iterator[str]:
    """Yield the lines that show a shape, with its steps below."""
    where = f"{shape.table}.{shape.index}" if shape.index else shape.table
    yield f"{shape.operation} on {where}: {shape.condition}".rstrip(": ")
    for label, value in (
        ("order", shape.order),
        ("actions" if shape.writes else "page", shape.page),
        ("filter", "" if shape.writes else shape.filter),
        ("sets", "" if shape.steps else "; ".join(shape.sets)),
        ("requires", "" if shape.steps else "; ".join(shape.requires)),
        ("units", shape.units),
    ):
        if value:
            yield f"  {label}: {value}"
    for step in shape.steps:
        yield from ("  " + line for line in lines(step))
    for branch in () if shape.steps else shape.branches:
        first, *others = lines(branch)
        yield from (f"  or {first}", *("  " + line for line in others))


def members(shape: Shape) -> dict[str, Any]:
    """Return a shape as members of JSON."""
    return {
        "operation": shape.operation,
        "table": shape.table,
        "entity": shape.entity,
        "index": shape.index,
        "condition": shape.condition,
        "order": shape.order,
        "page": shape.page,
        "filter": shape.filter,
        "attributes": shape.attributes,
        "read_units": shape.read_units,
        "write_units": shape.write_units,
        "read_range": msgspec.to_builtins(shape.read_range),
        "write_range": msgspec.to_builtins(shape.write_range),
        "steps": [members(step) for step in shape.steps],
        "branches": [members(branch) for branch in shape.branches],
        "sets": shape.sets,
        "requires": shape.requires,
    }
