"""Comparisons: how the cost of a design differs between two revisions of it.

Both revisions are priced with the rates, the numbers of items and the prices of the later one, so
that the difference is that of the design.

This module must not know git or files.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tablewright.publish.cost.capacity import capacity_costs
from tablewright.publish.cost.patterns import PatternCost
from tablewright.publish.cost.report import CostReport, report_of
from tablewright.publish.cost.storage import with_item_counts
from tablewright.publish.cost.table import markdown_table, number, short_names


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


def _figures(found: PatternCost | None) -> tuple[str, ...] | None:
    """Return the cells of a pattern, as they are compared and printed."""
    if found is None:
        return None
    units = (found.read_units, found.write_units, found.index_units)
    month = "" if found.month is None else f"{found.month:,.2f}"
    return *(number(each) if each else "" for each in units), month


def comparison_rows(found: CostComparison) -> list[tuple[str, ...]]:
    """Return a header and a row for each pattern that differs; + is new, - is removed."""
    names = short_names(change.label for change in found.patterns)
    return [
        ("pattern", "read", "write", "index", f"{found.currency}/month"),
        *(_row(change, names[change.label]) for change in found.patterns),
    ]


def _row(change: PatternChange, name: str) -> tuple[str, ...]:
    before, after = _figures(change.before), _figures(change.after)
    if before is None or after is None:
        mark = "-" if after is None else "+"
        return f"{mark} {name}", *(before or after or ())
    cells = zip(before, after, strict=True)
    return name, *(new if old == new else f"{old or 0} → {new or 0}" for old, new in cells)


def comparison_notes(found: CostComparison) -> Iterator[str]:
    """Yield the lines below the table."""
    if not found.patterns:
        yield f"No pattern differs from {found.since}."
    if not found.has_prices:
        return
    for name, (before, after) in (
        ("On demand", found.on_demand_month),
        ("Provisioned", found.provisioned_month),
        ("Storage", found.storage_month),
        ("Together, each table as it is declared", found.month),
    ):
        more = round(after, 2) - round(before, 2)  # of what is printed
        yield f"{name}: {found.currency} {before:,.2f} → {after:,.2f} a month ({more:+,.2f})."
    yield "Both with the rates, numbers of items and prices of now."


def comparison_markdown(found: CostComparison) -> str:
    """Return a comparison as Markdown, for a pull request."""
    lines = [f"## Cost of {found.design} since {found.since}", ""]
    if found.patterns:
        lines += [*markdown_table(comparison_rows(found)), ""]
    return "\n".join([*lines, *(f"{line}  " for line in comparison_notes(found))]).rstrip() + "\n"
