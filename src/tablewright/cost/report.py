"""Reports: what the patterns of a design consume and cost, and what its tables store.

    trace of the checks ──▶ PatternCost     units of one call, part by part, with the reasons
    rates and prices    ──▶ CapacityCost    each table and index, on demand and provisioned
    sizes and counts    ──▶ StorageCost     each table and index, by entity

`compare` returns how the reports of two revisions of a design differ. Both are priced with the
rates, the numbers of items and the prices of the later one, so that the difference is that of the
design.

This module must not know git, files or how a report is printed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tablewright.cost.patterns import PatternCost, PatternUnits, pattern_units, price_units
from tablewright.cost.prices import HOURS, UTILIZATION, Prices, Rates
from tablewright.cost.sizes import Sizes, measure
from tablewright.cost.table_costs import (
    CapacityCost,
    StorageCost,
    capacity_costs,
    capacity_places,
    storage_costs,
    with_item_counts,
)
from tablewright.cost.units import PatternCall, pattern_calls
from tablewright.errors import TablewrightError
from tablewright.verify.design import Design
from tablewright.verify.trace import Trace, trace


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
