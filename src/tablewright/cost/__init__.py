"""Cost: the capacity units and the monthly price of a design's access patterns.

units       what a read, a write or a call of a pattern consumes, with the reasons
sizes       how large items are, in the sample data or in an existing table
prices      what units and storage cost in a month; how often patterns are called
patterns    what one call of a pattern consumes on average, and its calls cost
report      what tables and indexes need, on demand and provisioned, and what they store; the cost
            of a design, from all of these; what differs between two revisions

It must not know how any of this is printed: `publish.cost_text` does that.
"""

from __future__ import annotations

from tablewright.cost.patterns import PatternCost, PatternUnits
from tablewright.cost.prices import Rates, load_prices, load_rates
from tablewright.cost.report import (
    CostComparison,
    CostReport,
    compare,
    cost,
    measure_units,
    price_trace,
    units_of,
)
from tablewright.cost.sizes import measure_target
from tablewright.cost.units import Consumption, consumption, pattern_calls

__all__ = [
    "Consumption",
    "CostComparison",
    "CostReport",
    "PatternCost",
    "PatternUnits",
    "Rates",
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
