"""Relocation: what it costs to move a table to another place.

    copy       a consistent scan of the source; a transaction for the items, which takes twice the
               units, in the table and in each index
    compare    a scan of both tables, and each item of each once more by its key

An estimate is for the worst case: every item is in all indexes, and index entries are as large as
their items. What programs write meanwhile is not known; `PER_WRITE` says what each write adds.
"""

from __future__ import annotations

import math

from msgspec import Struct

from tablewright.capacity import TRANSACTION_FACTOR, write_units
from tablewright.cost import load_prices
from tablewright.evolve.estimate import DEFAULT_ITEMS, DEFAULT_SIZE, ChangeCost
from tablewright.evolve.report import DEFAULT_RATE
from tablewright.limits import READ_UNIT_SIZE
from tablewright.plan.relocation.checking import RelocationPlan
from tablewright.plan.relocation.state import StepName


class AssessedRelocation(Struct, frozen=True):
    """What each step costs, and what is assumed."""

    costs: dict[StepName, ChangeCost]
    items: int
    size: float
    rate: float
    currency: str
    prices: str
    #: Of both tables together, for a month.
    storage: float

    @property
    def total(self) -> ChangeCost:
        return sum(self.costs.values(), ChangeCost())


def assess_relocation(plan: RelocationPlan, rate: float | None = None) -> AssessedRelocation:
    """Return what a plan costs for the items that the table reports.

    `rate` is the number of write units in a second.
    """
    prices, rate = load_prices(), rate or DEFAULT_RATE
    found = plan.source.state
    items = DEFAULT_ITEMS if found.items is None else found.items
    size = found.size / items if found.items and found.size else DEFAULT_SIZE
    scan = math.ceil(items * size / READ_UNIT_SIZE)
    by_key = items * math.ceil(size / READ_UNIT_SIZE)
    rows = 1 + len(plan.source.indexes)
    written = items * TRANSACTION_FACTOR * write_units(size) * rows

    def priced(reads: float, writes: float) -> ChangeCost:
        money = (reads * prices.on_demand.read + writes * prices.on_demand.write) / 1e6
        return ChangeCost(reads, writes, money, writes / rate)

    costs: dict[StepName, ChangeCost] = {
        "copy": priced(scan, written),
        "compare": priced(2 * (scan + by_key), 0),
    }
    storage = 2 * prices.storage_month(items * size * rows)
    return AssessedRelocation(
        costs, items, size, rate, prices.currency, f"{prices.title} ({prices.on_demand})", storage
    )
