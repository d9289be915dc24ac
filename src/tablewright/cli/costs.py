"""The command `cost`: the capacity units and the prices of access patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import add_command, print_document
from tablewright.cli.grammar import WHERE, DesignName, argument, flag, load_design, option
from tablewright.cli.report import exit_on_error, fail
from tablewright.cli.revision import name_inside, run_at
from tablewright.errors import TablewrightError
from tablewright.presentation.printing import print_noted_table

if TYPE_CHECKING:
    from tablewright.cost import CostReport


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
    from tablewright.publish import cost_text

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
        typer.echo(cost_text.comparison_markdown(compared), nl=False)
    elif markdown:
        typer.echo(cost_text.markdown(found), nl=False)
    elif compared is not None:
        rows, notes = cost_text.comparison_rows(compared), cost_text.comparison_notes(compared)
        print_noted_table(rows, 4, notes)
    else:
        parts = map(cost_text.part_texts, found.patterns if details else ())
        print_noted_table(cost_text.rows(found), 5, cost_text.notes(found), parts)


def _report_at(revision: str, design: str, target: str | None) -> CostReport:
    """Return the report of the design at a git revision, with the same sizes of items."""
    import msgspec

    from tablewright.cost import CostReport
    from tablewright.transfer.endpoints import absolute_target

    arguments = ["cost", name_inside(revision, design), "--json"]
    if target is not None:
        arguments.insert(2, absolute_target(target))
    return msgspec.json.decode(run_at(revision, *arguments), type=CostReport)
