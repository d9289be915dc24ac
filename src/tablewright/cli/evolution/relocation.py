"""`tablewright migrate` with a destination: move a table to another place while programs run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli.commands import print_document
from tablewright.cli.grammar import WHERE, argument, load_design, option, tables_named
from tablewright.cli.items.writes import confirm
from tablewright.cli.report import clean_interrupts, exit_on_error, fail, say
from tablewright.cli.transfer import progress_bars
from tablewright.presentation.printing import (
    make_console,
    print_fields,
    print_text,
    print_title,
)
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from tablewright.migrations import Relocation, RelocationProgress

Destination = Annotated[
    str | None,
    argument(
        "DESTINATION",
        f"Where to move the table: {WHERE}. Default: it stays where it is.",
        None,
    ),
]
NEW_NAME = option("The name that the table gets at the destination. Default: the same name.")
PAUSE = option(
    "How long writes of programs may wait while they are switched to DESTINATION, in seconds. "
    "Default: 1.",
    min=0.1,
)


def opened(
    design: str, target: str, destination: str | None, table: str | None, new_name: str | None
) -> Relocation:
    """Return the table of a design at two places."""
    from tablewright import migrations

    found = tables_named(load_design(design), table)
    if len(found) > 1:
        names = ", ".join(each.__table__.name for each in found)
        fail(f"{design} has several tables ({names}); move one after the other: --table NAME")
    with exit_on_error():
        return migrations.Relocation(
            target, destination or target, found[0], table_name=table, new_name=new_name
        )


def plan(move: Relocation, *, json: bool) -> None:
    """Show what moving the table does, and what it costs; exit code 1: there is something to do."""
    from tablewright.evolve.relocation import assess_relocation

    with exit_on_error():
        found = move.plan()
    assessed = assess_relocation(found)
    if json:
        steps = [
            {"name": step, "cost": assessed.costs.get(step)} for step in found.steps[found.done :]
        ]
        document = {"table": found.source.name, "items": assessed.items, "steps": steps}
        print_document([document | {"storage": assessed.storage}])
    else:
        _print_plan(move, None)
    if found.steps:
        raise typer.Exit(1)


def _print_plan(move: Relocation, rate: float | None) -> bool:
    """Print what would be done; return whether there is anything."""
    from tablewright.evolve.relocation import assess_relocation
    from tablewright.publish import relocation_text

    with exit_on_error():
        found = move.plan()
    names, texts = move.places.names, move.places.texts
    if not found.steps:
        typer.echo(f"{names[0]}: {relocation_text.NOTHING_TO_DO}")
        return False
    console, assessed = make_console(), assess_relocation(found, rate)
    print_title(console, f"{names[0]} at {texts[0]} -> {names[1]} at {texts[1]}")
    for number, step in enumerate(found.steps, 1):
        done = " (done)" if number <= found.done else ""
        print_text(console, f"  {number}. {step}{done}", style="bold")
        print_fields(console, relocation_text.step_fields(step, assessed), "     ")
    console.print()
    print_text(console, relocation_text.assumptions(found, assessed))
    print_title(console, "\nWhat programs see")
    print_fields(console, list(relocation_text.SEES), "  ")
    return True


def status(move: Relocation, *, json: bool) -> None:
    """Show how far it is."""
    from tablewright.publish import relocation_text

    with exit_on_error():
        found = move.status()
    if json:
        print_document([found])
        return
    console = make_console()
    print_title(console, found.table)
    print_fields(console, relocation_text.status_fields(found), "  ")


def apply(
    move: Relocation,
    rate: str | None,
    pause: float | None,
    *,
    by_template: bool,
    no_wait: bool,
    yes: bool,
) -> None:
    """Copy the table, compare it, and switch the programs."""
    from tablewright.publish import relocation_text

    if by_template:
        _require_templates(move)
    units = None
    if rate is not None:
        with exit_on_error():
            units = move.write_units(rate)
    if not _print_plan(move, units):
        return
    name, place = move.places.names[1], move.places.texts[1]
    if not yes:
        confirm(f"this moves the table {move.places.names[0]} to {name} at {place}")
    _run(move, "apply", rate, pause, no_wait=no_wait)
    typer.echo(f"{move.places.names[0]}: {relocation_text.NEXT}")


def _require_templates(move: Relocation) -> None:
    """Exit unless templates have made both tables as a move needs them: nothing is changed then."""
    with exit_on_error():
        found = move.plan()
    if not found.steps:
        return
    first, second = found.source, found.destination
    missing = []
    if first.stream is None:
        missing.append(f"a stream of {first.name} (KEYS_ONLY is enough)")
    if second is None:
        missing.append(f"the table {move.places.names[1]} at {move.places.texts[1]}")
    else:
        if second.stream is None:
            missing.append(f"a stream of {second.name}, also for the way back")
        if second.ttl != first.ttl:
            missing.append(f"TTL of {second.name} by the attribute {first.ttl}")
    if missing:
        fail(f"deploy templates first that add {', and '.join(missing)}; nothing was changed")


def rollback(
    move: Relocation,
    rate: str | None,
    pause: float | None,
    *,
    by_template: bool,
    no_wait: bool,
    yes: bool,
) -> None:
    """Move the table back."""
    if by_template:
        _require_templates(move)
    name, place = move.places.names[0], move.places.texts[0]
    if not yes:
        confirm(f"this moves the table back to {name} at {place}")
    _run(move, "rollback", rate, pause, no_wait=no_wait)


def complete(move: Relocation, delete_removed: Path | None, *, yes: bool) -> None:
    """Forget the way back."""
    if delete_removed is not None:
        fail("--delete-removed is for a migration in one place; leave out DESTINATION")
    name, place = move.places.names[0], move.places.texts[0]
    if not yes:
        confirm(f"the table {name} at {place} can then no longer be used again by a rollback")
    _run(move, "complete", None, None, no_wait=True)


def _run(
    move: Relocation, command: str, rate: str | None, pause: float | None, *, no_wait: bool
) -> None:
    options: dict[str, Any] = {"units_per_second": rate}
    if pause is not None:
        options["pause_seconds"] = pause
    options["program_seconds"] = 0.0 if no_wait else None
    execute: Callable[..., Any] = getattr(move, command)
    with (
        exit_on_error(),
        clean_interrupts("run the same command again to continue"),
        _progress() as report,
    ):
        done = execute(progress=report, **options)
    if command == "complete":
        typer.echo(f"{done.table}: the move is completed")
    elif not done.steps:
        typer.echo(f"{done.table}: no program was switched; the table is where it was")
    else:
        typer.echo(
            f"{done.table}: {plural(len(done.steps), 'step')} done, "
            f"{plural(done.changed, 'item')} written, writes waited {done.paused:.2f} s"
        )


@contextmanager
def _progress() -> Iterator[Callable[[RelocationProgress], None]]:
    with progress_bars() as show:

        def report(progress: RelocationProgress) -> None:
            if progress.step in ("copy", "compare"):
                show(progress.step, progress.items, progress.expected)
            if progress.items == 0:
                say(f"{progress.table}: {progress.step}")

        yield report
