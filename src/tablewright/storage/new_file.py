"""The name of a new database file."""

from __future__ import annotations

from pathlib import Path

from tablewright.whole_file import partial_path


def name_problem(new: Path, source: Path) -> str | None:
    """Return why a copy of `source` cannot have the name `new`, as a message; None if it can."""
    log = Path(f"{new}-wal")
    if new.exists():
        return f"{new}: the file exists; choose another name for the new file"
    if log.exists():
        return (
            f"{log}: is the log of another file, which SQLite would apply to the new one; move it "
            "away (beside its own file, if that was moved), or choose another name for the new file"
        )
    partial = partial_path(new)
    if partial.exists() and source.exists() and partial.samefile(source):
        return (
            f"{new}: would be written as {partial} first, which is the file to read; choose "
            "another name for the new file"
        )
    return None
