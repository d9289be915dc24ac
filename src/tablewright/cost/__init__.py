"""Cost: the capacity units and the monthly price of a design's access patterns.

units       what one read or write consumes, from its items: table, indexes, reasons
calls       what the calls of the patterns consume, from the trace of the checks
sizes       how large items are, in the sample data or in an existing table
rates       how often patterns are called, and how many items there are
prices      what units and storage cost in a month
patterns    what one call of a pattern consumes, and its calls cost
capacity    what tables and indexes need, on demand and provisioned
storage     what tables and indexes store
report      the cost of a design, from all of these
comparison  what differs between two revisions of a design

It must not know how any of this is printed: `publish.costs` does that.
"""

from __future__ import annotations

from tablewright.cost.calls import PatternCall, consumption, pattern_calls
from tablewright.cost.capacity import CapacityCost, CapacityPlace
from tablewright.cost.comparison import CostComparison, PatternChange, compare
from tablewright.cost.patterns import CostPart, PatternCost, PatternUnits, RefusedUnits
from tablewright.cost.prices import Prices, load_prices
from tablewright.cost.rates import Rates, load_rates
from tablewright.cost.report import (
    CostReport,
    cost,
    measure_units,
    price_trace,
    units_of,
)
from tablewright.cost.sizes import Sizes, measure_target
from tablewright.cost.storage import StorageCost
from tablewright.cost.units import Consumption

__all__ = [
    "CapacityCost",
    "CapacityPlace",
    "Consumption",
    "CostComparison",
    "CostPart",
    "CostReport",
    "PatternCall",
    "PatternChange",
    "PatternCost",
    "PatternUnits",
    "Prices",
    "Rates",
    "RefusedUnits",
    "Sizes",
    "StorageCost",
    "compare",
    "consumption",
    "cost",
    "load_prices",
    "load_rates",
    "measure_target",
    "measure_units",
    "pattern_calls",
    "price_trace",
    "units_of",
]
