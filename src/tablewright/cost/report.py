"""Reports: what the patterns of a design consume and cost, and what its tables store.

    trace of the checks ──▶ PatternCost     units of one call, part by part, with the reasons
    rates and prices    ──▶ CapacityCost    each table and index, on demand and provisioned
    sizes and counts    ──▶ StorageCost     each table and index, by entity

    on demand      each unit has its price
    provisioned    each table and each global index has its own capacity: the declared one
                   (`billing=Provisioned(…)`), or what its units need if 70 % of it is used
    storage        each item and each index row has its size and 100 bytes more

A local index uses the capacity of its table. The number of stored items is given with the rates; or
it is that of the sample data, or of the measured tables.

`compare` returns how the reports of two revisions of a design differ. Both are priced with the
rates, the numbers of items and the prices of the later one, so that the difference is that of the
design.

This module must not know git, files or how a report is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tablewright.cost.patterns import PatternCost, PatternUnits, pattern_units, price_units
from tablewright.cost.prices import (
    HOURS,
    STORAGE_OVERHEAD,
    UTILIZATION,
    Prices,
    Rates,
    needed_capacity,
)
from tablewright.cost.sizes import Sizes, measure
from tablewright.cost.units import INDEX_RECORD, SENTINEL, UNKNOWN, PatternCall, pattern_calls
from tablewright.errors import InvalidValue, TablewrightError
from tablewright.mapping.table import TableMap
from tablewright.mapping.table_settings import Provisioned
from tablewright.verify.design import Design
from tablewright.verify.trace import Trace, trace


class CapacityPlace(Struct, frozen=True):
    """A table or a global index: what has a capacity of its own."""

    table: str
    #: None for the table itself.
    index: str | None
    #: The declared capacity; None if the table is billed on demand.
    declared: Provisioned | None


class CapacityCost(Struct, frozen=True):
    """The units that a table or a global index needs each second, and the price of a month."""

    place: CapacityPlace
    reads: float
    writes: float
    #: The declared capacity, or the one that these units need.
    capacity: Provisioned
    on_demand_month: float
    provisioned_month: float

    @property
    def month(self) -> float:
        """The price in the declared mode."""
        return self.on_demand_month if self.place.declared is None else self.provisioned_month


def capacity_places(design: Design) -> list[CapacityPlace]:
    """Return the tables and global indexes of a design."""
    return [
        CapacityPlace(table.name, name, capacity)
        for table in (declared.__table__ for declared in design.tables)
        for name, capacity in (
            (None, table.settings.billing),
            *(
                (each.name, each.billing)
                for each in table.indexes.values()
                if each.kind == "global"
            ),
        )
    ]


def capacity_costs(
    patterns: Iterable[PatternCost], places: Sequence[CapacityPlace], prices: Prices
) -> Iterator[CapacityCost]:
    """Yield what the calls of all patterns with a known rate need at each place."""
    units = {(each.table, each.index): {"read": 0.0, "write": 0.0} for each in places}
    for found in patterns:
        for part in found.parts:
            place = part.table, part.index
            own = units.get(place if place in units else (part.table, None))
            if own is not None:  # of a table of the design
                own[part.kind] += part.units * (found.rate or 0)
    for each in places:
        reads, writes = units[each.table, each.index].values()
        capacity = each.declared or needed_capacity(reads, writes)
        yield CapacityCost(
            place=each,
            reads=reads,
            writes=writes,
            capacity=capacity,
            on_demand_month=prices.on_demand_month(reads, writes),
            provisioned_month=prices.provisioned_month(capacity),
        )


class StorageCost(Struct, frozen=True):
    """What a table or an index stores of an entity, with 100 bytes more for each item."""

    table: str
    #: None for the table itself.
    index: str | None
    #: Or `sentinel`, for the items that reserve unique values; or `index record`, or `unknown`.
    entity: str
    items: float
    size: float
    month: float


def storage_costs(
    design: Design, sizes: Sizes, rates: Rates, prices: Prices
) -> Iterator[StorageCost]:
    """Yield what each table and index stores.

    Raise InvalidValue if the size of an entity with a given number of items is not known.
    """
    for name in rates.items:
        if not any(entity == name for _, _, entity in sizes.measured):
            raise InvalidValue(
                f"{design.name}: the size of {name} is not known: the sample data, or the tables "
                "that were measured, have no item of it, and no check writes one"
            )
    for declared in design.tables:
        table = declared.__table__
        counts = _counts(table, sizes, rates)
        for index in (None, *table.indexes):
            for entity, count in counts.items():
                whole = sizes.measured.get((table.name, None, entity))
                found = sizes.measured.get((table.name, index, entity))
                if whole and found:
                    rows = count * found.items / whole.items
                    size = count * (found.size + STORAGE_OVERHEAD * found.items) / whole.items
                    month = prices.storage_month(size)
                    yield StorageCost(table.name, index, entity, rows, size, month)


def _counts(table: TableMap, sizes: Sizes, rates: Rates) -> dict[str, float]:
    """Return the number of items of each entity of a table, and of those without an entity."""
    found = {each.name: sizes.counts.get((table.name, each.name), 0) for each in table.entities}
    given = {name: rates.items.get(name, count) for name, count in found.items()}
    owners = [entity.name for entity in table.entities if entity.uniques]
    before = sum(found[name] for name in owners)
    given[SENTINEL] = sizes.counts.get((table.name, SENTINEL), 0)
    if before:  # their number grows with that of the entities with unique values
        given[SENTINEL] *= sum(given[name] for name in owners) / before
    others = {name: sizes.counts.get((table.name, name), 0) for name in (INDEX_RECORD, UNKNOWN)}
    return given | others


def with_item_counts(
    storage: Iterable[StorageCost], counted: Iterable[StorageCost], prices: Prices
) -> Iterator[StorageCost]:
    """Yield storage with as many items of each entity as another report has, and its prices.

    Entities that the other report does not have keep their number of items.
    """
    storage = list(storage)
    here, there = _items_by_entity(storage), _items_by_entity(counted)
    for each in storage:
        place = each.table, each.entity
        factor = there[place] / here[place] if place in there and here.get(place) else 1
        size = each.size * factor
        month = prices.storage_month(size)
        yield replace(each, items=each.items * factor, size=size, month=month)


def _items_by_entity(storage: Iterable[StorageCost]) -> Mapping[tuple[str, str], float]:
    return {(each.table, each.entity): each.items for each in storage if each.index is None}


# -- the report ------------------------------------------------------------------------------------


class CostReport(Struct, frozen=True):
    """The cost of a design."""

    design: str
    prices: Prices
    patterns: tuple[PatternCost, ...]
    capacity: tuple[CapacityCost, ...]
    storage: tuple[StorageCost, ...]
    #: The prices of a month: all calls with a known rate, in both modes, and storage.
    on_demand_month: float
    provisioned_month: float
    storage_month: float
    #: The price of a month in the declared mode of each table, with storage.
    month: float
    hours: int = HOURS
    utilization: float = UTILIZATION


def cost(design: Design, *, rates: Rates, prices: Prices, sizes: Sizes | None = None) -> CostReport:
    """Return the cost of a design; `sizes` replace those of its sample data.

    Raise InvalidValue if a check of the design fails.
    """
    return price_trace(design, trace(design), rates=rates, prices=prices, sizes=sizes)


def measure_units(design: Design, traced: Trace | None = None) -> dict[str, PatternUnits]:
    """Return the units of the patterns of a design by label, from the trace of its checks.

    Without one, the checks are run. If a check fails, all are estimates.
    """
    try:
        calls = pattern_calls(design, traced or trace(design))
    except TablewrightError:
        calls = []
    return units_of(design, calls)


def units_of(
    design: Design, calls: Sequence[PatternCall], sizes: Sizes | None = None
) -> dict[str, PatternUnits]:
    """Return what one call of each pattern consumes, by the labels of the patterns."""
    by_pattern: dict[str, list[PatternCall]] = {}
    for call in calls:
        by_pattern.setdefault(call.pattern, []).append(call)
    return {
        found.label: pattern_units(found, by_pattern.get(found.label, []), sizes)
        for found in design.patterns
    }


def price_trace(
    design: Design,
    traced: Trace,
    *,
    rates: Rates,
    prices: Prices,
    sizes: Sizes | None = None,
) -> CostReport:
    """Return the cost of a design whose checks have this trace.

    Raise InvalidValue if a check of the design fails.
    """
    calls = pattern_calls(design, traced)
    patterns = tuple(
        price_units(found, rates, prices) for found in units_of(design, calls, sizes).values()
    )
    capacity = tuple(capacity_costs(patterns, capacity_places(design), prices))
    consumed = [each for call in calls if not call.is_refused for each in call.consumed]
    sample = sizes or measure({table: (items, None) for table, items in traced.sample.items()})
    stored = sample.with_written(consumed)
    storage = tuple(storage_costs(design, stored, rates, prices))
    return report_of(design.name, prices, patterns, capacity, storage)


def report_of(
    design: str,
    prices: Prices,
    patterns: tuple[PatternCost, ...],
    capacity: tuple[CapacityCost, ...],
    storage: tuple[StorageCost, ...],
) -> CostReport:
    """Return a report of these costs, with their sums."""
    storage_month = sum(found.month for found in storage)
    return CostReport(
        design=design,
        prices=prices,
        patterns=patterns,
        capacity=capacity,
        storage=storage,
        on_demand_month=sum(found.on_demand_month for found in capacity),
        provisioned_month=sum(found.provisioned_month for found in capacity),
        storage_month=storage_month,
        month=sum(found.month for found in capacity) + storage_month,
    )


class PatternChange(Struct, frozen=True):
    """The cost of a pattern before and after; None where the pattern does not exist."""

    label: str
    before: PatternCost | None
    after: PatternCost | None


class CostComparison(Struct, frozen=True):
    """What differs between two revisions of a design."""

    design: str
    #: The revision that the design is compared with.
    since: str
    currency: str
    patterns: tuple[PatternChange, ...]
    #: Whether the rate of a pattern is known, or the capacity of a table is declared.
    has_prices: bool
    #: The prices of a month, before and after: all calls with a known rate, in both modes, and
    #: storage; and the sum of storage and the declared mode of each table.
    on_demand_month: tuple[float, float]
    provisioned_month: tuple[float, float]
    storage_month: tuple[float, float]
    month: tuple[float, float]


def compare(before: CostReport, after: CostReport, since: str) -> CostComparison:
    """Return the patterns that are new, removed, or consume or cost something else."""
    before = _repriced(before, after)
    old = {found.label: found for found in before.patterns}
    new = {found.label: found for found in after.patterns}
    changes = (PatternChange(label, old.get(label), new.get(label)) for label in {**new, **old})
    return CostComparison(
        design=after.design,
        since=since,
        currency=after.prices.currency,
        patterns=tuple(each for each in changes if _figures(each.before) != _figures(each.after)),
        has_prices=any(
            found.rate is not None for report in (before, after) for found in report.patterns
        )
        or any(each.place.declared for report in (before, after) for each in report.capacity),
        on_demand_month=(before.on_demand_month, after.on_demand_month),
        provisioned_month=(before.provisioned_month, after.provisioned_month),
        storage_month=(before.storage_month, after.storage_month),
        month=(before.month, after.month),
    )


def _repriced(before: CostReport, after: CostReport) -> CostReport:
    """Return a report with the rates, numbers of items and prices of a later one.

    A pattern or an entity that the later one does not have keeps its own.
    """
    prices = after.prices
    rates = {found.label: found.rate for found in after.patterns}
    patterns = [
        found.priced(rates.get(found.label, found.rate), prices) for found in before.patterns
    ]
    places = [each.place for each in before.capacity]
    capacity = tuple(capacity_costs(patterns, places, prices))
    storage = tuple(with_item_counts(before.storage, after.storage, prices))
    return report_of(before.design, prices, tuple(patterns), capacity, storage)


def _figures(found: PatternCost | None) -> tuple[float | None, ...]:
    """Return what is compared of a pattern: its units and its price, to two decimals."""
    if found is None:
        return ()
    values = (found.read_units, found.write_units, found.index_units, found.month)
    return tuple(each if each is None else round(each, 2) for each in values)
