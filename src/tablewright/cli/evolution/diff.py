"""The command `diff`: the changes between two versions of a design, and what each needs."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import add_command, print_document
from tablewright.cli.grammar import argument, flag, option
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.presentation.printing import (
    escape_controls,
    make_console,
    print_fields,
    print_line,
    print_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from tablewright.design_description import DesignDescription
    from tablewright.evolve import AssessedChange, DesignDiff, DesignVersion, Rename, Workload

#: The marks of what was declared before, and after.
MARKS = (("- ", "red"), ("+ ", "green"))
WHAT = "a design, DESIGN@REVISION, a lock file, a target, a template or a model file"


@add_command()
def diff(
    old: str = argument("OLD", f"The old version: {WHAT}."),
    new: str = argument("NEW", "The new version: the same."),
    table: str | None = option(
        "What the target calls the table, if it differs from the other side."
    ),
    renamed: list[str] | None = option(
        "What was renamed, as the design can declare with renamed_from=: Order.status=state for an "
        "attribute, Order=Purchase for an entity; repeatable.",
        metavar="OLD=NEW",
    ),
    items: int | None = option(
        "Estimate costs for a table of this many items. Default: the number at the target, or "
        "1,000,000.",
        min=0,
    ),
    rate: float = option("The write units per second of the estimates.", default=1000.0, min=1),
    any_change: bool = flag("Exit with code 1 for every difference.", "--any"),
    json: bool = flag("Print everything as JSON."),
    sarif: bool = flag("Print SARIF 2.1.0, for code scanning in CI."),
) -> None:
    """List the changes between two versions of a design, and what each of them needs.

    For each change: what stored items or the table need, whether old and new programs can run
    together, until when it can be undone, and an estimate of the cost. A difference between a live
    table and a design or a lock file is called drift. Nothing is written.

    A version is a design, a design at a git revision (`shop.py@main`), a lock file
    (`tablewright.lock`, `tablewright.lock@main`), a target with the tables, a template of
    CloudFormation, CDK or Terraform, or a model file of NoSQL Workbench.

    Exit code 1: a change needs something, or old and new programs cannot run together.
    """
    from tablewright.cli.evolution.versions import read_sides
    from tablewright.evolve import compare, declare, find_renames, read_renames
    from tablewright.publish import changes_text
    from tablewright.publish.advice import sarif as sarif_log
    from tablewright.publish.change_findings import RULES, change_findings

    if json and sarif:
        fail("--json and --sarif exclude each other; choose one")
    with exit_on_error():
        before, after = read_sides(old, new, table)
        version = after.version
        description = version.description
        declared = read_renames(renamed or (), before.version.description, description)
        description = declare(description, declared)
        possible = find_renames(before.version.description, description)
        if possible and not json and not sarif and sys.stdin.isatty():
            description = declare(description, _ask(possible))
            possible = []
        version = _with_description(version, description)
        found = compare(before.version, version, _workload(before.version, version, items, rate))
    if json:
        print_document(changes_text.members(found, possible))
    elif sarif:
        findings = change_findings(found, (before.design, after.design))
        print_document(sarif_log(findings, RULES))
    else:
        _print_diff(make_console(), found, possible)
    if found.changes and (any_change or not found.is_free):
        raise typer.Exit(1)


def _with_description(version: DesignVersion, description: DesignDescription) -> DesignVersion:
    from msgspec.structs import replace

    return replace(version, description=description)


def _ask(renames: Iterable[Rename]) -> list[Rename]:
    """Ask which renames are meant, each part once; return them."""
    answered: list[Rename] = []
    for each in renames:
        of_same = [one for one in answered if (one.table, one.entity) == (each.table, each.entity)]
        if any(one.before == each.before or one.after == each.after for one in of_same):
            continue
        of_entity = f" of {each.entity}" if each.entity else ""
        what = f"{'attribute' if each.entity else 'entity'} {each.before}{of_entity}"
        if typer.confirm(f"Was the {what} renamed to {each.after}?", default=False, err=True):
            say(f"Declare it in the design: {each.declaration}")
            answered.append(each)
    return answered


def _workload(old: DesignVersion, new: DesignVersion, items: int | None, rate: float) -> Workload:
    """Return the number of items: as given, or that of a live table, or the default."""
    from tablewright.cost import load_prices
    from tablewright.evolve import DEFAULT_ITEMS, Workload
    from tablewright.evolve.estimate import TableLoad

    tables = {}
    for name, table in {**new.live, **old.live}.items():
        if table.items is None:
            continue
        size = {"size": table.size / table.items} if table.items else {}
        tables[name] = TableLoad(table.items if items is None else items, **size)
    default = TableLoad(DEFAULT_ITEMS if items is None else items)
    return Workload(load_prices(), rate, tables, default)


# -- the terminal ----------------------------------------------------------------------------------


def _print_diff(console: Console, diff: DesignDiff, renames: Iterable[Rename]) -> None:
    from tablewright.publish import changes_text

    if diff.changes:
        print_text(console, changes_text.headline(diff), style="bold")
    currency = diff.workload.prices.currency
    print_changes(console, diff.changes, currency)
    if diff.changes:
        console.print()
    print_text(console, changes_text.summary(diff), style="bold")
    if diff.cost and len(diff.changes) > 1:
        total = changes_text.cost_text(diff.cost, currency)
        print_text(console, f"All changes, each on its own, cost {total}.")
    for note in changes_text.notes(diff):
        print_text(console, note)
    for rename in renames:
        print_text(console, changes_text.rename_hint(rename))
    if not diff.is_free:
        print_text(console, "`tablewright help changes` says how to deploy them.")


def print_changes(console: Console, changes: Sequence[AssessedChange], currency: str) -> None:
    """Print changes by table and entity, each with what follows from it."""
    several = len({each.change.table for each in changes}) > 1
    for (table, entity), found in groupby(changes, key=_place):
        console.print()
        where = f"entity {entity}{f' in {table}' * several}" if entity else f"table {table}"
        print_line(console, escape_controls(where), "bold")
        for number, each in enumerate(found):
            if number:
                console.print()
            _print_change(console, each, currency)


def _place(assessed: AssessedChange) -> tuple[str, str]:
    return assessed.change.table, assessed.change.entity


def _print_change(console: Console, assessed: AssessedChange, currency: str) -> None:
    from tablewright.evolve import Coexistence
    from tablewright.publish import changes_text

    change = assessed.change
    is_bad = assessed.together is Coexistence.NO
    style = "bold red" if is_bad else "green" if assessed.is_free else "yellow"
    print_text(console, escape_controls(f"  {changes_text.title(change)}"), "  ", style)
    for (mark, colour), text in zip(MARKS, (change.before, change.after), strict=True):
        if text:
            print_text(console, escape_controls(f"    {mark}{text}"), "      ", colour)
    print_fields(console, changes_text.fields(assessed, currency), "    ")
