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
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.keys import KeyMap, places_of
from tablewright.plan import facts
from tablewright.plan.change import Change
from tablewright.symbol import Expression
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.plan.shape import Shape


# -- parts of a shape ----------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Render an argument of a plan, or the expression that stands for it."""
    if isinstance(value, Expression):
        return f"{{{value}}}"
    value = value.value if isinstance(value, Enum) else value
    return str(value) if isinstance(value, int) else repr(value)


def content(value: Value) -> str:
    """Render a value: texts in quotes, numbers without."""
    ((tag, inside),) = value.items()
    return f'"{inside}"' if tag == "S" else str(inside)


def item_key(key: Item, separator: str = " AND ") -> str:
    """Render a whole key: `PK="USER" AND SK="USER#1"`."""
    return separator.join(f"{name}={content(value)}" for name, value in key.items())


def key_text(key: facts.ShapeKey) -> str:
    """Render what a request asks of keys: `PK="USER" AND begins_with(SK, "USER#")`."""
    if isinstance(key, facts.WholeScan):
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


def parts_text(shape: Shape) -> str:
    """Return in which parts a range is read: `the first of 4 shards`."""
    assert shape.parts is not None
    is_first = not isinstance(shape.keys[0], facts.WholeScan)
    how = "the first of" if is_first else "in"
    return f"{how} {shape.parts.count} {shape.parts.name}s"


def all_conditions(shape: Shape) -> str:
    """Return the condition on the key; of a transaction, those of its writes."""
    return shape.condition or "; ".join(dict.fromkeys(step.condition for step in shape.steps))


def target(described: facts.Target) -> str:
    """Return the name of an entity, or of the sentinels of a unique value."""
    return described.type_name if isinstance(described, UniqueMap) else described.name


def extent_text(extent: facts.Extent) -> str:
    """Render how much a read returns, or how many actions a write has."""
    match extent:
        case facts.AllPages():
            return "all pages"
        case facts.Batches(size):
            return f"{size} in a request"
        case facts.Paging(size, total, requests):
            text = "1 MB" if size is None else shown(size)
            if requests > 1 and size is not None:
                text += f", read until it is full, in up to {requests} requests"
            return text if total is None else f"{text}; at most {shown(total)} in all"
        case facts.RootAndRows(size, has_lists, is_continued):
            text = "1 MB" if size is None else f"1 + {shown(size)}"
            text += ", and all rows of the other members" if has_lists else ""
            return f"{text}; the root is read again for later pages" if is_continued else text
        case facts.Actions(count, repeats, below):
            names = ", ".join(each.name for each in below)
            text = f"{'' if count is None else count} {repeats.value}".strip()
            return f"{text}, with {names} below it" if names else text


def filter_text(each: facts.ShapeFilter) -> str:
    """Render a filter of a read, or a condition of the caller of a write."""
    match each:
        case facts.OfTypes(attribute, types):
            names = " or ".join(f'"{name}"' for name in types)
            return f"{attribute}={names}"
        case facts.InShards(attribute):
            return f"{attribute} in the tenant's shards (in a database for a tenant)"
    return repr(each)


def assignment(each: facts.Assignment) -> str:
    """Render what a write sets: `status = {status}`."""
    match each:
        case Change():
            return each.describe()
        case facts.EveryAttribute():
            return "every attribute"
        case facts.Stamped(name, value):
            return f"{name} = {value}"
        case facts.WrittenEvent(history, more):
            when = "replaces an item" if history.always else f"changes {history.attribute}"
            return (
                f"{history.event.name}, in a transaction, if it {when} "
                f"(about {more:g} write units more)"
            )
    return " or ".join(map(_place, places_of([each])))


def _place(key: KeyMap) -> str:
    """Render the keys of an index: `GSI1PK="STATUS#{status}", GSI1SK="ORDER#{id}"`."""
    text = item_key(key.symbolic().equal, ", ")
    return text if key.when is None else f"{text} (if {key.when!r})"


def requirement(each: facts.Requirement) -> str:
    """Render what must hold for a write: `the item exists`, `version = {order.version}`."""
    match each:
        case facts.Exists():
            return "the item exists"
        case facts.Absent(owner):
            unless = "" if owner is None else f", unless this {owner.name} has reserved it before"
            return f"the item does not exist{unless}"
        case facts.Unchanged("attributes", names):
            return f"{', '.join(names)} unchanged since the read"
        case facts.Unchanged(what, names):
            return f"{names[0] if what == 'version' else what} is unchanged since the read"
        case facts.MayBecome(name, value, before):
            followed = ", ".join(map(shown, before[1:]))
            return f"{name} may become {shown(value)}" + f" (it is {followed})" * bool(followed)
        case facts.CountsNothing(names):
            return f"{', '.join(names)} = 0, or what the transaction takes away"
        case facts.OfVersion(name, version):
            return f"{name} = {shown(version)}"
    return repr(each)


# -- whole shapes --------------------------------------------------------------------------------

#: The members of a shape as JSON, in their order.
_MEMBERS = (
    *("operation", "table", "entity", "index", "condition", "order", "page", "filter"),
    *("attributes", "read_units", "write_units", "read_range", "write_range"),
    *("steps", "branches", "sets", "requires"),
)


def lines(shape: Shape) -> Iterator[str]:
    """Yield the lines that show a shape, with its steps below."""
    where = f"{shape.table}.{shape.index}" if shape.index else shape.table
    yield f"{shape.operation} on {where}: {shape.condition}".rstrip(": ")
    for label, value in (
        ("order", shape.order),
        ("actions" if shape.is_write else "page", shape.page),
        ("filter", "" if shape.is_write else shape.filter),
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
    found: dict[str, Any] = {name: getattr(shape, name) for name in _MEMBERS}
    for name in ("read_range", "write_range"):
        found[name] = msgspec.to_builtins(found[name])
    for name in ("steps", "branches"):
        found[name] = [members(each) for each in found[name]]
    return found
