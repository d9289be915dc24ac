"""Commands that bring a design to a target: its tables, its sample data, and what it maintains.

create-tables  creates the tables that are missing; the others must be as declared
seed           creates the tables and loads the sample data
backfill       gives stored items what was declared after they were written
reconcile      corrects counters that are not what they count
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.grammar import (
    DesignName,
    Target,
    flag,
    load_design,
    option,
    tables_named,
)
from tablewright.cli.report import clean_interrupts, exit_on_error, fail, say
from tablewright.cli.transfer import progress_bars
from tablewright.errors import DuplicateValues, UnreadableItem
from tablewright.hints import did_you_mean
from tablewright.presentation.printing import print_grid
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright import Table
    from tablewright.database import Database
    from tablewright.errors import DuplicateValue
    from tablewright.plan.plan import Unready
    from tablewright.plans import BackfillProgress


@add_command()
def create_tables(design: DesignName, target: Target) -> None:
    """Create the tables of a design, with on-demand capacity.

    A table that exists is never changed; it must be as declared.
    """
    from tablewright import connect
    from tablewright.transfer import open_target
    from tablewright.transfer.endpoints import list_tables

    declared = load_design(design).tables
    with exit_on_error():
        with open_target(target) as transport:
            existing = list_tables(transport)
        connect(target, *declared, create=True).close()
        for table in declared:
            name = table.__table__.name
            say(f"{name}: {'exists, as declared' if name in existing else 'created'}")


@add_command()
def seed(design: DesignName, target: Target) -> None:
    """Create the tables of a design and load its sample data.

    Prints the number of items of each entity. A table that exists must be empty and as declared;
    otherwise nothing is loaded. If it fails or is interrupted, it removes the tables that it has
    created and the items that it has loaded.
    """
    from tablewright.transfer.endpoints import refuse_memory
    from tablewright.verify import seed as seed_design

    loaded = load_design(design)
    if loaded.sample is None:
        fail(
            f"{loaded.name} has no sample data: define the function sample(); "
            "`tablewright help design` shows it"
        )
    with exit_on_error(), clean_interrupts("what was created and loaded has been removed"):
        refuse_memory(target)
        counted = seed_design(loaded, target)
    for table, entities in counted.items():
        counts = ", ".join(
            f"{count} {entity or 'for unique values'}" for entity, count in sorted(entities.items())
        )
        items = plural(entities.total(), "item")
        typer.echo(f"{table}: {items}{f' ({counts})' if counts else ''}")


@add_command()
def backfill(
    design: DesignName,
    target: Target,
    index: list[str] | None = option(
        "Write only the keys of this index, and reserve no unique values; repeatable. Default: "
        "everything.",
        metavar="NAME",
    ),
    table: str | None = option(
        "The name of the table, if it differs from the design or is one of several."
    ),
    dry_run: bool = flag("Write nothing; count what would change, and list duplicates."),
    restart: bool = flag("Read all items again, also after an interrupted run."),
    prepare: bool = flag(
        "Write no keys; record the existing indexes as complete. Programs can then connect "
        "before the other global indexes exist, but cannot read them."
    ),
) -> None:
    """Give stored items the index keys and unique values that were declared after them.

    Reads all items, writes the index keys that do not match the values of their item, and reserves
    their unique values. Then programs can use the indexes and unique values. If several items have
    the same unique value, it lists them, continues with the next table, and exits with code 1 at
    the end. Start it after the old version has stopped; programs of the new version may run
    meanwhile. To continue an interrupted run, run the same command again.
    """
    import secrets

    from tablewright.database import Database
    from tablewright.model.databases.provision import Prepare
    from tablewright.plan.plan import Context
    from tablewright.transfer.endpoints import open_source

    loaded = load_design(design)
    if prepare and (index or dry_run or restart):
        fail("--prepare writes no keys; leave --index, --dry-run and --restart out")
    tables = _tables_with(index, tables_named(loaded, table))
    with (
        exit_on_error(),
        clean_interrupts("run the same command again to continue"),
        open_source(target) as opened,
    ):
        has_duplicates = False
        for each in tables:
            compiled, called = each.__table__, table or each.__table__.name
            context = Context(names={compiled: called}, secret=secrets.token_bytes(32))
            database = Database(opened, context, (each,))
            unready = database.run(Prepare(compiled, record=prepare))
            if not prepare:
                try:
                    duplicates = _run(database, each, index, dry_run=dry_run, restart=restart)
                except UnreadableItem as error:
                    listed = f"tablewright check-items {design} {target}"
                    fail(f"{error}; fix the item or the design: `{listed}` lists all such items")
                if duplicates:
                    _print_duplicates(duplicates)
                    has_duplicates = True
                    continue
                unready = database.run(Prepare(compiled, record=False))
            if prepare or unready:
                _print_unready(called, unready)
    if has_duplicates:
        say(
            "tablewright: delete some of these items, or change their values with a program that "
            "does not declare the values as unique; then run the same command again",
        )
        raise typer.Exit(1)


@add_command()
def reconcile(
    design: DesignName,
    target: Target,
    check: bool = flag("Write nothing; list the counters that differ, and exit with code 1."),
    table: str | None = option(
        "The name of the table, if it differs from the design or is one of several."
    ),
) -> None:
    """Recompute counters and sums, and correct those that differ.

    For items that were stored before a counter was declared, and for writes of programs that do not
    use Tablewright. Reads all items, counts, and writes the counters that differ, each with a
    condition: programs may write meanwhile, but not those of a version without the counter. It can
    be run again at any time.
    """
    import secrets

    from tablewright.database import Database
    from tablewright.plan.plan import Context
    from tablewright.transfer.endpoints import open_source

    loaded = load_design(design)
    tables = [each for each in tables_named(loaded, table) if _has_counters(each)]
    if not tables:
        fail(f"{loaded.name} has no counters: declare one with count_of() or sum_of()")
    with (
        exit_on_error(),
        clean_interrupts("run the same command again"),
        open_source(target) as opened,
    ):
        changed = 0
        for each in tables:
            compiled, called = each.__table__, table or each.__table__.name
            context = Context(names={compiled: called}, secret=secrets.token_bytes(32))
            changed += _reconcile(Database(opened, context, (each,)), each, called, check=check)
    if check and changed:
        raise typer.Exit(1)


def _has_counters(table: type[Table]) -> bool:
    return any(entity.maintained for entity in table.__table__.entities)


def _reconcile(database: Database, table: type[Table], name: str, *, check: bool) -> int:
    """Correct the counters of a table, list those that differed, and return for how many items."""
    from tablewright.plans import CounterDifference
    from tablewright.plans import reconcile as reconcile_plan

    differences: list[CounterDifference] = []
    with progress_bars() as show:
        changed = database.run(
            reconcile_plan(
                table,
                dry_run=check,
                progress=lambda progress: show(progress.table, progress.items, None),
                found=differences.append,
            )
        )
    if differences:
        header = ("counter", "item", "stored", "counted")
        rows = ((each.counter, each.key, each.stored, each.counted) for each in differences)
        print_grid(header, ([str(cell) for cell in row] for row in rows))
    done = "would be corrected" if check else "were corrected"
    typer.echo(f"{name}: the counters of {plural(changed, 'item')} {done}")
    return changed


def _tables_with(indexes: list[str] | None, tables: list[type[Table]]) -> list[type[Table]]:
    """Return the tables that have one of the indexes, or all tables; fail for an unknown index."""

    if not indexes:
        return tables
    known = {table: {each.name for each in table.__table__.indexes.values()} for table in tables}
    names = set[str]().union(*known.values())
    for name in indexes:
        if name not in names:
            fail(f"--index {name}: the design has no such index{did_you_mean(name, names)}")
    return [table for table in tables if known[table] & set(indexes)]


def _run(
    database: Database,
    table: type[Table],
    indexes: list[str] | None,
    *,
    dry_run: bool,
    restart: bool,
) -> tuple[DuplicateValue, ...]:
    """Run the backfill of a table, show its progress, and print its result; return duplicates."""
    from tablewright.plans import backfill as backfill_plan

    names = {each.name for each in table.__table__.indexes.values()}
    reports: list[BackfillProgress] = []
    with progress_bars() as show:

        def report(progress: BackfillProgress) -> None:
            reports[:] = [progress]
            show(progress.table, progress.items, progress.expected)

        plan = backfill_plan(
            table,
            indexes=[name for name in indexes if name in names] if indexes else None,
            dry_run=dry_run,
            restart=restart,
            progress=report,
        )
        duplicates: tuple[DuplicateValue, ...] = ()
        try:
            database.run(plan)
        except DuplicateValues as error:
            duplicates = error.duplicates
    (last,) = reports
    done = "would get new index keys" if dry_run else "got new index keys"
    typer.echo(f"{last.table}: {last.changed} of {last.items} items {done}")
    if last.reserved:
        done = "would be" if dry_run else "was" if last.reserved == 1 else "were"
        typer.echo(f"{last.table}: {plural(last.reserved, 'unique value')} {done} reserved")
    return duplicates


def _print_duplicates(duplicates: Sequence[DuplicateValue]) -> None:
    header = ("unique value", "value", "item", "item with the same value")
    print_grid(header, ((each.unique, each.value, each.key, each.other) for each in duplicates))


def _print_unready(table: str, unready: Unready) -> None:
    typer.echo(f"{table}: {'not ready yet:' if unready else 'every index can be read'}")
    for index, problem in sorted(unready.indexes.items()):
        typer.echo(f"  {index}: {problem}")
    for index, kind in sorted(unready.places):
        typer.echo(f"  {index}: may lack items of {kind}")
    for unique, kind in sorted(unready.uniques):
        typer.echo(f"  {unique}: items of {kind} may not have reserved their values")
