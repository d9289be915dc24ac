"""Write shapes: the shape of a write of one item, with its index rows and side items.

What decides on the request decides on the shape: the requirements, what the write affects, and
whether it reads the item first. Added here are units: an estimate for typical items, and those of
the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from tablewright import capacity
from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexKeys
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.plan.condition import Condition
from tablewright.plan.facts import Absent, Actions, Assignment, Requirement, Target
from tablewright.plan.reads.item import item_shape
from tablewright.plan.shape import Shape, action_name, typical_size
from tablewright.plan.units import ITEM_READ, UnitRange, item_write, total


def write_units(entity: EntityMap, more_rows: int = 0) -> float:
    """Estimate the units of a write of an item and its index rows."""
    return capacity.write_units(typical_size(entity)) * (1 + entity.index_rows + more_rows)


def write_shape(
    entity: EntityMap,
    operation: str,
    key: KeyCondition,
    *,
    reads: bool = False,
    indexes: Iterable[IndexKeys] = (),
    more_rows: int = 0,
    conditions: Iterable[Condition[Any]] = (),
    sets: Iterable[Assignment] = (),
    requires: Iterable[Requirement] = (),
    sides: Sequence[Shape] = (),
    optional: Sequence[Shape] = (),
    branches: Iterable[str] = (),
) -> Shape:
    """Return the shape of a write of one item, with its index rows and side items.

    `operation` is that of the write without side items; `indexes` are those whose keys it sets, and
    `more_rows` is how many index rows it deletes. Side items without units, and the `optional`
    ones, are those that only some of the writes have. `branches` are the operations that may write
    the item instead, after it was read.
    """
    typical = sum(side.write_units > 0 for side in sides)
    factor = TRANSACTION_FACTOR if typical else 1
    largest = item_write(entity.index_rows)
    own = Shape(
        action_name(operation) if typical else operation,
        (entity.table,),
        (entity,),
        tuple(each.index for each in indexes if each.index is not None),
        (key,),
        extent=Actions(1),
        filters=tuple(conditions),
        write_units=write_units(entity, more_rows) * factor,
        write_range=largest * factor,
        assignments=tuple(sets),
        requirements=tuple(requires),
    )
    names = map(action_name, branches) if typical else branches
    own = replace(own, branches=tuple(replace(own, operation=name) for name in names))
    others = (*sides, *optional)
    most = total([largest, *(side.write_range for side in others)])
    whole = replace(
        own,
        operation="TransactWriteItems" if typical else operation,
        extent=Actions(1 + typical),
        write_units=own.write_units + sum(side.write_units for side in sides),
        write_range=UnitRange(1, most.high + (largest.high if others else 0)),
    )
    if reads:
        read = item_shape(entity, key.equal)
        # An entity that was never stored is not read.
        read = replace(read, read_units=1, read_range=UnitRange(0, ITEM_READ))
        whole = replace(whole, read_units=read.read_units, read_range=read.read_range)
        return replace(whole, steps=(read, own, *sides))
    return replace(whole, steps=(own, *sides)) if typical else whole


def side_shapes(
    entity: EntityMap,
    declared: Iterable[UniqueMap | HistoryMap],
    *kinds: str,
    is_typical: bool = True,
    may_be_own: bool = True,
) -> list[Shape]:
    """Return the actions of these kinds on sentinels of unique values, and on events.

    `is_typical`: a typical write has them. `may_be_own`: the entity may have reserved a value
    before.
    """
    return [
        _side_shape(entity, each, kind, is_typical=is_typical, may_be_own=may_be_own)
        for each in declared
        for kind in kinds
    ]


def _side_shape(
    entity: EntityMap,
    declared: UniqueMap | HistoryMap,
    kind: str,
    *,
    is_typical: bool,
    may_be_own: bool,
) -> Shape:
    target: Target
    if isinstance(declared, UniqueMap):
        target, key = declared, declared.key
        rows = entity.table.index_rows({kept.stored for kept in declared.keeps})
        absent = Absent(entity if may_be_own else None)
    else:
        target, key = declared.event, declared.event.primary
        rows, absent = declared.event.index_rows, Absent()
    return Shape(
        kind,
        (entity.table,),
        (target,),
        keys=(key.symbolic(),),
        extent=Actions(1),
        write_units=is_typical * (1 + rows) * TRANSACTION_FACTOR,
        write_range=UnitRange(0, item_write(rows).high * TRANSACTION_FACTOR),
        requirements=(absent,) if kind == "Put" else (),
    )


def of_base(base: EntityMap, shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a write through a base: that of the kind with the most to write."""
    return replace(max(shapes, key=lambda each: each.write_range.high), targets=(base,))


def composed(keys: Iterable[IndexKeys]) -> list[IndexKeys]:
    """Return the index keys that a write sets: those that are not attributes themselves."""
    return [key for key in keys if key.composed]
