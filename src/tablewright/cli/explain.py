"""The command that explains patterns: requests, keys, what a write sets and requires, units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tablewright.cli import report
from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.designs import Name, load_or_fail
from tablewright.cli.failures import fail, say
from tablewright.cli.options import argument, flag

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.cost import PatternUnits
    from tablewright.plans import AccessPattern, Shape


@add_command(DESIGNS)
def explain(
    name: Name,
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
    import msgspec
    from rich.console import Console

    from tablewright.cost import measure_units

    design = load_or_fail(name)
    patterns = design.patterns
    if pattern is not None:
        patterns = select_patterns(patterns, name, pattern)
    check_shapes(patterns)
    note_no_patterns(patterns, name)
    console = Console()
    units = measure_units(design)
    if json:
        members = [as_members(found) | {"calls": _calls(units[found.label])} for found in patterns]
        typer.echo(msgspec.json.format(msgspec.json.encode(members), indent=2))
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
