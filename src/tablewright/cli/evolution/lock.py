"""The command `lock`: write what a design stores to a file in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import add_command, write_output
from tablewright.cli.grammar import DesignName, flag, load_design, option
from tablewright.cli.report import exit_on_error, say
from tablewright.presentation.printing import escape_controls, make_console, print_text
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright.design_changes import DesignChange
    from tablewright.design_description import DesignDescription

LOCK_FILE = Path("tablewright.lock")


@add_command()
def lock(
    design: DesignName,
    output: Path = option("The lock file.", "-o", "--output", default=LOCK_FILE),
    check: bool = flag("Write nothing. Exit code 1: the file is missing or out of date."),
) -> None:
    """Write a lock file: a description of what a design stores.

    Commit the file: a change of what is stored is then a change in a pull request, and `tablewright
    diff` compares versions without importing old code. The same design always gives the same file;
    names in Python and the order of the source do not matter. It locks no table, and nothing is
    sent to a target.
    """
    from tablewright.design_description import write_lock
    from tablewright.model.description import describe_design

    described = describe_design(*load_design(design).tables)
    text = write_lock(described)
    with exit_on_error():
        stored = _stored_text(output)
        changes = [] if stored is None else _changes_since(output, described)
    if stored == text:
        typer.echo(f"{output}: {'up to date' if check else 'unchanged'}")
        return
    if not check:
        write_output(text, output)
    entities = sum(len(each.entities or ()) for each in described.tables.values())
    if not check:
        tables = plural(len(described.tables), "table")
        noun = "entity" if entities == 1 else "entities"
        typer.echo(f"{output}: written ({tables}, {entities} {noun})")
    else:
        problem = "missing; write it" if stored is None else "out of date; write it again"
        named = "" if output == LOCK_FILE else f" -o {output}"
        say(f"{output}: {problem}: tablewright lock {design}{named}")
    console = make_console()
    for change in changes:
        print_text(console, escape_controls(f"- {change}"), "  ")
    if check:
        raise typer.Exit(1)


def _stored_text(file: Path) -> str | None:
    """Return the content of a lock file; None if there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _changes_since(file: Path, described: DesignDescription) -> list[DesignChange]:
    from tablewright.design_changes import differences
    from tablewright.evolve import read_lock_file

    return differences(read_lock_file(file).description, described)
