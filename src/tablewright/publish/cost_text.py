"""Texts of costs: the report of a design, and a comparison of two, as rows and as Markdown.

The terminal and Markdown share the rows. This module must not know terminals or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tablewright.cost.patterns import CostPart, PatternCost, PatternUnits
from tablewright.cost.prices import GIGABYTE, Prices
from tablewright.cost.report import CapacityCost, CostComparison, CostReport, PatternChange
from tablewright.cost.units import NOT_IN_INDEX

#: How the units of a pattern that no check calls are marked.
ESTIMATED = "~"


def rows(report: CostReport) -> list[tuple[str, ...]]:
    """Return a header and a row for each pattern: name, rate, units of one call, price."""
    header = ("pattern", "calls/s", "read", "write", "index", f"{report.prices.currency}/month")
    names = short_names(found.label for found in report.patterns)
    return [header, *(_row(found, names[found.label]) for found in report.patterns)]


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return each label without its module, or with as much of it as makes it unique.

    >>> list(short_names(["menu.joins.rename", "menu.items.rename", "menu.items.add"]).values())
    ['joins.rename', 'items.rename', 'add']
    """
    found = {}
    labels = list(dict.fromkeys(labels))
    for label in labels:
        parts = label.split(".")
        endings = [".".join(parts[-length:]) for length in range(1, len(parts))]
        found[label] = next(
            (each for each in endings if sum(f".{o}".endswith(f".{each}") for o in labels) == 1),
            label,
        )
    return found


def _row(found: PatternCost, name: str) -> tuple[str, ...]:
    rate = "" if found.rate is None else f"{found.rate:g}"
    return name, rate, *_cells(found, ESTIMATED if found.is_estimate else "")


def _cells(found: PatternCost, mark: str = "") -> tuple[str, ...]:
    """Return the units of a pattern, each after the mark, and its price."""
    units = (found.read_units, found.write_units, found.index_units)
    price = "" if found.month is None else f"{found.month:,.2f}"
    return *(f"{mark}{number(each)}" if each else "" for each in units), price


def unit_cell(found: PatternUnits, units: float) -> str:
    """Render some of the units of a pattern; nothing for 0."""
    mark = ESTIMATED if found.is_estimate else ""
    return f"{mark}{number(units)}" if units else ""


def number(units: float) -> str:
    """Render a mean of units: at most two decimals.

    >>> number(0.5), number(7 / 3), number(1200)
    ('0.5', '2.33', '1200')
    """
    return f"{units:.2f}".rstrip("0").rstrip(".")


def _count(amount: float, noun: str) -> str:
    return f"{number(amount)} {noun}{'' if amount == 1 else 's'}"


def part_texts(found: PatternCost) -> list[tuple[str, str]]:
    """Return the parts of a call: kind and units; what is read or written, and the reason.

    The last one is what a refused call consumes, if the checks have one.
    """
    texts = [
        (f"{part.kind} {number(part.units)}", _part_text(part))
        for part in found.parts
        if part.reason != NOT_IN_INDEX
    ]
    if found.refused is not None:
        reads, writes = found.refused.read_units, found.refused.write_units
        used = f"{number(reads)} read and {number(writes)} write units"
        count = _count(found.refused.calls, "refused call")
        texts.append(("refused", f"{used}, on average over {count} in the checks"))
    return texts


def _part_text(part: CostPart) -> str:
    where = part.entity or part.table
    if part.index and part.kind == "write":
        where = f"{part.index}, {_count(part.items, 'write')}"
    elif part.index:
        where = f"{part.entity} in {part.index}".strip()
    double = ", doubled by the transaction" if part.factor == 2 and part.units else ""
    return f"{where}: {part.reason}{double}"


def notes(report: CostReport) -> Iterator[str]:
    """Yield the lines below the table: the totals of a month, and what they assume."""
    prices = report.prices
    without = sum(found.rate is None for found in report.patterns)
    is_rated = without < len(report.patterns)
    is_declared = any(each.place.declared for each in report.capacity)
    if is_rated:
        yield (
            f"On demand: {prices.currency} {report.on_demand_month:,.2f} a month "
            f"(prices of {prices.on_demand})."
        )
    if is_rated or is_declared:
        how = "with the declared capacity" if is_declared else ""
        if not all(each.place.declared for each in report.capacity):
            how += f"{', ' if how else ''}if {report.utilization:.0%} of the capacity is used"
        yield (
            f"Provisioned: {prices.currency} {report.provisioned_month:,.2f} a month, {how} "
            f"(prices of {prices.provisioned})."
        )
        size = sum(each.size for each in report.storage)
        items = sum(each.items for each in report.storage if each.index is None)
        yield (
            f"Storage: {prices.currency} {report.storage_month:,.2f} a month for {items:,.0f} "
            f"items, {_bytes(size)} with indexes and 100 bytes more for each (price of "
            f"{prices.storage})."
        )
        if is_declared:
            yield (
                f"Together: {prices.currency} {report.month:,.2f} a month, each table as it is "
                "declared."
            )
        yield f"Prices: {prices.title}; {_sources(prices)}. A month has {report.hours} hours."
    about = any(found.rate and found.is_estimate for found in report.patterns)
    yield from (text for each in report.capacity if (text := _overload(each, about=about)))
    if not report.patterns:
        yield f"{report.design} declares no access patterns, so no units are known."
    if without:
        some = f"{without} of {len(report.patterns)} patterns have no rate"
        none = f"No pattern has a rate, so there is no price{' on demand' * is_declared}"
        yield f"{some if is_rated else none}: use @access_pattern(rate=…), or --rates FILE."
    yield from unit_notes(report.patterns)


def unit_notes(patterns: Sequence[PatternUnits]) -> Iterator[str]:
    """Yield what the units of the patterns are."""
    if any(not found.is_estimate for found in patterns):
        yield "Units: on average over the calls in the checks of the design."
    if any(found.refused is not None for found in patterns):
        yield "Refused calls are not included: `tablewright cost --details` shows their units."
    if any(found.is_estimate for found in patterns):
        yield (
            f"{ESTIMATED} an estimate for items of a typical size: no check calls the pattern, or "
            "the checks of the design fail (run `tablewright verify`)."
        )


def _bytes(size: float) -> str:
    """Return a size in GB, as it is billed; a small one in bytes.

    >>> _bytes(27_098_111_111), _bytes(1526)
    ('25.24 GB', '1,526 bytes')
    """
    return f"{size / GIGABYTE:,.2f} GB" if size >= GIGABYTE / 10 else f"{size:,.0f} bytes"


def _sources(prices: Prices) -> str:
    parts = (prices.on_demand, prices.provisioned, prices.storage)
    return ", ".join(dict.fromkeys(each.source for each in parts))


def _overload(found: CapacityCost, *, about: bool) -> str | None:
    """Return a warning if a table or an index needs more than its declared capacity.

    With `about`, the units are partly estimated.
    """
    declared = found.place.declared
    if declared is None or (found.reads <= declared.read and found.writes <= declared.write):
        return None
    return (
        f"Warning: {found.place.index or found.place.table} needs "
        f"{'about ' if about else ''}{number(found.reads)} read and "
        f"{number(found.writes)} write units per second, and its declared capacity is "
        f"{declared.read} and {declared.write}: DynamoDB throttles the rest."
    )


def markdown(report: CostReport) -> str:
    """Return a report as Markdown: the table, the reasons for index writes, and the totals."""
    lines = [f"## Cost of {report.design}", ""]
    if report.patterns:
        lines += _markdown_table(rows(report))
    names = short_names(found.label for found in report.patterns)
    writes = [found for found in report.patterns if found.index_units]
    if writes:
        lines += ["Writes to indexes:", ""]
        lines += [
            f"- `{names[found.label]}`: {_count(part.units, 'unit')} in {_part_text(part)}"
            for found in writes
            for part in found.parts
            if part.index and part.kind == "write" and part.units
        ]
        lines.append("")
    return _with_notes(lines, notes(report))


def _with_notes(lines: Iterable[str], notes: Iterable[str]) -> str:
    return "\n".join([*lines, *(f"{line}  " for line in notes)]).rstrip() + "\n"


def _markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose first column is text and whose others are numbers."""
    header, *others = rows
    return [
        f"| {' | '.join(header)} |",
        f"|---|{'---:|' * (len(header) - 1)}",
        *(f"| `{name}` | {' | '.join(cells)} |" for name, *cells in others),
        "",
    ]


def comparison_rows(found: CostComparison) -> list[tuple[str, ...]]:
    """Return a header and a row for each pattern that differs; + is new, - is removed."""
    names = short_names(change.label for change in found.patterns)
    return [
        ("pattern", "read", "write", "index", f"{found.currency}/month"),
        *(_change_row(change, names[change.label]) for change in found.patterns),
    ]


def _change_row(change: PatternChange, name: str) -> tuple[str, ...]:
    if change.before is not None and change.after is not None:
        cells = zip(_cells(change.before), _cells(change.after), strict=True)
        return name, *(new if old == new else f"{old or 0} → {new or 0}" for old, new in cells)
    if change.after is not None:
        return f"+ {name}", *_cells(change.after)
    return f"- {name}", *(_cells(change.before) if change.before else ())


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
        lines += _markdown_table(comparison_rows(found))
    return _with_notes(lines, comparison_notes(found))
