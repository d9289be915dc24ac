"""Patterns: what one call of an access pattern consumes, part by part, and what its calls cost.

The units of a pattern are the mean of the calls that the checks of the design make. A pattern that
no check calls has the estimate of `explain`, for items of a typical size.

This module must not know tables, storage or how a report is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import READS, Shape
from tablewright.publish.cost.prices import Prices
from tablewright.publish.cost.rates import Rates
from tablewright.publish.cost.sizes import Sizes
from tablewright.publish.cost.trace import PatternCall
from tablewright.publish.cost.units import Consumption


class CostPart(Struct, frozen=True):
    """A part of what one call consumes, on average."""

    kind: Literal["read", "write"]
    table: str
    index: str | None
    entity: str
    #: The items that it reads; the rows that it writes: of an index 0, 1 or 2 for each item.
    items: float
    units: float
    #: 2 in a transaction; of reads also 0.5 if they are eventually consistent.
    factor: float
    reason: str


class PatternCost(Struct, frozen=True):
    """What one call of a pattern consumes on average, and what its calls cost in a month."""

    pattern: str
    label: str
    operation: str
    source: Literal["checks", "estimate"]
    #: The number of calls that were measured.
    calls: int
    read_units: float
    #: Of the table, with its sentinels and events.
    write_units: float
    #: Of the writes to indexes.
    index_units: float
    parts: tuple[CostPart, ...]
    #: Calls in a second; None if the rate is not known.
    rate: float | None = None
    #: The price of a month on demand; None if the rate is not known.
    month: float | None = None


def pattern_cost(
    pattern: AccessPattern,
    calls: Sequence[PatternCall],
    rates: Rates,
    prices: Prices,
    sizes: Sizes | None,
) -> PatternCost:
    """Return what the calls of a pattern consume on average, and cost in a month."""
    shape = pattern.shape
    parts = tuple(_parts(calls, sizes) if calls else _estimates(shape))
    reads = sum(part.units for part in parts if part.kind == "read")
    writes = sum(part.units for part in parts if part.kind == "write")
    indexes = sum(part.units for part in parts if part.kind == "write" and part.index)
    rate = rates.calls.get(pattern.label)
    return PatternCost(
        pattern=pattern.name,
        label=pattern.label,
        operation=shape.operation,
        source="checks" if calls else "estimate",
        calls=sum(call.count for call in calls),
        read_units=reads,
        write_units=writes - indexes,
        index_units=indexes,
        parts=parts,
        rate=rate,
        month=None if rate is None else prices.on_demand_month(rate * reads, rate * writes),
    )


def _parts(calls: Sequence[PatternCall], sizes: Sizes | None) -> Iterable[CostPart]:
    """Yield what the calls consume on average, equal parts as one."""
    count = sum(call.count for call in calls)
    groups: dict[tuple[object, ...], list[Consumption]] = {}
    for call in calls:
        for each in call.consumed:
            place = each.kind, each.table, each.index, each.entity, each.factor, each.reason
            groups.setdefault(place, []).append(each)
    for group in groups.values():
        first = group[0]
        yield CostPart(
            kind=first.kind,
            table=first.table,
            index=first.index,
            entity=first.entity,
            items=sum(len(each.items) for each in group) / count,
            units=sum(sizes.units(each) if sizes else each.units for each in group) / count,
            factor=first.factor,
            reason=first.reason,
        )


def _estimates(shape: Shape) -> Iterable[CostPart]:
    """Yield the estimates of `explain`, which do not tell the writes of indexes apart."""
    table, reason = shape.table.partition(",")[0], "estimate for items of a typical size"
    index = shape.index if shape.operation in READS else None
    if shape.read_units:
        yield CostPart("read", table, index, shape.entity, 0, shape.read_units, 1, reason)
    if shape.write_units:
        yield CostPart("write", table, None, shape.entity, 0, shape.write_units, 1, reason)
