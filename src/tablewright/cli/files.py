"""Commands for database files: check, back up, restore, compact, repair."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.grammar import argument
from tablewright.cli.report import describe_error, fail, failing_on, say
from tablewright.errors import DamagedFile, StoreFailed, TablewrightError
from tablewright.presentation.printing import print_grid
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.engine.integrity import Report

DatabaseFile = Annotated[Path, argument("FILE", "A database file.")]


@add_command()
def check_file(file: DatabaseFile) -> None:
    """Check that tables and indexes agree and that no row is damaged.

    Exit code 1: there are problems.
    """
    with readable(file) as path, open_existing(path) as engine:
        report = engine.check()
    show_report(report)
    if not report:
        say(f"{file}: {plural(len(report.problems), 'problem')}")
        raise typer.Exit(1)
    typer.echo("all tables and indexes agree")


@add_command()
def backup(
    file: DatabaseFile,
    copy: Path = argument("COPY", "The new file; it must not exist."),
) -> None:
    """Copy a database file while it is in use, and check the copy.

    The copy contains every write that was acknowledged before the command began. Exit code 1: the
    copy has the same problems as the file.
    """
    with readable(file, copy.parent) as path, open_existing(path) as engine:
        engine.back_up(copy)
    check_copy(copy)


@add_command()
def restore(
    copy: Path = argument("BACKUP", "A file written by `tablewright backup`."),
    file: Path = argument("FILE", "The database file to create; it must not exist."),
) -> None:
    """Create a database file from a backup, and check it.

    First stop all processes that use the old file, and move it away together with its -wal and
    -shm files. Exit code 1: the backup has problems.
    """
    for leftover in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        if leftover.exists():
            fail(f"{leftover} exists; stop the processes that use it, then move it away")
    with readable(copy, file.parent) as path, open_existing(path) as engine:
        engine.back_up(file)
    check_copy(file)


@add_command()
def compact(file: DatabaseFile) -> None:
    """Return the space of deleted items and tables to the file system.

    Writers wait until it is done. The disk needs as much free space as the size of the file.
    """
    os.environ.setdefault("SQLITE_TMPDIR", str(file.resolve().parent))  # where there is space
    with open_existing(file) as engine:
        before = file.stat().st_size
        engine.compact()
        after = file.stat().st_size
    typer.echo(f"{file}: {before:,} bytes before, {after:,} bytes now")


@add_command()
def repair(
    file: Path = argument("FILE", "A damaged database file. It is not changed."),
    new: Path = argument("NEW", "The new file; it must not exist."),
) -> None:
    """Save the readable items of a damaged file to a new file, and list the lost items.

    Exit code 1: items are lost.
    """
    from tablewright.engine.repair import repair as repair_file

    with failing_on(TablewrightError), readable(file, new.parent) as path:
        salvage = repair_file(path, new)
    rows = []
    for table in salvage.tables:
        counts = (table.items, table.from_indexes + table.from_log, len(table.lost))
        rows.append((table.name, *(f"{count:,}" for count in counts)))
    print_grid(("table", "items saved", "from an index or log", "known to be lost"), rows)
    for problem in salvage.problems:
        typer.echo(problem)
    for table in salvage.tables:
        for key in table.lost:
            typer.echo(f"lost: {table.name}: {key}")
        if table.unreadable_ranges:
            typer.echo(f"{table.name}: parts of the table cannot be read; more items may be lost")
    if not salvage:
        raise typer.Exit(1)
    typer.echo(f"{new}: all items were saved")


@contextmanager
def readable(file: Path, folder: Path | None = None) -> Iterator[Path]:
    """Yield a file that SQLite can read: the file, or a copy of it if it cannot be written.

    SQLite writes even if it only reads: it locks the file, and creates files next to it. The copy
    is in a temporary folder in `folder`.
    """
    from tablewright.storage import require_current_log

    is_writable = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    if is_writable or not file.is_file():
        yield file
        return
    with ExitStack() as stack:
        try:
            require_current_log(str(file))
            temporary = TemporaryDirectory(dir=folder, prefix="tablewright-")
            copy = Path(stack.enter_context(temporary)) / file.name
            shutil.copyfile(file, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{file}-wal", f"{copy}-wal")
        except OSError as error:
            fail(f"{file}: it is read-only, and cannot be copied: {describe_error(error)}")
        except DamagedFile as error:
            say(str(error))
            raise typer.Exit(1) from None
        say(f"{file}: it is read-only, so a copy of it is read")
        yield copy


@contextmanager
def open_existing(file: Path) -> Iterator[Engine]:
    """Open an existing file. An error, also in the block, is one line and an exit code."""
    from tablewright.engine import Engine

    try:
        if not file.is_file():
            fail(f"{file}: {'it is a directory' if file.is_dir() else 'no such file'}")
        if not file.stat().st_size:
            fail(f"{file}: the file is empty, so it is not a database")
    except OSError as error:
        fail(f"{file}: {describe_error(error)}")
    try:
        engine = Engine(file, sweep_seconds=None)
    except (StoreFailed, DamagedFile) as error:
        say(str(error))
        raise typer.Exit(1) from None
    except TablewrightError as error:
        fail(str(error))
    with engine, failing_on(TablewrightError):
        yield engine


def show_report(report: Report) -> None:
    """Print the rows of each table and index, and the problems."""
    rows = report.rows.items()
    shown = (("" if index else table, index or "", str(count)) for (table, index), count in rows)
    print_grid(("table", "index", "rows"), shown)
    for problem in report.problems:
        typer.echo(str(problem))


def check_copy(copy: Path) -> None:
    """Check a copy and print the report; exit with code 1 if there are problems."""
    with open_existing(copy) as engine:
        report = engine.check()
    show_report(report)
    if not report:
        say(f"{copy}: the copy has the same problems as the original")
        raise typer.Exit(1)
    typer.echo(f"{copy}: complete; all tables and indexes agree")
