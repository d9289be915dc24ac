"""The command that says what could be better in a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from tablewright.cli import report
from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.designs import Name, load_or_fail
from tablewright.cli.failures import fail, failing_on
from tablewright.cli.options import flag, option
from tablewright.errors import TablewrightError

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.publish.advice import Finding

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@add_command(DESIGNS)
def advise(
    name: Name,
    json: bool = flag("Print the findings as JSON."),
    sarif: bool = flag("Print SARIF 2.1.0, for code scanning in CI."),
    rates: Path | None = option(
        "A TOML file with the calls per second of each pattern, as for `cost`.", metavar="FILE"
    ),
) -> None:
    """Find what could be better in a design: hot partitions, unused indexes, needless units.

    Each finding names the rule, the place, the reason with numbers, and the fix. The comment
    `# tablewright: allow(RULE, "REASON")` in or above a declaration allows one. Exit code 1: there
    are errors or warnings that no comment allows.
    """
    from rich.console import Console

    from tablewright.cost import load_rates
    from tablewright.publish import advice

    if json and sarif:
        fail("--json and --sarif exclude each other; choose one")
    design = load_or_fail(name)
    with failing_on(TablewrightError):
        findings = advice.advise(design, load_rates(design, rates))
    if json or sarif:
        value = advice.sarif(findings, advice.RULES) if sarif else findings
        typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
    else:
        _print(Console(), findings)
        if not design.patterns:
            typer.echo(f"{design.name} declares no access patterns; most rules need them.")
    if any(finding.fails for finding in findings):
        raise typer.Exit(1)


def _print(console: Console, findings: list[Finding]) -> None:
    """Print each finding that no comment allows, and the number of all."""
    for finding in findings:
        if finding.allowed:
            continue
        where = f"{_relative(finding.place.file)}:{finding.place.line}"
        console.print(where, end=": ", markup=False, highlight=False, soft_wrap=True)
        console.print(finding.severity, style=STYLES[finding.severity], end=" ")
        console.print(finding.rule, markup=False, highlight=False, soft_wrap=True)
        reason = report.fill(console, f"  {finding.subject}: {finding.reason}", "  ")
        console.print(reason, markup=False, highlight=False, soft_wrap=True)
        # The code of a fix is not broken, so that it can be copied.
        console.print(f"  fix: {finding.fix}", markup=False, highlight=False, soft_wrap=True)
    counts = [
        (sum(each.severity == kind and not each.allowed for each in findings), kind)
        for kind in STYLES
    ]
    shown = [f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in counts if count]
    allowed = sum(bool(each.allowed) for each in findings)
    text = ", ".join(shown) or "nothing found"
    typer.echo(f"{text}; {allowed} allowed by comments" if allowed else text)


def _relative(file: str) -> str:
    """Return a path as it is seen from the working directory, if it is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
