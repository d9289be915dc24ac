"""The shape of what a write does with the counters of its parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.counters import CounterMap
from tablewright.mapping.entity import EntityMap
from tablewright.plan import facts
from tablewright.plan.shape import Shape
from tablewright.plan.writes.write import write_units


def counter_shapes(
    counters: Iterable[CounterMap], *, gone: bool = False, is_new: bool = False
) -> list[Shape]:
    """Return the actions on the parents whose counters a write changes: one for each parent.

    `gone`: the item is deleted, or leaves its parent. `is_new`: it did not exist, so that it needs
    its parent. Otherwise there may be none, which is checked then.
    """
    parents: dict[EntityMap, list[CounterMap]] = {}
    for each in counters:
        parents.setdefault(each.parent, []).append(each)
    shapes = [_parent_shape(parent, each, gone=gone) for parent, each in parents.items()]
    return shapes if is_new else [_or_absent(each) for each in shapes]


def _or_absent(parent: Shape) -> Shape:
    check = replace(
        parent, operation="ConditionCheck", assignments=(), requirements=(facts.Absent(),)
    )
    return replace(parent, branches=(check,))


def _parent_shape(parent: EntityMap, counters: Sequence[CounterMap], *, gone: bool) -> Shape:
    sets = []
    for each in counters:
        amount = "1" if each.summed is None else each.summed.name
        text = f"{each.attribute.name} {'-' if gone else '+'} {amount}"
        condition = "" if each.when is None else f" (if {each.when!r})"
        sets.append(facts.Stamped(each.attribute.name, f"{text}{condition}"))
    return Shape(
        "Update",
        (parent.table,),
        (parent,),
        keys=(parent.primary.symbolic(),),
        extent=facts.Actions(1),
        write_units=write_units(parent) * TRANSACTION_FACTOR,
        write_range=facts.UnitRange(
            0, facts.item_write(parent.index_rows).high * TRANSACTION_FACTOR
        ),
        assignments=tuple(sets),
        requirements=(facts.Exists(),),
    )
