"""Commands that say what access patterns do: `explain` shows requests, `cost` units and prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tablewright.cli import report
from tablewright.cli.commands import add_command, print_document
from tablewright.cli.failures import exit_on_error, fail, say
from tablewright.cli.grammar import WHERE, DesignName, argument, flag, load_design, option
from tablewright.cli.revision import run_at

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.cost import CostComparison, CostReport, PatternUnits
    from tablewright.plans import AccessPattern, Shape


@add_command()
def explain(
    design: DesignName,
    pattern: str | None = argument(
        "PATTERN",
        "The name of a pattern, with or without its module. Default: list all.",
        default=None,
    ),
    details: bool = flag("Explain every pattern in full, not in a list."),
    json: bool = flag("Print everything as JSON."),
) -> None:
    """Show the requests of access patterns.

    For each request: its key condition, what it sets and requires, and its capacity units (an
    estimate for items of a typical size, and the maximum). For each pattern: the average units of
    its calls in the checks of the design. Nothing is sent to a target: the checks run in memory.
    """
    from rich.console import Console

    from tablewright.cost import measure_units

    loaded = load_design(design)
    patterns = loaded.patterns
    if pattern is not None:
        patterns = select_patterns(patterns, design, pattern)
    check_shapes(patterns)
    note_no_patterns(patterns, design)
    console = Console()
    units = measure_units(loaded)
    if json:
        members = [as_members(found) | {"calls": _calls(units[found.label])} for found in patterns]
        print_document(members)
    elif details or pattern is not None:
        for found in patterns:
            _print_pattern(console, found, units[found.label])
    elif patterns:
        _print_list(console, patterns, units)


def as_members(found: AccessPattern) -> dict[str, Any]:
    """Return what `--json` prints of a pattern."""
    from tablewright.plan.explanation import members as members_of

    members = members_of(found.shape)
    del members["steps"]
    return {
        "pattern": found.name,
        "label": found.label,
        "location": found.location,
        "doc": found.doc,
        "parameters": found.parameters,
        **members,
        "requests": list(map(members_of, found.shape.requests)),
    }


def select_patterns(
    patterns: Sequence[AccessPattern], module: str, name: str
) -> list[AccessPattern]:
    """Return the patterns with this name; several, if modules of the design share it."""
    from tablewright.hints import did_you_mean

    found = [each for each in patterns if f".{each.label}".endswith(f".{name}")]
    if not found:
        hint = did_you_mean(name, [each.name for each in patterns])
        known = f"; `tablewright explain {module}` lists its {len(patterns)} patterns"
        fail(f"{module} has no pattern {name!r}{hint or known}")
    return found


def note_no_patterns(patterns: Sequence[AccessPattern], module: str) -> None:
    if not patterns:
        say(f"{module} declares no access patterns; decorate a function with @access_pattern")


def check_shapes(patterns: Sequence[AccessPattern]) -> None:
    """Exit if a pattern is no longer possible, because of an entity that was declared after it."""
    from tablewright.errors import TablewrightError

    for found in patterns:
        try:
            _ = found.shape
        except TablewrightError as error:
            fail(f"pattern {found.name}: {error}")


def _calls(units: PatternUnits) -> dict[str, float]:
    """Return what `--json` prints of the calls in the checks: their number and mean units."""
    if units.is_estimate:
        return {"count": 0}
    return {"count": units.calls, "read_units": units.read_units, "write_units": units.writes}


def _print_list(
    console: Console, patterns: Sequence[AccessPattern], units: Mapping[str, PatternUnits]
) -> None:
    from tablewright.publish.costs import unit_cell, unit_notes

    rows: list[Sequence[str]] = [("pattern", "request", "index", "read", "write")]
    for found in patterns:
        shape, used = found.shape, units[found.label]
        cells = [unit_cell(used, amount) for amount in (used.read_units, used.writes)]
        rows.append((found.name, shape.operation, shape.index or "", *cells))
    for line in report.table_lines(console.width, rows):
        console.print(line.rstrip(), soft_wrap=True, markup=False, highlight=False)
    console.print()
    for line in unit_notes([units[found.label] for found in patterns]):
        console.print(report.fill(console, line), markup=False, highlight=False)


def _print_pattern(console: Console, found: AccessPattern, units: PatternUnits) -> None:
    shape = found.shape
    title = f"{found.name}({', '.join(found.parameters)})"
    console.print(report.fill(console, title), style="bold", markup=False, highlight=False)
    about = [("about", found.doc.partition("\n")[0]), ("in", _relative(found.location))]
    report.print_fields(console, [field for field in about if field[1]], "  ")
    for number, request in enumerate(shape.requests, 1):
        print_request(console, request, f"  {number}. ", "     ")
        for action in request.steps:
            print_request(console, action, "     - ", "       ")
    if len(shape.requests) > 1 or not units.is_estimate:
        report.print_fields(console, [("in all", units.show(shape))], "  ")
    console.print()


def _relative(location: str) -> str:
    """Return a location as seen from the working directory, if it is below."""
    return location.removeprefix(f"{Path.cwd()}/")


def print_request(console: Console, request: Shape, mark: str, indent: str) -> None:
    """Print a request of a pattern, or an action of a transaction, with all that is known of it."""
    console.print(
        report.fill(
            console, f"{mark}{request.operation} {request.entity} on {request.table}", indent
        ),
        markup=False,
        highlight=False,
    )
    fields = [
        ("index", request.index or ""),
        ("key", request.condition),
        ("order", request.order),
        ("page", "" if request.writes else request.page),
        ("filter", "" if request.writes else request.filter),
        ("sets", "\n".join(request.sets)),
        ("requires", "\n".join(request.requires)),
    ]
    if request.steps:  # its actions say it
        fields = []
    fields.append(("units", request.units))
    report.print_fields(console, [field for field in fields if field[1]], indent)


@add_command()
def cost(
    design: DesignName,
    target: str | None = argument(
        "TARGET",
        f"Measure the sizes of stored items: {WHERE}. Default: the sample data of the design.",
        default=None,
    ),
    rates: Path | None = option(
        "A TOML file: `pattern = calls per second`, and `[items]` with the number of items of each "
        "entity.",
        metavar="FILE",
    ),
    prices: Path | None = option(
        "A TOML file with other prices. Default: us-east-1.", metavar="FILE"
    ),
    diff: str | None = option(
        "Print only what differs from a git revision of the design.", metavar="REVISION"
    ),
    details: bool = flag("Print every part of a call, with its reason."),
    json: bool = flag("Print everything as JSON."),
    markdown: bool = flag("Print Markdown."),
) -> None:
    """Print the capacity units of each access pattern, and its monthly price.

    The units are the mean of the calls in the checks of the design. `write` counts the write
    units of the table, with sentinels and history, `index` those of its indexes. Prices need
    rates: the calls of each pattern per second, from `@access_pattern(rate=…)` or a file.

    With --diff, only the patterns that differ are printed, and the prices of a month before and
    after, both with the current rates and prices.
    """

    from tablewright import cost as costs
    from tablewright.errors import TablewrightError
    from tablewright.publish.costs import comparison_markdown
    from tablewright.publish.costs import markdown as report_markdown

    if json and markdown:
        fail("--json and --markdown exclude each other; choose one")
    loaded = load_design(design)
    tables = [table.__table__ for table in loaded.tables]
    try:
        with exit_on_error():
            sizes = None if target is None else costs.measure_target(tables, target)
        found = costs.cost(
            loaded,
            rates=costs.load_rates(loaded, rates),
            prices=costs.load_prices(prices),
            sizes=sizes,
        )
    except TablewrightError as error:
        fail(str(error))
    compared = None
    if diff is not None:
        compared = costs.compare(_report_at(diff, design, target), found, diff)
    if json:
        print_document(compared or found)
    elif markdown and compared is not None:
        typer.echo(comparison_markdown(compared), nl=False)
    elif markdown:
        typer.echo(report_markdown(found), nl=False)
    elif compared is not None:
        _print_comparison(compared)
    else:
        _print(found, details=details)


def _report_at(revision: str, design: str, target: str | None) -> CostReport:
    """Return the report of the design at a git revision, with the same sizes of items."""
    import msgspec

    from tablewright.cost import CostReport
    from tablewright.transfer.endpoints import absolute_target

    arguments = ["cost", design, "--json"]
    if target is not None:
        arguments.insert(2, absolute_target(target))
    return msgspec.json.decode(run_at(revision, *arguments), type=CostReport)


def _print_comparison(found: CostComparison) -> None:
    from rich.console import Console

    from tablewright.publish.costs import comparison_notes, comparison_rows

    console = Console()
    if found.patterns:
        for line in report.table_lines(console.width, comparison_rows(found), numbers=4):
            console.print(line.rstrip(), soft_wrap=True, markup=False, highlight=False)
        console.print()
    _print_notes(console, comparison_notes(found))


def _print(found: CostReport, *, details: bool) -> None:
    from rich.console import Console

    from tablewright.publish.costs import notes, part_texts, rows

    console = Console()
    if found.patterns:
        lines = report.table_lines(console.width, rows(found), numbers=5)
        for line, pattern in zip(lines, [None, *found.patterns], strict=True):
            console.print(line.rstrip(), soft_wrap=True, markup=False, highlight=False)
            if details and pattern is not None:
                report.print_fields(console, part_texts(pattern), "  ")
        console.print()
    _print_notes(console, notes(found))


def _print_notes(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        text = report.fill(console, note)
        console.print(text, soft_wrap=True, markup=False, highlight=False)
