"""Patterns: what one call of an access pattern consumes, part by part, and what its calls cost.

The units of a pattern are the mean of the calls that the checks of the design make. A pattern that
no check calls has an estimate for items of a typical size. Every part of the product that shows the
units of a pattern shows these. Calls that a check expects to be refused have a mean of their own.

This module must not know tables, storage or how a report is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from tablewright.cost.prices import Prices, Rates
from tablewright.cost.sizes import Sizes
from tablewright.cost.units import Consumption, PatternCall
from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import Shape
from tablewright.wire.operations import READS


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


class RefusedUnits(Struct, frozen=True):
    """What the refused calls of a pattern consume, on average."""

    calls: int
    read_units: float
    write_units: float


class PatternUnits(Struct, frozen=True, kw_only=True):
    """What one call of a pattern consumes: on average over the checks, or an estimate."""

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
    #: None if no check expects that a call is refused.
    refused: RefusedUnits | None = None

    @property
    def writes(self) -> float:
        """All write units: those of the table and of its indexes."""
        return self.write_units + self.index_units

    @property
    def is_estimate(self) -> bool:
        return self.source == "estimate"

    @property
    def source_text(self) -> str:
        """Return what the units are: `estimate`, or `on average over 2 calls in the checks`."""
        if self.is_estimate:
            return "estimate"
        return f"on average over {self.calls} call{'s' * (self.calls != 1)} in the checks"

    def show(self, shape: Shape) -> str:
        """Return the units as text, and the most that the shape of the pattern allows."""
        return shape.show_units(self.source_text, self.read_units, self.writes)


class PatternCost(PatternUnits, frozen=True, kw_only=True):
    """What one call of a pattern consumes, and what its calls cost in a month."""

    #: Calls in a second; None if the rate is not known.
    rate: float | None = None
    #: The price of a month on demand; None if the rate is not known.
    month: float | None = None

    def priced(self, rate: float | None, prices: Prices) -> PatternCost:
        """Return the same units with the price of another rate, or of other prices."""
        month = None
        if rate is not None:
            month = prices.on_demand_month(rate * self.read_units, rate * self.writes)
        return replace(self, rate=rate, month=month)


def pattern_units(
    pattern: AccessPattern, calls: Sequence[PatternCall], sizes: Sizes | None = None
) -> PatternUnits:
    """Return what the calls of a pattern consume on average; an estimate if there are none."""
    shape = pattern.shape
    refused = [call for call in calls if call.is_refused]
    calls = [call for call in calls if not call.is_refused]
    parts = tuple(_parts(calls, sizes) if calls else _estimates(shape))
    writes = [part for part in parts if part.kind == "write"]
    return PatternUnits(
        pattern=pattern.name,
        label=pattern.label,
        operation=shape.operation,
        source="checks" if calls else "estimate",
        calls=sum(call.count for call in calls),
        read_units=sum(part.units for part in parts if part.kind == "read"),
        write_units=sum(part.units for part in writes if not part.index),
        index_units=sum(part.units for part in writes if part.index),
        parts=parts,
        refused=_refused(list(_parts(refused, sizes)), len(refused)) if refused else None,
    )


def _refused(parts: Sequence[CostPart], calls: int) -> RefusedUnits:
    reads = sum(part.units for part in parts if part.kind == "read")
    return RefusedUnits(calls, reads, sum(part.units for part in parts) - reads)


def price_units(units: PatternUnits, rates: Rates, prices: Prices) -> PatternCost:
    """Return what the calls of a pattern with these units cost in a month."""
    return PatternCost(**asdict(units)).priced(rates.calls.get(units.label), prices)


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
    """Yield the estimates of `explain`, which include the writes of indexes in those of tables."""
    table, reason = shape.table.partition(",")[0], "estimate for items of a typical size"
    index = shape.index if shape.operation in READS else None
    if shape.read_units:
        yield CostPart("read", table, index, shape.entity, 0, shape.read_units, 1, reason)
    if shape.write_units:
        yield CostPart("write", table, None, shape.entity, 0, shape.write_units, 1, reason)
