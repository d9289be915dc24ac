"""Commands that move whole tables: copy between targets, dump to files, load from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import app, fail, reason

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.transfer import Event, TableComparison

WHERE = "a file, http://host:port, or dynamodb://region"

Source = Annotated[str, typer.Argument(help=f"Where the tables are: {WHERE}.")]
Target = Annotated[str, typer.Argument(help=f"Where to write the tables: {WHERE}.")]
OneTable = Annotated[str | None, typer.Option(help="Only this table. Without it: all tables.")]
Parallel = Annotated[int, typer.Option(min=1, max=256, help="The number of concurrent requests.")]
StateFile = Annotated[
    Path | None,
    typer.Option(
        help="The file that records the progress. Without it: a file beside the target, or in the "
        "current directory."
    ),
]

STANDARD = "-"
#: A name that ends so is a file's; any other, without --table, is a folder's.
FILE_ENDINGS = (".json", ".jsonl", ".ndjson", ".gz")
INTERRUPTED = 130


@app.command()
def copy(
    source: Source,
    target: Target,
    table: OneTable = None,
    state: StateFile = None,
    parallel: Parallel = 8,
) -> None:
    """Copy tables with all their items, then compare both sides. Exit code 1: they differ.

    Missing tables are created, with the same keys, indexes, billing and TTL. To continue an
    interrupted copy, run the same command again.
    """
    from tablewright import transfer
    from tablewright.transfer.endpoints import absolute_target

    kept = state or transfer.default_state_file(target, "copy")
    with (
        explained() as begun,
        transfer.open_source(source) as read_from,
        transfer.open_target(target, source) as write_to,
    ):
        known = transfer.TransferState(
            kept, absolute_target(source), absolute_target(target), table
        )
        begun.append(kept)
        events = transfer.copy(
            read_from,
            write_to,
            table=table,
            state=known,
            segments=parallel,
            names=(source, target),
        )
        found = watched(events)
    report(found)


@app.command()
def dump(
    source: Source,
    file: Annotated[
        str,
        typer.Argument(
            help="A file (.json, .json.gz), a folder for all tables, or - (standard output)."
        ),
    ],
    table: OneTable = None,
    parallel: Parallel = 8,
) -> None:
    """Write tables to files, in the format of DynamoDB's export to S3: one JSON item on each line.

    A manifest beside each file holds the definition of the table, the item count and a checksum.
    """
    from tablewright import transfer

    path = Path(file)
    with explained(), transfer.open_source(source) as read_from:
        events: Iterator[Event]
        if file == STANDARD:
            events = transfer.dump(
                read_from, sys.stdout.buffer, table=table, segments=parallel, where=source
            )
        elif is_folder(file, table):
            events = transfer.dump_all(
                read_from, path, table=table, segments=parallel, where=source
            )
        else:
            events = transfer.dump(read_from, path, table=table, segments=parallel, where=source)
        found = watched(events)
    report(found, to_stderr=file == STANDARD)


@app.command()
def load(
    file: Annotated[
        str,
        typer.Argument(help="A dump, a folder of dumps, an export to S3, or - (standard input)."),
    ],
    target: Target,
    table: Annotated[
        str | None,
        typer.Option(help="The table to load into. For a folder of dumps: load only this table."),
    ] = None,
    state: StateFile = None,
    parallel: Parallel = 8,
) -> None:
    """Load tables from files, then compare them with the files. Exit code 1: they differ.

    A missing table is created if the file has a manifest. To continue an interrupted load, run the
    same command again.
    """
    import io

    from tablewright import transfer
    from tablewright.transfer.dumpfile import Dump, find_dumps
    from tablewright.transfer.endpoints import absolute_target, refuse_memory

    kept = None if file == STANDARD else state or transfer.default_state_file(target, "load")
    with explained() as begun:
        refuse_memory(target)
        if file != STANDARD:
            dumps = find_dumps(Path(file), table)
        elif table is None:
            fail("standard input needs --table: the table to load into")
        else:
            assert isinstance(sys.stdin.buffer, io.BufferedReader)
            dumps = [Dump(table, [sys.stdin.buffer])]
        with transfer.open_target(target) as write_to:
            known = transfer.TransferState(
                kept, str(Path(file).resolve()), absolute_target(target), table
            )
            begun += [kept] if kept else []
            events = transfer.load(dumps, write_to, state=known, writers=parallel, where=target)
            found = watched(events)
    report(found)


def is_folder(file: str, table: str | None) -> bool:
    """Whether a dump's name means a folder."""
    if file.endswith("/") or Path(file).is_dir():
        return True
    return table is None and not file.endswith(FILE_ENDINGS)


def watched(events: Iterable[Event]) -> list[TableComparison]:
    """Run a transfer, with a bar on standard error if somebody looks at it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    from tablewright.transfer import TableComparison

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    found: list[TableComparison] = []
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks = {}
        for event in events:
            if isinstance(event, TableComparison):
                found.append(event)
                continue
            name = f"{event.table} {event.phase}"
            if name not in tasks:
                tasks[name] = bars.add_task(
                    name, total=event.expected, completed=event.items, rate=""
                )
            task = bars.tasks[tasks[name]]
            speed = f"{task.speed:,.0f}/s" if task.speed else ""
            # DynamoDB's own count is hours old: there may be more than it tells
            most = None if event.expected is None else max(event.expected, event.items)
            bars.update(tasks[name], completed=event.items, total=most, rate=speed)
    return found


def report(found: list[TableComparison], *, to_stderr: bool = False) -> None:
    """Show what both sides hold; exit code 1 if they differ."""
    from rich.console import Console
    from rich.table import Table

    overview = Table("table", "side", "items", "checksum")
    for compared in found:
        for number, (side, total) in enumerate(compared.sides.items()):
            name = compared.table if number == 0 else ""
            overview.add_row(name, side, str(total.count), str(total))
    console: Console = Console(stderr=to_stderr)
    console.width = max(console.width, 120)  # a checksum must not be cut
    console.print(overview)
    different = [compared.table for compared in found if not compared.is_equal]
    if different:
        typer.echo(f"tablewright: the sides differ: {', '.join(different)}", err=True)
        raise typer.Exit(1)
    if all(len(compared.sides) > 1 for compared in found):
        typer.echo("all counts and checksums agree", err=to_stderr)


@contextmanager
def explained() -> Iterator[list[Path]]:
    """What a user can get wrong, and what an endpoint can, is one line and exit code 2.

    Gives a list for the file that holds the state of a transfer, once it has begun.
    """
    from tablewright.errors import DynamoDBError, TablewrightError

    begun: list[Path] = []

    def going_on() -> str:
        files = [str(file) for file in begun if file.exists()]
        if not files:
            return ""
        return f"; the progress is in {files[0]}: run the same command again to continue"

    try:
        yield begun
    except BrokenPipeError:
        # the reader of standard output has gone; else Python would report it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail("standard output was closed")
    except KeyboardInterrupt:
        typer.echo(f"tablewright: interrupted{going_on()}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except TablewrightError as error:
        text = f"{error.code}: {error.message}" if isinstance(error, DynamoDBError) else str(error)
        fail(" ".join(text.split()) + going_on())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{reason(error)}{going_on()}")
