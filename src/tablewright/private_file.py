"""Files that only their owner can read and write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Literal


def open_private(path: Path | str, mode: Literal["xb", "ab"]) -> BinaryIO:
    """Open a file to create it ("xb") or to append to it ("ab"); a new file gets mode 0600.

    Raises `OSError` if it cannot be opened; with "xb", `FileExistsError` if it exists.
    """
    return open(path, mode, opener=_open_owner_only)


def _open_owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
