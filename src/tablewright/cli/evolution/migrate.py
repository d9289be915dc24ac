"""Commands that carry a table and its items from one version of a design to the next, and back.

migrate plan       the changes, and the steps that carry them out; nothing is written
migrate apply      carries them out; run again, it continues
migrate status     which version a table is prepared for, and how far a migration is
migrate rollback   goes back to the version before
migrate complete   ends the version before, and removes what only that version needs
migrate baseline   records what the items of a table without a record are prepared for
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from tablewright.cli.commands import add_command, add_group, print_document
from tablewright.cli.evolution import relocation
from tablewright.cli.evolution.diff import print_changes
from tablewright.cli.evolution.migration_documents import plan_document, status_document
from tablewright.cli.evolution.relocation import NEW_NAME, PAUSE, Destination
from tablewright.cli.grammar import DesignName, Target, Yes, flag, load_design, option, tables_named
from tablewright.cli.items.writes import confirm
from tablewright.cli.report import clean_interrupts, describe_failure, exit_on_error, fail, say
from tablewright.cli.transfer import dump, progress_bars
from tablewright.errors import AccessDeniedException, DuplicateValues, MigrationRefused
from tablewright.presentation.printing import (
    make_console,
    print_fields,
    print_text,
    print_title,
)
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright import Table
    from tablewright.migrations import (
        ExecutorOptions,
        MigrationPlan,
        MigrationProgress,
        MigrationReport,
        MigrationStatus,
    )
    from tablewright.verify import StoredReport

T = TypeVar("T")

migrate = add_group(
    "migrate", "Carry a table and its items from one version of a design to the next, and back."
)

TABLE = option("The name of the table, if it differs from the design or is one of several.")
RATE = option(
    "The maximum number of write units per second, such as 500, or a share of the write capacity "
    "of the table, such as 25%. Default: no limit.",
    metavar="UNITS|SHARE%",
)

#: What follows `migrate apply`.
NEXT = (
    "deploy the new version, unless it is already running. Then `migrate complete` ends the old "
    "version and removes what only the old version needs, or `migrate rollback` goes back"
)
BY_TEMPLATE = flag(
    "Wait until a template has changed the indexes, TTL and stream, instead of changing them.",
    "--template",
)
NO_WAIT = flag(
    "Do not wait until connected programs notice. Use it only if no program is connected."
)


@add_command(to=migrate)
def plan(
    design: DesignName,
    target: Target,
    destination: Destination = None,
    table: str | None = TABLE,
    new_name: str | None = NEW_NAME,
    json: bool = flag("Print the changes and steps as JSON."),
) -> None:
    """Show the changes and the steps that prepare a table and its items for this design.

    With DESTINATION: what moves the table to another place while programs run, and its price.

    Compares the design with the version that the table records, lists the steps that `migrate
    apply` takes, and says when programs of the old and the new version can run. Nothing is
    written. Exit code 1: there is something to do.
    """
    if destination or new_name:
        move = relocation.opened(design, target, destination, table, new_name)
        relocation.plan(move, json=json)
        return
    from tablewright import migrations

    found = _read(migrations.plan, design, target, table)
    if json:
        print_document([plan_document(each) for each in found])
    else:
        for each in found:
            _print_plan(make_console(), each)
    if any(each.changes for each in found):
        raise typer.Exit(1)


@add_command("apply", to=migrate)
def apply_changes(
    design: DesignName,
    target: Target,
    destination: Destination = None,
    table: str | None = TABLE,
    new_name: str | None = NEW_NAME,
    rate: str | None = RATE,
    pause: float | None = PAUSE,
    by_template: bool = BY_TEMPLATE,
    no_wait: bool = NO_WAIT,
    yes: Yes = False,
) -> None:
    """Prepare a table and its items for this design; with DESTINATION, move it to another place.

    Shows the steps and asks before it begins. To continue an interrupted run, run the same command
    again. What the old version reads stays until `migrate complete`; `migrate rollback` goes back.
    The steps say when programs of the old and the new version can run meanwhile.

    With --template, deploy the template before or meanwhile: the command waits until its indexes
    are ACTIVE.
    """
    if destination or new_name:
        move = relocation.opened(design, target, destination, table, new_name)
        relocation.apply(move, rate, pause, by_template=by_template, no_wait=no_wait, yes=yes)
        return
    from tablewright import migrations

    for chosen in _tables(design, table):
        with _refusals():
            units = _write_units(target, chosen, table, rate)
            (found,) = migrations.plan(target, chosen, table_name=table)
        _print_plan(make_console(), found, units, by_template=by_template)
        if found.steps:
            if not yes:
                confirm(f"this changes the table {found.table} at {target}")
            options = _executor_options(found, rate, by_template=by_template, no_wait=no_wait)
            _run(migrations.apply, target, chosen, table, options)
            typer.echo(f"{found.table}: {NEXT}")


@add_command(to=migrate)
def rollback(
    design: DesignName,
    target: Target,
    destination: Destination = None,
    table: str | None = TABLE,
    new_name: str | None = NEW_NAME,
    rate: str | None = RATE,
    pause: float | None = PAUSE,
    by_template: bool = BY_TEMPLATE,
    no_wait: bool = NO_WAIT,
    yes: Yes = False,
) -> None:
    """Go back to the version before the last migration, or from DESTINATION to TARGET.

    DESIGN is that version, for example shop.py@v1. The command ends programs of the new
    version, prepares all items for the old one again, and removes what the new one has added.
    Unless both versions can run together, programs of the old version can connect after the last
    step. A rollback is possible until `migrate complete`.
    """
    if destination or new_name:
        move = relocation.opened(design, target, destination, table, new_name)
        relocation.rollback(move, rate, pause, by_template=by_template, no_wait=no_wait, yes=yes)
        return
    from tablewright import migrations
    from tablewright.publish import migration_text

    for chosen in _tables(design, table):
        name = table or chosen.__table__.name
        with _refusals():
            _write_units(target, chosen, table, rate)
            (found,) = migrations.plan(target, chosen, table_name=table, command="rollback")
        if not found.steps:
            typer.echo(f"{name}: {migration_text.ROLLED_BACK}")
            continue
        _print_removal(found)
        typer.echo(f"{name}: {migration_text.ROLLBACK}")
        if not yes:
            confirm(f"this undoes the migration of the table {name} at {target}")
        options = _executor_options(found, rate, by_template=by_template, no_wait=no_wait)
        _run(migrations.rollback, target, chosen, table, options)


@add_command(to=migrate)
def complete(
    design: DesignName,
    target: Target,
    destination: Destination = None,
    table: str | None = TABLE,
    new_name: str | None = NEW_NAME,
    delete_removed: Path | None = option(
        "Delete the items of entities that the design no longer has, after a dump of the table to "
        "this folder.",
        metavar="FOLDER",
    ),
    rate: str | None = RATE,
    by_template: bool = BY_TEMPLATE,
    no_wait: bool = NO_WAIT,
    yes: Yes = False,
) -> None:
    """End the old version; remove attributes, sentinels and indexes that only it needs.

    With DESTINATION: end a move; it can then not be undone.

    Programs of the old version that still run raise DesignMismatch. This cannot be undone.
    """
    if destination or new_name:
        move = relocation.opened(design, target, destination, table, new_name)
        relocation.complete(move, delete_removed, yes=yes)
        return
    from tablewright import migrations
    from tablewright.publish import migration_text

    for chosen in _tables(design, table):
        name = table or chosen.__table__.name
        with _refusals():
            _write_units(target, chosen, table, rate)
            (found,) = migrations.plan(target, chosen, table_name=table, command="complete")
        if not found.steps:
            typer.echo(f"{name}: {migration_text.COMPLETED}")
            continue
        _print_removal(found)
        deletes = delete_removed is not None
        lost = ", deletes the items of removed entities" if deletes else ""
        if not yes:
            confirm(
                f"this ends the old version, removes what only the old version needs from the "
                f"table {name} at {target}{lost}, and cannot be undone"
            )
        options = _executor_options(found, rate, by_template=by_template, no_wait=no_wait)
        if deletes:
            dump(target, f"{delete_removed}/", table=name)
        _run(migrations.complete, target, chosen, table, options, delete_removed=deletes)


@add_command(to=migrate)
def status(
    design: DesignName,
    target: Target,
    destination: Destination = None,
    table: str | None = TABLE,
    new_name: str | None = NEW_NAME,
    json: bool = flag("Print the status as JSON."),
) -> None:
    """Show which version a table is prepared for, and how far a migration, or a move, is."""
    if destination or new_name:
        move = relocation.opened(design, target, destination, table, new_name)
        relocation.status(move, json=json)
        return
    from tablewright import migrations

    found = _read(migrations.status, design, target, table)
    if json:
        print_document([status_document(each) for each in found])
        return
    for each in found:
        _print_status(make_console(), each)


@add_command(to=migrate)
def baseline(
    design: DesignName,
    target: Target,
    table: str | None = TABLE,
    unchecked: bool = flag("Do not read the items; you are sure that they match the design."),
) -> None:
    """Record which version of a design the items of a table are prepared for.

    DESIGN is the version that the running programs have. All items are compared with it first.
    From then on, programs of versions that the items are not prepared for cannot connect. Restart
    the programs: those that are connected notice migrations only after they connect again.
    """
    from tablewright import migrations

    for chosen in _tables(design, table):
        name = table or chosen.__table__.name
        with _refusals():
            if not unchecked:
                report = _compare(target, chosen, name)
                if report.different:
                    listed = f"tablewright check-items {design} {target}"
                    raise MigrationRefused(
                        f"{report.different} of {report.items} items of the table {name!r} do not "
                        f"match the design: `{listed}` lists them; nothing was recorded"
                    )
            migrations.baseline(target, chosen, table_name=table)
        say(
            f"{name}: recorded that its items are prepared for {design}; restart the programs, so "
            "that they notice migrations"
        )


def _compare(target: str, table: type[Table], name: str) -> StoredReport:
    """Compare the stored items of a table with its design."""
    from tablewright.transfer.endpoints import open_source, select_tables
    from tablewright.transfer.rows import scan_pages
    from tablewright.verify import compare_stored

    with open_source(target) as opened:
        (found,) = select_tables(opened, target, name)
        pages = scan_pages(opened, found, 0, 1)
        return compare_stored(table.__table__, (item for page in pages for item in page))


# -- running ---------------------------------------------------------------------------------------


@contextmanager
def _refusals() -> Iterator[None]:
    """Print an error and exit; of a missing permission, also the policy that has it."""
    with exit_on_error():
        try:
            yield
        except AccessDeniedException as error:
            fail(
                f"{describe_failure(error)}. `tablewright publish iam DESIGN --role migrate` "
                "prints a policy that allows every migration"
            )


def _tables(design: str, table: str | None) -> list[type[Table]]:
    return tables_named(load_design(design), table)


def _read(command: Callable[..., list[T]], design: str, target: str, table: str | None) -> list[T]:
    """Return what a command that only reads returns for the tables of a design."""
    tables = _tables(design, table)
    with _refusals():
        return [each for one in tables for each in command(target, one, table_name=table)]


def _write_units(
    target: str, table: type[Table], name: str | None, rate: str | None
) -> float | None:
    """Return the write units per second of a rate; refuse an invalid one before any question."""
    from tablewright import migrations

    if rate is None:
        return None
    units = migrations.write_units(target, table, rate, table_name=name)
    if rate.strip().endswith("%"):
        shown = name or table.__table__.name
        say(
            f"{shown}: the rate {rate.strip()} is {units:g} write units per second, for the lowest "
            "capacity among the table and its global indexes"
        )
    return units


def _executor_options(
    shown: MigrationPlan, rate: str | None, *, by_template: bool, no_wait: bool
) -> ExecutorOptions:
    """Return the options of a command that does what was shown."""
    return {
        "units_per_second": rate,
        "by_template": by_template,
        "program_seconds": 0.0 if no_wait else None,
        "plan": shown,
    }


def _run(
    command: Callable[..., list[MigrationReport]],
    target: str,
    table: type[Table],
    name: str | None,
    options: ExecutorOptions,
    **more: Any,
) -> None:
    """Run a command with progress bars, and print what it has done."""
    with (
        _refusals(),
        clean_interrupts("run the same command again to continue"),
        _progress() as report,
    ):
        try:
            reported: ExecutorOptions = {**options, "progress": report}
            (done,) = command(target, table, table_name=name, **reported, **more)
        except DuplicateValues as error:
            for each in error.duplicates:
                typer.echo(f"{each.unique}: {each.value}\n  {each.key}\n  {each.other}")
            fail(
                "these items share values that must be unique; their values were not changed. "
                "Change or delete some of them, for example with `tablewright sql`, and run the "
                "same command again"
            )
    if not done.steps:
        typer.echo(f"{done.table}: nothing to do")
        return
    reserved = f", {plural(done.reserved, 'unique value')} reserved" if done.reserved else ""
    typer.echo(
        f"{done.table}: {plural(len(done.steps), 'step')} done, {plural(done.changed, 'item')} "
        f"changed{reserved}"
    )


@contextmanager
def _progress() -> Iterator[Callable[[MigrationProgress], None]]:
    """Yield a function that shows how far a migration is: a bar for each step that reads items."""
    with progress_bars() as show:

        def report(progress: MigrationProgress) -> None:
            if progress.awaits:
                say(f"{progress.table}: waiting for a template: {progress.awaits}")
                return
            name = f"{progress.number}/{progress.steps} {progress.step}"
            if progress.step.name in _SWEEPS:
                show(name, progress.items, progress.expected)
            if progress.items == 0 and not (sys.stderr.isatty() and progress.step.name in _SWEEPS):
                say(f"{progress.table}: {name}")

        yield report


#: The steps that read all items.
_SWEEPS = frozenset({"check", "rewrite", "verify", "clean"})


# -- printing --------------------------------------------------------------------------------------


def _print_plan(
    console: Console,
    plan: MigrationPlan,
    rate: float | None = None,
    *,
    by_template: bool = False,
) -> None:
    from tablewright.evolve import assess_plan
    from tablewright.publish import migration_text

    if not plan.steps:
        typer.echo(f"{plan.table}: {migration_text.NOTHING_TO_DO}")
        return
    if not plan.changes and [each.name for each in plan.steps] == ["verify", "switch"]:
        print_text(console, f"{plan.table}: {migration_text.PREPARED}")
        return
    found = assess_plan(plan, rate)
    print_title(console, f"{plan.table}: {plural(len(plan.changes), 'change')}")
    print_changes(console, found.changes, found.currency)
    print_title(console, f"\n{migration_text.steps_text(found)}")
    for number, each in enumerate(found.steps, 1):
        done = " (done)" if number <= plan.done else ""
        print_text(console, f"  {number}. {each.step}{done}", style="bold")
        fields = migration_text.step_fields(each, found.currency, by_template=by_template)
        print_fields(console, fields, "     ")
    console.print()
    if found.total:
        print_text(console, migration_text.assumptions(plan, found))
        console.print()
    for text in migration_text.warnings(plan):
        print_text(console, text)
    print_text(console, migration_text.deployment(plan))


def _print_removal(plan: MigrationPlan) -> None:
    """Print the steps of a rollback or a completion, and which stored values they remove."""
    typer.echo(f"{plan.table}: the steps are {', '.join(map(str, plan.steps))}")
    if plan.removes:
        typer.echo(f"{plan.table}: removes the stored values of {', '.join(plan.removes)}")


def _print_status(console: Console, status: MigrationStatus) -> None:
    from tablewright.publish import migration_text

    print_title(console, status.table)
    revision = status.revision
    if revision is None:
        print_text(console, f"  {migration_text.NOT_RECORDED}", "  ")
        return
    first, *rest = migration_text.revision_fields(revision, status.changes)
    differences = "\n".join(map(str, status.changes))
    shown = [("differences", differences)] if status.changes else []
    print_fields(console, [first, *shown, *rest], "  ")
