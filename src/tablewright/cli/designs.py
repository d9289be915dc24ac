"""Commands for designs: list them, verify them, write their documents.

A command accepts a bundled design, a module name or the path of a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import DESIGNS, app, fail

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.verify import Design, Result

Name = Annotated[
    str,
    typer.Argument(
        metavar="DESIGN", help="A bundled design, a module name or the path of a Python file."
    ),
]

#: The columns of the report, in this order; `--json` uses the same names.
COLUMNS = ("check", "pattern", "operation", "index", "condition", "returned", "read", "units", "ok")


@app.command(rich_help_panel=DESIGNS)
def designs() -> None:
    """List the bundled designs: complete single-table designs to read and copy."""
    from rich.console import Console
    from rich.table import Table

    from tablewright.designs.catalog import bundled

    table = Table("design", "description", "tables", "entities", "patterns")
    for design in bundled():
        entities = sum(len(table.__table__.entities) for table in design.tables)
        title = design.doc.partition("\n")[0].partition(": ")[2]
        counts = (len(design.tables), entities, len(design.patterns))
        table.add_row(design.name, title, *map(str, counts))
    Console().print(table)
    typer.echo("Next: tablewright verify NAME runs its checks, tablewright docs NAME documents it.")


@app.command(rich_help_panel=DESIGNS)
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DESIGN",
            help="Bundled designs, module names or paths of Python files. Default: all bundled "
            "designs.",
        ),
    ] = None,
    target: Annotated[
        str, typer.Option(help="The database to use: ':memory:' or a new file.")
    ] = ":memory:",
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print one line for each design.")] = False,
) -> None:
    """Run the access patterns of a design and compare each result with a scan.

    A design is a Python module with tables, entities and access patterns. Its functions `sample`
    and `checks` provide the data and the expected results. Exit code 1: a result differs, or a
    pattern scans the table.
    """
    import msgspec
    from rich.console import Console

    from tablewright.designs.catalog import bundled

    console = Console(stderr=True)
    selected = [_load_or_fail(name) for name in names] if names else bundled()
    found: list[Result] = []
    for design in selected:
        if design.checks is None or design.sample is None:
            fail(
                f"{design.name} has no sample data or no checks: define the functions sample() and "
                "checks(stored), see docs/modelling.md, Verifying a design"
            )
        results = _run(design, target, console)
        if brief:
            count = sum(result.ok for result in results)
            typer.echo(f"{design.name:10} {count} of {len(results)} checks passed")
        elif not json:
            _print_results(design, results)
        found += results
    if json:
        members = [
            {"design": r.design, **{name: getattr(r, name) for name in COLUMNS}} for r in found
        ]
        typer.echo(msgspec.json.format(msgspec.json.encode(members), indent=2))
    failed = [result for result in found if not result.ok]
    for result in failed:
        typer.echo(f"{result.design}: {result.check}: {result.problem}", err=True)
    if not json:
        passed = f"{len(found)} checks passed; no pattern scans a table"
        typer.echo(f"{len(failed)} of {len(found)} checks failed" if failed else passed)
    if failed:
        raise typer.Exit(1)


@app.command(rich_help_panel=DESIGNS)
def docs(
    name: Name,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The file to write. Default: standard output."),
    ] = None,
) -> None:
    """Write the document of a design: diagrams, keys, patterns, sample items."""
    from tablewright.publish import document

    text = document(_load_or_fail(name))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{output}: {error.strerror}")


def _load_or_fail(name: str) -> Design:
    from tablewright.designs.catalog import load
    from tablewright.errors import TablewrightError

    try:
        return load(name)
    except TablewrightError as error:
        fail(str(error))


def _run(design: Design, target: str, console: Console) -> list[Result]:
    """Run the checks of a design and show the progress."""
    from tablewright import connect
    from tablewright.errors import TablewrightError
    from tablewright.verify import verify as verify_design

    results = []
    try:
        with (
            connect(target, *design.tables) as database,
            console.status(f"{design.name}: loading the sample data") as status,
        ):
            for result in verify_design(design, database):
                results.append(result)
                status.update(f"{design.name}: {len(results)} checks")
    except TablewrightError as error:
        fail(f"{design.name} on {target}: {error}")
    return results


def _print_results(design: Design, results: list[Result]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*COLUMNS, title=design.doc.partition("\n")[0] or design.name)
    for result in results:
        cells = [str(getattr(result, name)) for name in COLUMNS[:-2]]
        table.add_row(
            *cells, f"{result.units:g}", "[green]ok[/]" if result.ok else "[red]failed[/]"
        )
    console = Console()
    if not console.is_terminal:
        console.width = 200  # keeps a key condition on one line
    console.print(table)
    if design.compare is not None:
        console.print(design.compare.as_table(design.compare.compare(results)))
