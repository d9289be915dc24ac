"""The name of a new database file."""

from __future__ import annotations

from pathlib import Path


def name_problem(new: Path) -> str | None:
    """Return why a new database file cannot have this name, as a message; None if it can."""
    log = Path(f"{new}-wal")
    if new.exists():
        return f"{new}: the file exists; choose another name for the new file"
    if log.exists():
        return (
            f"{log}: is the log of another file, which SQLite would apply to the new one; move it "
            "away (beside its own file, if that was moved), or choose another name for the new file"
        )
    return None
