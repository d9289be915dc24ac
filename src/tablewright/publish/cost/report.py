"""Reports: what each pattern of a design consumes and costs, as values.

    calls of the checks ──▶ PatternCost    units of one call, part by part, with the reasons
    rates and prices    ──▶ CostReport     the month on demand and provisioned, and the storage

The units of a pattern are the mean of the calls that the checks of the design make. A pattern that
no check calls has the estimate of `explain`, for items of a typical size.

This module must not know how a report is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import READS, Shape
from tablewright.publish.cost.prices import HOURS, STORAGE_OVERHEAD, UTILIZATION, Prices
from tablewright.publish.cost.rates import Rates
from tablewright.publish.cost.sizes import Sizes, measure
from tablewright.publish.cost.trace import PatternCall, trace
from tablewright.publish.cost.units import SENTINEL, Consumption
from tablewright.verify.design import Design
from tablewright.verify.run import Scanner, load_sample
from tablewright.verify.temporary import temporary_tables


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


class CapacityCost(Struct, frozen=True):
    """The units that a table or an index needs each second, and their provisioned price."""

    table: str
    index: str | None
    reads: float
    writes: float
    month: float


class StorageCost(Struct, frozen=True):
    """What a table or an index stores, with 100 bytes more for each item, and its price."""

    table: str
    index: str | None
    items: float
    size: float
    month: float


class CostReport(Struct, frozen=True):
    """The cost of a design."""

    design: str
    prices: Prices
    patterns: tuple[PatternCost, ...]
    provisioned: tuple[CapacityCost, ...]
    storage: tuple[StorageCost, ...]
    #: The prices of a month: all calls with a known rate, both ways, and storage.
    on_demand_month: float
    provisioned_month: float
    storage_month: float
    hours: int = HOURS
    utilization: float = UTILIZATION


def cost(design: Design, *, rates: Rates, prices: Prices, sizes: Sizes | None = None) -> CostReport:
    """Return the cost of a design; `sizes` replace those of its sample data.

    Raise InvalidValue if a check of the design fails.
    """
    with temporary_tables(":memory:", *design.tables) as database:
        calls = trace(design, database)
    by_pattern: dict[str, list[PatternCall]] = {}
    for call in calls:
        by_pattern.setdefault(call.pattern, []).append(call)
    patterns = tuple(
        _pattern(found, by_pattern.get(found.label, []), rates, prices, sizes)
        for found in design.patterns
    )
    provisioned = tuple(_provisioned(patterns, design, prices))
    consumed = [each for call in calls for each in call.consumed]
    stored = (sizes or sample_sizes(design)).with_written(consumed)
    storage = tuple(_storage(design, stored, rates, prices))
    return CostReport(
        design=design.name,
        prices=prices,
        patterns=patterns,
        provisioned=provisioned,
        storage=storage,
        on_demand_month=sum(found.month or 0 for found in patterns),
        provisioned_month=sum(found.month for found in provisioned),
        storage_month=sum(found.month for found in storage),
    )


def sample_sizes(design: Design) -> Sizes:
    """Measure the sample data of a design."""
    with temporary_tables(":memory:", *design.tables) as database:
        load_sample(design, database)
        scan = Scanner(database)
        tables = [table.__table__ for table in design.tables]
        return measure({table: (scan.items(table), None) for table in tables})


def _pattern(
    pattern: AccessPattern,
    calls: Sequence[PatternCall],
    rates: Rates,
    prices: Prices,
    sizes: Sizes | None,
) -> PatternCost:
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


def _provisioned(
    patterns: Iterable[PatternCost], design: Design, prices: Prices
) -> Iterable[CapacityCost]:
    """Yield the capacity of each table and global index; a local index has that of its table."""
    for declared in design.tables:
        table = declared.__table__
        places = [index.name for index in table.indexes.values() if index.kind == "global"]
        for place in (None, *places):
            units = {"read": 0.0, "write": 0.0}
            for found in patterns:
                for part in found.parts:
                    own = part.index if part.index in places else None
                    if part.table == table.name and own == place:
                        units[part.kind] += part.units * (found.rate or 0)
            month = prices.provisioned_month(units["read"], units["write"])
            yield CapacityCost(table.name, place, units["read"], units["write"], month)


def _storage(design: Design, sizes: Sizes, rates: Rates, prices: Prices) -> Iterable[StorageCost]:
    for name in rates.items:
        if not any(entity == name for _, _, entity in sizes.measured):
            raise InvalidValue(
                f"{design.name}: the size of {name} is not known: the sample data, or the tables "
                "that were measured, have no item of it, and no check writes one"
            )
    for declared in design.tables:
        table = declared.__table__
        counts = {
            entity.name: sizes.counts.get((table.name, entity.name), 0) for entity in table.entities
        }
        given = {name: rates.items.get(name, count) for name, count in counts.items()}
        owners = [entity.name for entity in table.entities if entity.uniques]
        before = sum(counts[name] for name in owners)
        given[SENTINEL] = sizes.counts.get((table.name, SENTINEL), 0)
        if before:  # there are as many more as of the entities with unique values
            given[SENTINEL] *= sum(given[name] for name in owners) / before
        for index in (None, *table.indexes):
            rows = size = 0.0
            for entity, count in given.items():
                whole = sizes.measured.get((table.name, None, entity))
                found = sizes.measured.get((table.name, index, entity))
                if whole and found:
                    rows += count * found.items / whole.items
                    size += count * (found.size + STORAGE_OVERHEAD * found.items) / whole.items
            yield StorageCost(table.name, index, rows, size, prices.storage_month(size))
