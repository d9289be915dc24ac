"""Side shapes: what `explain` shows of the side items of a write, and of the keys that it sets."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.plan.facts import Absent, Actions, Requirement, Target
from tablewright.plan.shape import Shape
from tablewright.plan.units import ITEM_WRITE, UnitRange


def sentinel_shapes(
    entity: EntityMap,
    uniques: Iterable[UniqueMap],
    *kinds: str,
    units: int = 1,
    may_be_own: bool = True,
) -> list[Shape]:
    """Return the actions of these kinds on the sentinels of unique values.

    `units` is how many of them a typical write has, 0 or 1. `may_be_own`: the entity may have
    reserved the value before.
    """
    absent = Absent(entity if may_be_own else None)
    return [
        _action(
            entity,
            kind,
            unique,
            unique.key,
            units,
            entity.table.index_rows({kept.stored for kept in unique.keeps}),
            (absent,) if kind == "Put" else (),
        )
        for unique in uniques
        for kind in kinds
    ]


def event_shapes(entity: EntityMap, histories: Iterable[HistoryMap]) -> list[Shape]:
    """Return the actions that write the events of histories."""
    return [
        _action(
            entity,
            "Put",
            history.event,
            history.event.primary,
            1,
            history.event.index_rows,
            (Absent(),),
        )
        for history in histories
    ]


def of_base(base: EntityMap, shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a write through a base: that of the kind with the most to write."""
    return replace(max(shapes, key=lambda each: each.write_range.high), targets=(base,))


def _action(
    entity: EntityMap,
    kind: str,
    target: Target,
    key: KeyMap,
    units: int,
    index_rows: int,
    requires: tuple[Requirement, ...],
) -> Shape:
    return Shape(
        operation=kind,
        tables=(entity.table,),
        targets=(target,),
        keys=(key.symbolic(),),
        extent=Actions(1),
        write_units=units * (1 + index_rows) * TRANSACTION_FACTOR,
        write_range=UnitRange(0, (1 + 2 * index_rows) * ITEM_WRITE * TRANSACTION_FACTOR),
        requirements=requires,
    )


def composed(keys: Iterable[IndexKeys]) -> list[IndexKeys]:
    """Return the index keys that a write sets: those that are not attributes themselves."""
    return [key for key in keys if key.composed]
