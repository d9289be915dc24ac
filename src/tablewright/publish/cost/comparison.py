"""Comparisons: how the cost of each pattern differs between two revisions of a design.

Both revisions are priced with the same rates and prices, so that the difference is that of the
design. Provisioned capacity and storage are not compared.

This module must not know git or files.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from tablewright.publish.cost.report import CostReport, PatternCost
from tablewright.publish.cost.table import markdown_table, number


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
    #: The price of a month on demand, of all patterns with a known rate.
    month_before: float
    month_after: float


def compare(before: CostReport, after: CostReport, since: str) -> CostComparison:
    """Return the patterns that are new, removed, or consume or cost something else."""
    rates = {found.label: found.rate for found in after.patterns}
    old = {found.label: found for found in before.patterns}
    for label, found in old.items():
        rate = rates.get(label, found.rate)
        writes = found.write_units + found.index_units
        month = None
        if rate is not None:
            month = after.prices.on_demand_month(rate * found.read_units, rate * writes)
        old[label] = replace(found, rate=rate, month=month)
    new = {found.label: found for found in after.patterns}
    changes = (PatternChange(label, old.get(label), new.get(label)) for label in {**new, **old})
    return CostComparison(
        design=after.design,
        since=since,
        currency=after.prices.currency,
        patterns=tuple(each for each in changes if _figures(each.before) != _figures(each.after)),
        month_before=sum(found.month or 0 for found in old.values()),
        month_after=after.on_demand_month,
    )


def _figures(found: PatternCost | None) -> tuple[str, ...] | None:
    """Return the cells of a pattern, as they are compared and printed."""
    if found is None:
        return None
    units = (found.read_units, found.write_units, found.index_units)
    month = "" if found.month is None else f"{found.month:,.2f}"
    return *(number(each) if each else "" for each in units), month


def comparison_rows(found: CostComparison) -> list[tuple[str, ...]]:
    """Return a header and a row for each pattern that differs; + is new, - is removed."""
    return [
        ("pattern", "read", "write", "index", f"{found.currency}/month"),
        *map(_row, found.patterns),
    ]


def _row(change: PatternChange) -> tuple[str, ...]:
    name = change.label.rpartition(".")[2]
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
    if found.month_before or found.month_after:
        yield (
            f"On demand: {found.currency} {found.month_before:,.2f} → {found.month_after:,.2f} a "
            f"month ({found.month_after - found.month_before:+,.2f}), with the same rates."
        )


def comparison_markdown(found: CostComparison) -> str:
    """Return a comparison as Markdown, for a pull request."""
    lines = [f"## Cost of {found.design} since {found.since}", ""]
    if found.patterns:
        lines += [*markdown_table(comparison_rows(found)), ""]
    return "\n".join([*lines, *comparison_notes(found)]).rstrip() + "\n"
