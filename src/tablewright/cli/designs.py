"""Commands for designs: list them, verify them, write their documents.

A design is a bundled name, a module, or a path to a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import app, fail

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.verify import Design, Result

Name = Annotated[str, typer.Argument(help="A bundled design, a module, or a path to a file.")]

#: What a row of the report shows, in this order; `--json` has the same names.
COLUMNS = ("row", "pattern", "operation", "index", "condition", "returned", "read", "units", "ok")


@app.command()
def designs() -> None:
    """List the designs that come with the package."""
    from rich.console import Console
    from rich.table import Table

    from tablewright.designs.catalog import bundled

    table = Table("design", "what it is", "tables", "entities", "patterns")
    for design in bundled():
        entities = sum(len(table.__table__.entities) for table in design.tables)
        title = design.doc.partition("\n")[0].partition(": ")[2]
        counts = (len(design.tables), entities, len(design.patterns))
        table.add_row(design.name, title, *map(str, counts))
    Console().print(table)
    typer.echo("tablewright verify NAME runs its patterns, tablewright docs NAME writes it down")


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DESIGN]...",
            help="Bundled designs, modules, or paths to files. Without any: all bundled ones.",
        ),
    ] = None,
    target: Annotated[
        str, typer.Option(help="Where to run them: ':memory:', or a new file.")
    ] = ":memory:",
    json: Annotated[bool, typer.Option("--json", help="A list of objects, for programs.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="A line for each design.")] = False,
) -> None:
    """Run every pattern of a design's document, and compare each answer with a plain scan.

    Exit code 1: an answer differs, or a pattern scans.
    """
    import msgspec
    from rich.console import Console

    from tablewright.designs.catalog import bundled

    console = Console(stderr=True)
    chosen = [_loaded(name) for name in names] if names else bundled()
    found: list[Result] = []
    for design in chosen:
        if design.rows is None or design.sample is None:
            fail(
                f"{design.name} says nothing that could be verified: give it sample() and "
                "rows(stored), as docs/modelling.md shows"
            )
        results = _run(design, target, console)
        if brief:
            right = sum(result.ok for result in results)
            typer.echo(f"{design.name:10} {right} of {len(results)} rows agree with a scan")
        elif not json:
            _show(design, results)
        found += results
    if json:
        members = [
            {"design": r.design, **{name: getattr(r, name) for name in COLUMNS}} for r in found
        ]
        typer.echo(msgspec.json.format(msgspec.json.encode(members), indent=2))
    wrong = [result for result in found if not result.ok]
    for result in wrong:
        typer.echo(f"{result.design}: {result.row}: {result.problem}", err=True)
    if not json:
        told = f"{len(wrong)} of {len(found)} rows are wrong"
        typer.echo(told if wrong else f"{len(found)} rows agree with a scan, and none scans")
    if wrong:
        raise typer.Exit(1)


@app.command()
def docs(
    name: Name,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write; without it: shown.")
    ] = None,
) -> None:
    """Write the document of a design: diagrams, charts, patterns, indexes and sample items."""
    from tablewright.publish import document

    text = document(_loaded(name))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{output}: {error.strerror}")


def _loaded(name: str) -> Design:
    from tablewright.designs.catalog import load
    from tablewright.errors import TablewrightError

    try:
        return load(name)
    except TablewrightError as error:
        fail(str(error))


def _run(design: Design, target: str, console: Console) -> list[Result]:
    """The results of a design's rows, with a line that tells what is going on."""
    from tablewright import connect
    from tablewright.errors import TablewrightError
    from tablewright.verify import verify as verify_design

    results = []
    try:
        with (
            connect(target, *design.tables) as database,
            console.status(f"{design.name}: loading the sample") as status,
        ):
            for result in verify_design(design, database):
                results.append(result)
                status.update(f"{design.name}: {len(results)} rows")
    except TablewrightError as error:
        fail(f"{design.name} on {target}: {error}")
    return results


def _show(design: Design, results: list[Result]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*COLUMNS, title=design.doc.partition("\n")[0] or design.name)
    for result in results:
        cells = [str(getattr(result, name)) for name in COLUMNS[:-2]]
        table.add_row(*cells, f"{result.units:g}", "[green]ok[/]" if result.ok else "[red]no[/]")
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a key condition cut in pieces helps nobody
    console.print(table)
    if design.compare is not None:
        console.print(design.compare.as_table(design.compare.compare(results)))
