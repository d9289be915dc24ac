"""Side shapes: what `explain` shows of the side items of a write, and of the keys that it sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import AlternativeKeys, IndexKeys, KeyMap
from tablewright.mapping.members import HistoryMap, UniqueMap
from tablewright.plan.shape import Shape, key_template, template_text
from tablewright.plan.units import ITEM_WRITE, UnitRange

#: What a create requires of its item, and a write of the sentinels and events that it adds.
ABSENT = "the item does not exist"


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
    unless = f", unless this {entity.name} has reserved it before" if may_be_own else ""
    requires = {"Put": (f"{ABSENT}{unless}",)}
    return [
        _action(
            entity,
            kind,
            unique.type_name,
            template_text(unique.key, " AND "),
            units,
            entity.table.index_rows({kept.stored for kept in unique.keeps}),
            requires.get(kind, ()),
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
            history.event.name,
            key_template(history.event),
            1,
            history.event.index_rows,
            (ABSENT,),
        )
        for history in histories
    ]


def of_base(base: EntityMap, shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a write through a base: that of the kind with the most to write."""
    return replace(max(shapes, key=lambda each: each.write_range.high), entity=base.name)


def _action(
    entity: EntityMap,
    kind: str,
    name: str,
    condition: str,
    units: int,
    index_rows: int,
    requires: tuple[str, ...],
) -> Shape:
    return Shape(
        operation=kind,
        table=entity.table.name,
        entity=name,
        condition=condition,
        page="1",
        write_units=units * (1 + index_rows) * TRANSACTION_FACTOR,
        write_range=UnitRange(0, (1 + 2 * index_rows) * ITEM_WRITE * TRANSACTION_FACTOR),
        requires=requires,
    )


def index_key_texts(keys: Iterable[IndexKeys]) -> Iterator[str]:
    """Yield the index keys that a write sets: `GSI1PK="STATUS#{status}", GSI1SK="ORDER#{id}"`."""
    for key in keys:
        if key.composed:
            places = key.keys if isinstance(key, AlternativeKeys) else (key,)
            yield " or ".join(map(_place, places))


def _place(key: KeyMap) -> str:
    text = template_text(key, ", ")
    return text if key.when is None else f"{text} (if {key.when!r})"
