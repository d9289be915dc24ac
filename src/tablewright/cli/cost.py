"""The command that tells what the access patterns of a design consume and cost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tablewright.cli import report
from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.designs import Name, load_or_fail
from tablewright.cli.failures import fail
from tablewright.cli.options import flag, option
from tablewright.cli.revision import run_at
from tablewright.cli.transfer import WHERE, exit_on_error

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.cost import CostComparison, CostReport


@add_command(DESIGNS)
def cost(
    name: Name,
    rates: Path | None = option(
        "A TOML file: `pattern = calls per second`, and `[items]` with the number of items of each "
        "entity.",
        metavar="FILE",
    ),
    prices: Path | None = option(
        "A TOML file with other prices. Default: us-east-1.", metavar="FILE"
    ),
    sample: str | None = option(
        f"Measure the sizes of stored items: {WHERE}. Default: the sample data of the design.",
        metavar="TARGET",
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
    import msgspec

    from tablewright import cost as costs
    from tablewright.errors import TablewrightError
    from tablewright.publish.costs import comparison_markdown
    from tablewright.publish.costs import markdown as report_markdown

    if json and markdown:
        fail("--json and --markdown exclude each other; choose one")
    design = load_or_fail(name)
    tables = [table.__table__ for table in design.tables]
    try:
        with exit_on_error():
            sizes = None if sample is None else costs.measure_target(tables, sample)
        found = costs.cost(
            design,
            rates=costs.load_rates(design, rates),
            prices=costs.load_prices(prices),
            sizes=sizes,
        )
    except TablewrightError as error:
        fail(str(error))
    compared = None
    if diff is not None:
        compared = costs.compare(_report_at(diff, name, sample), found, diff)
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(compared or found), indent=2))
    elif markdown and compared is not None:
        typer.echo(comparison_markdown(compared), nl=False)
    elif markdown:
        typer.echo(report_markdown(found), nl=False)
    elif compared is not None:
        _print_comparison(compared)
    else:
        _print(found, details=details)


def _report_at(revision: str, name: str, sample: str | None) -> CostReport:
    """Return the report of the design at a git revision, with the same sizes of items."""
    import msgspec

    from tablewright.cost import CostReport
    from tablewright.transfer.endpoints import is_file_target

    arguments = ["cost", name, "--json"]
    if sample is not None:
        where = str(Path(sample).resolve()) if is_file_target(sample) else sample
        arguments += ["--sample", where]
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
