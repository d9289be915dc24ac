"""Commands that move tables: copy between databases, dump to files, load from files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.grammar import STANDARD_STREAM, WHERE, argument, flag, option
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.presentation.printing import print_grid
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from rich.progress import TaskID

    from tablewright.transfer import Event, TableComparison

Source = Annotated[str, argument("SOURCE", f"Where the tables are: {WHERE}.")]
Destination = Annotated[str, argument("TARGET", f"Where to write the tables: {WHERE}.")]
OneTable = Annotated[str | None, option("Only this table. Default: all tables.")]
Parallel = Annotated[
    int | None,
    option(
        "The number of concurrent requests. Default: 8 for an endpoint, 1 for files.",
        min=1,
        max=256,
    ),
]
StateFile = Annotated[
    Path | None,
    option(
        "The file that records the progress. Default: a file beside the target, or in the "
        "current directory."
    ),
]
Overwrite = Annotated[
    bool,
    flag(
        "Write into tables that have items, and replace those with the same keys. Default: ask "
        "at a terminal; otherwise refuse."
    ),
]
WithoutIndexes = Annotated[
    bool,
    flag(
        "Leave out the global indexes, and add them later: this is faster for a large table. An "
        "existing table must have none."
    ),
]

#: Without --table, a name with another ending is a folder.
FILE_ENDINGS = (".json", ".jsonl", ".ndjson", ".gz")


@add_command()
def copy(
    source: Source,
    target: Destination,
    table: OneTable = None,
    state: StateFile = None,
    parallel: Parallel = None,
    overwrite: Overwrite = False,
    without_indexes: WithoutIndexes = False,
) -> None:
    """Copy tables with all their items, then compare both sides.

    Missing tables are created, with the same keys, indexes, billing, TTL and stream. Existing
    tables must have the same definition. To continue an interrupted copy, run the same command
    again. Exit code 1: the sides differ.
    """
    from tablewright import transfer
    from tablewright.transfer.endpoints import absolute_target

    kept = state or transfer.default_state_file(target, "copy")
    with (
        exit_on_error() as state_files,
        transfer.open_source(source) as read_from,
        transfer.open_target(target, source) as write_to,
    ):
        known = transfer.TransferState(
            kept, absolute_target(source), absolute_target(target), table
        )
        state_files.append(kept)
        found = run_transfer(
            partial(transfer.copy, read_from, write_to, table=table, names=(source, target)),
            state=known,
            segments=parallel,
            without_indexes=without_indexes,
            overwrite=overwrite,
        )
    print_comparison(found)


@add_command()
def dump(
    source: Source,
    file: str = argument(
        "FILE", "A file (.json, .json.gz), a folder for all tables, or - (standard output)."
    ),
    table: OneTable = None,
    parallel: Parallel = None,
) -> None:
    """Write tables to files, in the format of DynamoDB's export to S3.

    A file has one item in JSON on each line. A manifest beside it holds the definition of the
    table, the number of items and a checksum.
    """
    from tablewright import transfer

    is_stream = file == STANDARD_STREAM
    write: Any = transfer.dump_all if is_folder(file, table) and not is_stream else transfer.dump
    with exit_on_error(), transfer.open_source(source) as read_from:
        to = sys.stdout.buffer if is_stream else Path(file)
        found = show_progress(write(read_from, to, table=table, segments=parallel, where=source))
    print_comparison(found, to_stderr=is_stream)


@add_command()
def load(
    file: Annotated[
        str, argument("FILE", "A dump, a folder of dumps, an export to S3, or - (standard input).")
    ],
    target: Destination,
    table: str | None = option(
        "The table to load into. For a folder of dumps: load only this table."
    ),
    state: StateFile = None,
    parallel: Parallel = None,
    overwrite: Overwrite = False,
    without_indexes: WithoutIndexes = False,
) -> None:
    """Load tables from files, then compare them with the files.

    A missing table is created if the file has a manifest; an existing table must have the same
    definition. To continue an interrupted load, run the same command again. Exit code 1: the table
    and the files differ.
    """
    import io

    from tablewright import transfer
    from tablewright.transfer.dumpfile import Dump, find_dumps
    from tablewright.transfer.endpoints import absolute_target, refuse_memory

    kept = None if file == STANDARD_STREAM else state or transfer.default_state_file(target, "load")
    with exit_on_error() as state_files:
        refuse_memory(target)
        if file != STANDARD_STREAM:
            dumps = find_dumps(Path(file), table)
        elif table is None:
            fail("-: add --table NAME, the table to load standard input into")
        else:
            assert isinstance(sys.stdin.buffer, io.BufferedReader)
            dumps = [Dump(table, [sys.stdin.buffer])]
        with transfer.open_target(target) as write_to:
            known = transfer.TransferState(
                kept, str(Path(file).resolve()), absolute_target(target), table
            )
            state_files += [kept] if kept else []
            found = run_transfer(
                partial(transfer.load, dumps, write_to, where=target),
                state=known,
                writers=parallel,
                without_indexes=without_indexes,
                overwrite=overwrite,
            )
    print_comparison(found)


def is_folder(file: str, table: str | None) -> bool:
    """Return whether `dump` writes a folder of files to this path."""
    if file.endswith("/") or Path(file).is_dir():
        return True
    return table is None and not file.endswith(FILE_ENDINGS)


def run_transfer(
    start: Callable[..., Iterator[Event]], *, overwrite: bool, **settings: Any
) -> list[TableComparison]:
    """Run a transfer; if the target has items, ask before any is replaced."""
    from tablewright.cli.items.writes import confirm
    from tablewright.transfer import TargetHasItems

    try:
        return show_progress(start(**settings, overwrite=overwrite))
    except TargetHasItems as refused:  # nothing was written
        confirm(refused.consequence, option="--overwrite")
    return show_progress(start(**settings, overwrite=True))


def show_progress(events: Iterable[Event]) -> list[TableComparison]:
    """Run a transfer; show a progress bar if standard error is a terminal."""
    from tablewright.transfer import TableComparison

    found: list[TableComparison] = []
    with progress_bars() as show:
        for event in events:
            if isinstance(event, TableComparison):
                found.append(event)
            else:
                show(f"{event.table} {event.phase}", event.items, event.expected)
    return found


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress bars if standard error is a terminal, each with its rate and remaining time.

    Yields a function that takes the name of a bar, the number of items, and that of all items.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, items: int, expected: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=expected, completed=items, rate="")
            task = bars.tasks[tasks[name]]
            speed = f"{task.speed:,.0f}/s" if task.speed else ""
            # DynamoDB's item count is up to six hours old, so there may be more items
            most = None if expected is None else max(expected, items)
            bars.update(tasks[name], completed=items, total=most, rate=speed)

        yield show


def print_comparison(found: list[TableComparison], *, to_stderr: bool = False) -> None:
    """Print the item counts and checksums of both sides; exit with code 1 if they differ."""
    rows = []
    for compared in found:
        parts = {compared.table: compared.sides}
        parts |= {f"  index {name}": sides for name, sides in compared.indexes.items()}
        for part, sides in parts.items():
            for number, (side, total) in enumerate(sides.items()):
                rows.append((part if number == 0 else "", side, str(total.count), str(total)))
    # a checksum must not be cut
    print_grid(("table", "side", "items", "checksum"), rows, width=120, err=to_stderr)
    different = [_name_differing(compared) for compared in found if not compared.is_equal]
    if different:
        say(f"tablewright: these tables differ: {', '.join(different)}")
        raise typer.Exit(1)
    if all(len(compared.sides) > 1 for compared in found):
        indexes = sum(len(compared.indexes) for compared in found)
        also = f" and {indexes} index{'es' * (indexes > 1)}" if indexes else ""
        tables = plural(len(found), "table")
        typer.echo(f"compared all items of {tables}{also}", err=to_stderr)
        typer.echo("all counts and checksums agree", err=to_stderr)


def _name_differing(compared: TableComparison) -> str:
    indexes = compared.differing_indexes
    return f"{compared.table} (index {', '.join(indexes)})" if indexes else compared.table
