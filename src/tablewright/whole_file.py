"""Files that appear whole: a process that is killed while it writes leaves the old file, or none.

A file is written under another name in the same folder and synced; then it gets its name, and the
folder is synced. The other name is
- `NAME.partial` for a new file. A killed process may leave it; the next run replaces it.
- `.NAME.RANDOM.partial` for a file that is replaced, so that several processes can replace it at
  once: the last one wins. A killed process may leave it; nothing reads it, and it can be deleted.

`open_private` opens files that only their owner can read and write.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

PARTIAL = ".partial"
#: A file cannot be created in a folder, or cannot be replaced there.
_FOLDER_REFUSES = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}
#: The file system has no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP}
_MAX_LINKS = 40
#: The characters of a name that a partial file has, too; a name has at most 255 bytes.
_NAME_PART = 50


@contextmanager
def create_whole(path: Path) -> Iterator[Path]:
    """Yield the name under which the block must write a file; it gets the name `path` at the end.

    An error in the block removes what was written. Raises `FileExistsError` if `path` exists then.
    """
    partial = _clear_partial(path)
    try:
        yield partial
        _sync(partial)
        _name_new(partial, path)
    finally:
        _clear_partial(path)
    _sync(path.parent)


def _name_new(partial: Path, path: Path) -> None:
    """Rename a file to a new name.

    Without hard links, a file that another process creates in the same moment is replaced.
    """
    try:
        os.link(partial, path)  # unlike a rename, a link never replaces a file
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        partial.rename(path)


def replace_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Create a file, or replace its content; it keeps its mode.

    A `private` file gets the mode 0600 and replaces a link; otherwise the link stays, a device, a
    pipe or an open file (`/dev/stdout`) is appended to, and a file that can be written in a folder
    that cannot be changed is overwritten.
    """
    if private:
        _replace(path, content, 0o600)
    elif _is_open_file(path) or (path.exists() and not path.is_file()):
        with path.open("ab") as file:
            file.write(content)
    else:
        path = path.resolve()
        try:
            _replace(path, content, path.stat().st_mode & 0o7777 if path.exists() else None)
        except OSError as error:
            if error.errno not in _FOLDER_REFUSES:
                raise
            path.write_bytes(content)
            _sync(path)


def _replace(path: Path, content: bytes, mode: int | None) -> None:
    def create(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    partial = path.with_name(f".{path.name[:_NAME_PART]}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        with open(partial, "xb", opener=create) as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)  # also what the umask removes
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None  # not a random name
        raise
    finally:
        partial.unlink(missing_ok=True)
    _sync(path.parent)


def _is_open_file(path: Path) -> bool:
    """Return whether a path is, or links to, the name of an open file or a file of the kernel."""
    for _ in range(_MAX_LINKS):
        path = path.parent.resolve() / path.name
        if path.is_relative_to("/proc") or path.is_relative_to("/dev/fd"):
            return True
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return False


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
    """Sync a file or a folder, if it can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: Path | str, mode: Literal["xb", "ab"]) -> BinaryIO:
    """Open a file to create it ("xb") or to append to it ("ab"); a new file gets mode 0600.

    Raises `OSError` if it cannot be opened; with "xb", `FileExistsError` if it exists.
    """
    return open(path, mode, opener=_open_owner_only)


def _open_owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
