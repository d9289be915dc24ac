"""Commands for designs: list them, verify them, load their sample data, write their documents.

A command accepts a bundled design, a module name or the path of a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tablewright.cli import report
from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.failures import clean_interrupts, fail, failing_on
from tablewright.cli.options import argument, flag, option
from tablewright.cli.transfer import WHERE, Target, exit_on_error
from tablewright.errors import DesignLoadError, TablewrightError
from tablewright.whole_file import replace_whole

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright import Table
    from tablewright.verify import Design, Result, StoredReport

Name = Annotated[
    str,
    typer.Argument(
        metavar="DESIGN", help="A bundled design, a module name or the path of a Python file."
    ),
]

Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="The file to write. Default: standard output."),
]

#: The members of a result with `--json`, in this order.
MEMBERS = (
    *("design", "check", "pattern", "operation", "index", "condition"),
    *("returned", "read", "units", "scan", "ok", "problem"),
)


@add_command(DESIGNS)
def designs() -> None:
    """List the bundled designs: complete single-table designs to read and copy."""
    from tablewright.designs.catalog import bundled

    rows = []
    for design in bundled():
        entities = sum(len(table.__table__.entities) for table in design.tables)
        title = design.doc.partition("\n")[0].partition(": ")[2]
        counts = (len(design.tables), entities, len(design.patterns))
        rows.append((design.name, title, *map(str, counts)))
    report.print_grid(("design", "description", "tables", "entities", "patterns"), rows)
    typer.echo("Next: tablewright verify NAME runs its checks, tablewright docs NAME documents it.")


@add_command(DESIGNS)
def verify(
    names: list[str] | None = argument(
        "DESIGN",
        "Bundled designs, module names or paths of Python files. Default: all bundled designs.",
        default=None,
    ),
    target: str = option(
        "Where to run the checks, in tables of their own that are removed afterwards: "
        f"':memory:', {WHERE}.",
        default=":memory:",
    ),
    stored: str | None = option(
        f"Compare the design with the items that are stored at {WHERE}.", metavar="TARGET"
    ),
    table: str | None = option(
        "With --stored: the name of the table, if it differs from the design."
    ),
    details: bool = flag("Print pattern, request and cost of each check."),
    json: bool = flag("Print the results as JSON."),
    brief: bool = flag("Print one line for each design."),
) -> None:
    """Run the access patterns of a design and compare each result with a scan.

    A design is a Python module with tables, entities and access patterns. Its functions `sample`
    and `checks` provide the data and the expected results. Exit code 1: a result differs, or a
    pattern scans the table without declaring it.

    With --stored, nothing is written: each item of an existing table must belong to an entity of
    the design, and its keys must be the ones that its values give. Exit code 1: an item differs.
    """
    from rich.console import Console

    from tablewright.designs.catalog import bundled
    from tablewright.verify import uncovered

    if stored is not None:
        if not names or len(names) > 1:
            fail("--stored compares one design with a table; name the design")
        if target != ":memory:":
            fail("--target is where checks run, --stored compares items; leave one of them out")
        _verify_stored(load_or_fail(names[0]), stored, table, json=json)
        return
    if table is not None:
        fail("--table is for --stored TARGET, where the table is")
    progress, console = Console(stderr=True), Console()
    selected = [load_or_fail(name) for name in names] if names else bundled()
    found: list[Result] = []
    for design in selected:
        declared = {"sample()": design.sample, "checks(stored)": design.checks}
        missing = [name for name, function in declared.items() if function is None]
        if missing:
            fail(
                f"{design.name} has no {' and no '.join(missing)}; `tablewright help design` shows "
                "these functions"
            )
        results = _run(design, target, progress)
        if brief and not json:
            count = sum(result.ok for result in results)
            typer.echo(f"{design.name:10} {count} of {len(results)} checks passed")
            report.print_failures(console, results)
        elif not json:
            report.print_results(console, design, results, details=details)
            if design.compare is not None:
                console.print(design.compare.as_table(design.compare.compare(results)))
        without = [pattern.name for pattern in uncovered(design, results)]
        if without:
            patterns = "pattern" if len(without) == 1 else "patterns"
            message = f"{design.name}: {len(without)} {patterns} that no check runs: "
            typer.echo(report.fill(console, message + ", ".join(without)), err=json)
        found += results
    if json:
        members = [{name: getattr(r, name) for name in MEMBERS} for r in found]
        typer.echo(msgspec.json.format(msgspec.json.encode(members), indent=2))
    else:
        typer.echo(_summary(found))
    if not all(result.ok for result in found):
        raise typer.Exit(1)


def _summary(results: list[Result]) -> str:
    failed = sum(not result.ok for result in results)
    if failed:
        return f"{failed} of {len(results)} checks failed"
    scans = dict.fromkeys(result.pattern or result.check for result in results if result.scan)
    scanned = f"declared scans: {', '.join(scans)}" if scans else "no pattern scans a table"
    checks = "1 check" if len(results) == 1 else f"{len(results)} checks"
    return f"{checks} passed; {scanned}"


@add_command(DESIGNS)
def seed(name: Name, target: Target) -> None:
    """Create the tables of a design and load its sample data.

    Prints the number of items of each entity. A table that exists must be empty and as declared;
    otherwise nothing is loaded. If it fails or is interrupted, it removes the tables that it has
    created and the items that it has loaded.
    """
    from tablewright.transfer.endpoints import refuse_memory
    from tablewright.verify import seed as seed_design

    design = load_or_fail(name)
    if design.sample is None:
        fail(
            f"{design.name} has no sample data: define the function sample(); "
            "`tablewright help design` shows it"
        )
    with exit_on_error(), clean_interrupts("what was created and loaded has been removed"):
        refuse_memory(target)
        loaded = seed_design(design, target)
    for table, entities in loaded.items():
        counts = ", ".join(
            f"{count} {entity or 'for unique values'}" for entity, count in sorted(entities.items())
        )
        total = entities.total()
        items = "1 item" if total == 1 else f"{total} items"
        typer.echo(f"{table}: {items}{f' ({counts})' if counts else ''}")


@add_command(DESIGNS)
def docs(
    name: Name,
    output: Output = None,
    html: bool = flag(
        "Write one HTML page with the diagrams drawn, which needs no other file. Default: "
        "Markdown, with diagrams for Mermaid."
    ),
) -> None:
    """Write the document of a design: diagrams, keys, patterns, sample items."""
    from tablewright.publish import document, html_document

    design = load_or_fail(name)
    with failing_on(TablewrightError):
        text = html_document(design) if html else document(design)
    write(text, output)


def write(text: str, output: Path | None) -> None:
    """Write a text to a file, or to standard output."""
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        replace_whole(output, text.encode())
    except OSError as error:
        fail(f"{output}: {error.strerror}")


def tables_named(design: Design, name: str | None) -> list[type[Table]]:
    """Return the tables of a design, or the one with this name.

    The only table of a design may have any name at a target.
    """
    if name is None or len(design.tables) == 1:
        return list(design.tables)
    found = [table for table in design.tables if table.__table__.name == name]
    if not found:
        fail(f"{design.name} has several tables, and none has the name {name!r}")
    return found


def load_or_fail(name: str) -> Design:
    """Load a design; if that fails, print why and exit with code 2."""
    from tablewright.designs.catalog import load

    with failing_on(TablewrightError):
        return load(name)


def _run(design: Design, target: str, console: Console) -> list[Result]:
    """Run the checks of a design and show the progress."""
    from tablewright.verify import verify as verify_design
    from tablewright.verify.seeding import temporary_tables

    results = []
    try:
        with (
            clean_interrupts("the tables of this run have been removed"),
            temporary_tables(target, *design.tables) as database,
            console.status(f"{design.name}: loading the sample data") as status,
        ):
            for result in verify_design(design, database):
                results.append(result)
                status.update(f"{design.name}: {len(results)} checks")
    except DesignLoadError as error:
        fail(str(error))
    except TablewrightError as error:
        fail(f"{design.name} on {target}: {error}")
    return results


def _verify_stored(design: Design, target: str, name: str | None, *, json: bool) -> None:
    """Compare the tables of a design with their stored items and print the differences."""
    from tablewright import transfer
    from tablewright.cli.key_arguments import require_key
    from tablewright.cli.sessions import TableSession
    from tablewright.transfer.endpoints import select_tables
    from tablewright.transfer.rows import scan_pages
    from tablewright.verify import compare_stored

    tables = [table.__table__ for table in tables_named(design, name)]
    reports = []
    with exit_on_error(), transfer.open_source(target) as source:
        for table in tables:
            (found,) = select_tables(source, target, name or table.name)
            require_key(TableSession(source).describe(found), table)
            pages = scan_pages(source, found, 0, 1)
            reports.append(compare_stored(table, (item for page in pages for item in page)))
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(reports), indent=2))
    else:
        for report in reports:
            _print_report(report)
    if not all(reports):
        raise typer.Exit(1)


def _print_report(report: StoredReport) -> None:
    for difference in report.differences:
        typer.echo(difference)
    if len(report.differences) < report.different:
        typer.echo(f"… and {report.different - len(report.differences)} more")
    found = [f"{count} {name}" for name, count in sorted(report.entities.items()) if name]
    if report.sentinels:
        found.append(f"{report.sentinels} of unique values")
    counts = ", ".join(found)
    result = (
        f"{report.different} of {report.items} items differ from the design"
        if report.different
        else f"all {report.items} items have the keys that their values give"
    )
    typer.echo(f"{report.table}: {result}{f' ({counts})' if counts else ''}")
