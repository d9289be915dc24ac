"""The command `explain`: the requests of access patterns, and what they consume."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tablewright.cli import report
from tablewright.cli.commands import add_command, print_document
from tablewright.cli.grammar import DesignName, argument, flag, load_design
from tablewright.cli.report import fail, say
from tablewright.errors import TablewrightError
from tablewright.hints import did_you_mean
from tablewright.presentation.printing import (
    make_console,
    print_fields,
    print_noted_table,
    print_text,
)

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.cost import PatternUnits
    from tablewright.plans import AccessPattern, Shape
    from tablewright.verify import Design


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
    from tablewright.cost import measure_units
    from tablewright.publish.cost_text import unit_cell, unit_notes

    loaded = load_design(design)
    patterns = select_patterns(loaded, design, pattern)
    units = measure_units(loaded)
    if json:
        members = [as_members(found) | {"calls": _calls(units[found.label])} for found in patterns]
        print_document(members)
    elif details or pattern is not None:
        console = make_console()
        for found in patterns:
            _print_pattern(console, found, units[found.label])
    elif patterns:
        rows: list[Sequence[str]] = [("pattern", "request", "index", "read", "write")]
        for found in patterns:
            shape, used = found.shape, units[found.label]
            cells = [unit_cell(used, amount) for amount in (used.read_units, used.writes)]
            rows.append((found.name, shape.operation, shape.index or "", *cells))
        print_noted_table(rows, 2, unit_notes([units[found.label] for found in patterns]))


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


def select_patterns(design: Design, module: str, name: str | None) -> Sequence[AccessPattern]:
    """Return the patterns with this name, or all; several, if modules of the design share it.

    Exit if there is none, or if one is no longer possible, because of an entity that was declared
    after it.
    """
    found = design.patterns
    if name is not None:
        found = [each for each in found if f".{each.label}".endswith(f".{name}")]
        if not found:
            hint = did_you_mean(name, [each.name for each in design.patterns])
            known = f"; `tablewright explain {module}` lists its {len(design.patterns)} patterns"
            fail(f"{module} has no pattern {name!r}{hint or known}")
    elif not found:
        say(f"{module} declares no access patterns; decorate a function with @access_pattern")
    for each in found:
        try:
            _ = each.shape
        except TablewrightError as error:
            fail(f"pattern {each.name}: {error}")
    return found


def _calls(units: PatternUnits) -> dict[str, float]:
    """Return what `--json` prints of the calls in the checks: their number and mean units."""
    if units.is_estimate:
        return {"count": 0}
    return {"count": units.calls, "read_units": units.read_units, "write_units": units.writes}


def _print_pattern(console: Console, found: AccessPattern, units: PatternUnits) -> None:
    shape = found.shape
    print_text(console, f"{found.name}({', '.join(found.parameters)})", style="bold")
    about = [("about", found.doc.partition("\n")[0]), ("in", report.relative(found.location))]
    print_fields(console, [field for field in about if field[1]], "  ")
    print_requests(console, shape, "  ")
    if len(shape.requests) > 1 or not units.is_estimate:
        print_fields(console, [("in all", units.show(shape))], "  ")
    console.print()


def print_requests(console: Console, shape: Shape, indent: str = "") -> None:
    """Print the requests of a pattern, each with its actions if it is a transaction."""
    for number, request in enumerate(shape.requests, 1):
        _print_request(console, request, f"{indent}{number}. ", f"{indent}   ")
        for action in request.steps:
            _print_request(console, action, f"{indent}   - ", f"{indent}     ")


def _print_request(console: Console, request: Shape, mark: str, indent: str) -> None:
    """Print a request of a pattern, or an action of a transaction, with all that is known of it."""
    what = f"{mark}{request.operation} {request.entity} on {request.table}"
    print_text(console, what, indent)
    fields = [
        ("index", request.index or ""),
        ("key", request.condition),
        ("order", request.order),
        ("page", "" if request.is_write else request.page),
        ("filter", "" if request.is_write else request.filter),
        ("sets", "\n".join(request.sets)),
        ("requires", "\n".join(request.requires)),
    ]
    if request.steps:  # its actions say it
        fields = []
    fields.append(("units", request.units))
    print_fields(console, [field for field in fields if field[1]], indent)
