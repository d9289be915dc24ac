"""Comparisons: how the cost of a design differs between two revisions of it.

Both revisions are priced with the rates, the numbers of items and the prices of the later one, so
that the difference is that of the design.

This module must not know git, files or how a comparison is printed.
"""

from __future__ import annotations

from msgspec import Struct

from tablewright.cost.capacity import capacity_costs
from tablewright.cost.patterns import PatternCost
from tablewright.cost.report import CostReport, report_of
from tablewright.cost.storage import with_item_counts


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
