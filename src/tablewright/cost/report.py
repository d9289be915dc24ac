"""Reports: what the patterns of a design consume and cost, and what its tables store.

    trace of the checks ──▶ PatternCost     units of one call, part by part, with the reasons
    rates and prices    ──▶ CapacityCost    each table and index, on demand and provisioned
    sizes and counts    ──▶ StorageCost     each table and index, by entity

This module must not know how a report is printed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tablewright.cost.calls import PatternCall, pattern_calls
from tablewright.cost.capacity import CapacityCost, capacity_costs, capacity_places
from tablewright.cost.patterns import PatternCost, PatternUnits, pattern_units, price_units
from tablewright.cost.prices import HOURS, UTILIZATION, Prices
from tablewright.cost.rates import Rates
from tablewright.cost.sizes import Sizes, measure
from tablewright.cost.storage import StorageCost, storage_costs
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
