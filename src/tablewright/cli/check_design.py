"""Commands that check a design: its patterns, the items that are stored, and what could be better.

verify       runs the access patterns on sample data and compares each result with a scan
check-items  compares the stored items of a table with the design; nothing is written
advise       applies the rules of `tablewright help advice`
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tablewright.cli import report
from tablewright.cli.commands import add_command, print_document
from tablewright.cli.grammar import (
    MEMORY,
    WHERE,
    DesignName,
    Target,
    argument,
    flag,
    load_design,
    option,
    split_subject,
    tables_named,
)
from tablewright.cli.report import clean_interrupts, exit_on_error, fail, failing_on
from tablewright.errors import DesignLoadError, TablewrightError
from tablewright.presentation.printing import (
    fill,
    make_console,
    print_fields,
    print_line,
    print_text,
    table_lines,
)
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tablewright.publish.advice import Finding
    from tablewright.verify import Design, Result, StoredReport

#: The members of a result with `--json`, in this order.
MEMBERS = (
    *("design", "check", "pattern", "operation", "index", "condition"),
    *("returned", "read", "units", "scan", "ok", "problem"),
)
#: The columns of the list of checks, after the result of each.
HEADER = ("check", "request", "items", "units")
MARKS = {"ok": "green", "FAIL": "bold red"}
STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@add_command()
def verify(
    design: str | None = argument(
        "DESIGN",
        "A bundled design, a module name or the path of a Python file. Default: all bundled "
        "designs.",
        default=None,
    ),
    target: str | None = argument(
        "TARGET",
        "Where to run the checks, in tables of their own that are removed afterwards: "
        f"{WHERE}. Default: in memory.",
        default=None,
    ),
    details: bool = flag("Print pattern, request and cost of each check."),
    json: bool = flag("Print the results as JSON."),
    brief: bool = flag("Print one line for each design."),
) -> None:
    """Run the access patterns of a design and compare each result with a scan.

    A design is a Python module with tables, entities and access patterns. Its functions `sample`
    and `checks` provide the data and the expected results. Stored items are not read:
    `tablewright check-items` compares them with a design. Exit code 1: a result differs, or a
    pattern scans the table without declaring it.
    """
    from rich.console import Console

    from tablewright.designs.catalog import bundled

    name, where = split_subject("verify", design, target)
    progress, console = Console(stderr=True), Console()
    found: list[Result] = []
    for each in bundled() if name is None else [load_design(name)]:
        results = _run_checks(each, where or MEMORY, progress)
        if brief and not json:
            count = sum(result.ok for result in results)
            typer.echo(f"{each.name:10} {count} of {len(results)} checks passed")
            _print_failures(console, results)
        elif not json:
            _print_results(console, each, results, details=details)
            if each.compare is not None:
                console.print(each.compare.as_table(each.compare.compare(results)))
        _name_uncovered(each, results, console, to_stderr=json)
        found += results
    if json:
        print_document([{name: getattr(each, name) for name in MEMBERS} for each in found])
    else:
        typer.echo(_summary(found))
    if not all(result.ok for result in found):
        raise typer.Exit(1)


def _run_checks(design: Design, target: str, console: Console) -> list[Result]:
    """Run the checks of a design and show the progress."""
    from tablewright.verify import verify as verify_design
    from tablewright.verify.seeding import temporary_tables

    declared = {"sample()": design.sample, "checks(stored)": design.checks}
    missing = [name for name, function in declared.items() if function is None]
    if missing:
        fail(
            f"{design.name} has no {' and no '.join(missing)}; `tablewright help design` shows "
            "these functions"
        )
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


def _name_uncovered(
    design: Design, results: list[Result], console: Console, *, to_stderr: bool
) -> None:
    """Name the patterns that no check runs."""
    from tablewright.verify import uncovered

    names = [pattern.name for pattern in uncovered(design, results)]
    if names:
        patterns = plural(len(names), "pattern")
        message = f"{design.name}: {patterns} that no check runs: {', '.join(names)}"
        typer.echo(fill(console, message), err=to_stderr)


def _summary(results: list[Result]) -> str:
    failed = sum(not result.ok for result in results)
    if failed:
        return f"{failed} of {len(results)} checks failed"
    scans = dict.fromkeys(result.pattern or result.check for result in results if result.scan)
    scanned = f"declared scans: {', '.join(scans)}" if scans else "no pattern scans a table"
    return f"{plural(len(results), 'check')} passed; {scanned}"


def _print_results(
    console: Console, design: Design, results: Sequence[Result], *, details: bool
) -> None:
    """Print one line for each check; with `details`, also its pattern, request and cost."""
    print_text(console, design.doc.partition("\n")[0] or design.name, style="bold")
    marks = ["", *("ok" if result.ok else "FAIL" for result in results)]
    lines = table_lines(console.width - len("FAIL  "), [HEADER, *map(_cells, results)])
    for mark, line, result in zip(marks, lines, [None, *results], strict=True):
        _print_marked(console, mark, line)
        if details and result is not None:
            _print_details(console, result)
    _print_failures(console, results)


def _print_failures(console: Console, results: Sequence[Result]) -> None:
    """Print what is wrong with each check that failed."""
    for result in results:
        if not result.ok:
            console.print()
            print_line(console, f"{result.design}: {result.check}", MARKS["FAIL"])
            for line in result.problem.splitlines():
                mark = line.strip()[:1]
                style = {"-": "red", "+": "green"}.get(mark)
                is_text = not line.startswith(" ")  # and not a value, or a line of code
                shown = fill(console, f"  {line}", "  ") if is_text else f"  {line}"
                console.print(shown, style=style, soft_wrap=True, markup=False)


def _cells(result: Result) -> tuple[str, str, str, str]:
    items = str(result.returned)
    if result.read > result.returned and not result.write_units:
        items = f"{result.returned} of {result.read}"
    name = " ".join(result.check.split())
    return name, result.operation, items, f"{result.units:g}"


def _print_marked(console: Console, mark: str, line: str) -> None:
    from rich.text import Text

    text = Text.assemble((f"{mark:4}", MARKS.get(mark, "")), f"  {line}")
    console.print(text, soft_wrap=True)


def _print_details(console: Console, result: Result) -> None:
    where = f"{result.operation} on {result.index}" if result.index else result.operation
    units = ((result.read_units, "read"), (result.write_units, "write"))
    cost = ", ".join(f"{amount:g} {kind} units" for amount, kind in units if amount) or "0 units"
    requests = plural(result.requests, "request")
    fields = [
        ("request", f"{where}: {result.condition}".rstrip(": ")),
        ("cost", f"{requests}, {cost}"),
    ]
    if result.pattern:
        fields.insert(0, ("pattern", result.pattern))
    if result.scan:
        fields.append(("scan", f"declared: {result.scan}"))
    print_fields(console, fields, " " * 6)


@add_command()
def check_items(
    design: DesignName,
    target: Target,
    table: str | None = option("The name of the table, if it differs from the design."),
    json: bool = flag("Print the results as JSON."),
) -> None:
    """Compare the stored items of a table with a design. Nothing is written.

    Each item must belong to an entity of the design, and its keys must be the ones that its values
    give. Exit code 1: an item differs.
    """
    from tablewright import transfer
    from tablewright.cli.conditions import require_key
    from tablewright.cli.sessions import TableSession
    from tablewright.transfer.endpoints import select_tables
    from tablewright.transfer.rows import scan_pages
    from tablewright.verify import compare_stored

    declared = [each.__table__ for each in tables_named(load_design(design), table)]
    reports = []
    with exit_on_error(), transfer.open_source(target) as source:
        for each in declared:
            (found,) = select_tables(source, target, table or each.name)
            require_key(TableSession(source).describe(found), each)
            pages = scan_pages(source, found, 0, 1)
            reports.append(compare_stored(each, (item for page in pages for item in page)))
    if json:
        print_document(reports)
    else:
        for compared in reports:
            _print_report(compared)
    if not all(reports):
        raise typer.Exit(1)


def _print_report(found: StoredReport) -> None:
    for difference in found.differences:
        typer.echo(difference)
    if len(found.differences) < found.different:
        typer.echo(f"… and {found.different - len(found.differences)} more")
    parts = [f"{count} {name}" for name, count in sorted(found.entities.items()) if name]
    if found.sentinels:
        parts.append(f"{found.sentinels} of unique values")
    counts = ", ".join(parts)
    result = (
        f"{found.different} of {found.items} items differ from the design"
        if found.different
        else f"all {found.items} items have the keys that their values give"
    )
    typer.echo(f"{found.table}: {result}{f' ({counts})' if counts else ''}")


@add_command()
def advise(
    design: DesignName,
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
    from tablewright.cost import load_rates
    from tablewright.publish import advice

    if json and sarif:
        fail("--json and --sarif exclude each other; choose one")
    loaded = load_design(design)
    with failing_on(TablewrightError):
        findings = advice.advise(loaded, load_rates(loaded, rates))
    if json or sarif:
        print_document(advice.sarif(findings, advice.RULES) if sarif else findings)
    else:
        _print_findings(make_console(), findings)
        if not loaded.patterns:
            typer.echo(f"{loaded.name} declares no access patterns; most rules need them.")
    if any(finding.fails for finding in findings):
        raise typer.Exit(1)


def _print_findings(console: Console, findings: list[Finding]) -> None:
    """Print each finding that no comment allows, and the number of all."""
    for finding in findings:
        if finding.allowed:
            continue
        where = f"{report.relative(finding.place.file)}:{finding.place.line}"
        print_line(console, where, end=": ")
        console.print(finding.severity, style=STYLES[finding.severity], end=" ")
        print_line(console, finding.rule)
        print_text(console, f"  {finding.subject}: {finding.reason}", "  ")
        # The code of a fix is not broken, so that it can be copied.
        print_line(console, f"  fix: {finding.fix}")
    counts = [
        (sum(each.severity == kind and not each.allowed for each in findings), kind)
        for kind in STYLES
    ]
    shown = [plural(count, kind) for count, kind in counts if count]
    allowed = sum(bool(each.allowed) for each in findings)
    text = ", ".join(shown) or "nothing found"
    typer.echo(f"{text}; {allowed} allowed by comments" if allowed else text)
