"""Files that appear whole: a process that is killed while it writes leaves the old file, or none.

A file is written under another name in the same folder, `NAME.partial`, and synced; then it gets
its name, and the folder is synced. A killed process may leave `NAME.partial`, which the next run
replaces.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tablewright.private_file import open_private

PARTIAL = ".partial"


@contextmanager
def create_whole(path: Path) -> Iterator[Path]:
    """Yield the name under which the block must write a file; it gets the name `path` at the end.

    An error in the block removes what was written. Raises `FileExistsError` if `path` exists then.
    """
    partial = _clear_partial(path)
    try:
        yield partial
        _sync(partial)
        os.link(partial, path)  # unlike a rename, a link never replaces a file
    finally:
        _clear_partial(path)
    _sync(path.parent)


def replace_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Create a file, or replace its content; it keeps its mode.

    A `private` file gets the mode 0600 and replaces a link; otherwise the link stays, and a device
    or a pipe is written to.
    """
    if not private:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path = path.resolve()
    partial = _clear_partial(path)
    try:
        with open_private(partial, "xb") if private else partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not private:
            shutil.copymode(path, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    _sync(path.parent)


def rename_whole(partial: Path, path: Path) -> None:
    """Give a synced file its name, and sync the folder. Replaces an existing file."""
    partial.replace(path)
    _sync(path.parent)


def partial_path(path: Path) -> Path:
    """Return the name that a file has in `create_whole` until it is complete."""
    return path.with_name(path.name + PARTIAL)


def _clear_partial(path: Path) -> Path:
    """Remove what a killed process has left, with the logs of a database; return its name."""
    partial = partial_path(path)
    for ending in ("", "-wal", "-shm"):
        Path(f"{partial}{ending}").unlink(missing_ok=True)
    return partial


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
