"""The object folder: a folder that stands for S3, with one folder for each bucket.

    s3://exports/2026/AWSDynamoDB/…    FOLDER/exports/2026/AWSDynamoDB/…

Buckets and keys come from requests, so they are not trusted. Invariants:
- No file outside of the folder is read, written or listed. A key whose parts are empty, `.` or
  `..`, or have characters that are not portable, is refused; so is a path with a symbolic link.
- A file is complete when it has its name, and only its owner can read it.

The folder is read and written by this process, without the S3 protocol.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tablewright.errors import ValidationException
from tablewright.whole_file import PARTIAL, create_whole, open_private

_PART = re.compile(r"[^\x00-\x1f\x7f/\\]+").fullmatch
#: Of file systems and of S3, in bytes.
_MAX_PART = 255
_MAX_KEY = 1024
_BUCKET = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}[a-zA-Z0-9]").fullmatch


class NoSuchBucket(Exception):
    """The folder of a bucket does not exist."""


class ObjectFolder:
    """Reads and writes the objects of buckets."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def require_usable(self, bucket: str, prefix: str) -> None:
        """Raise ValidationException if keys with this prefix cannot be files of the bucket."""
        if not _BUCKET(bucket):
            raise ValidationException(f"Invalid S3 bucket name: {bucket!r}")
        if len(prefix.encode()) > _MAX_KEY:
            raise ValidationException(
                f"Invalid S3 prefix {prefix[:50]!r}...: a key has at most {_MAX_KEY} bytes"
            )
        *folders, last = prefix.split("/")
        for part in (*folders, *([last] if last else [])):
            if part in ("", ".", "..") or not _PART(part) or len(part.encode()) > _MAX_PART:
                raise ValidationException(
                    f"Invalid S3 prefix {prefix!r}: its part {part!r} cannot be the name of a file"
                )
        self._refuse_links(self.root / bucket / prefix)

    @contextmanager
    def create(self, bucket: str, key: str) -> Iterator[IO[bytes]]:
        """Write an object; it gets its name when the block ends without an error."""
        self.require_usable(bucket, key)
        path = self.root / bucket / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with create_whole(path) as partial, open_private(partial, "xb") as data:
            yield data

    def find_objects(self, bucket: str, prefix: str) -> list[Path]:
        """Return the files whose keys have this prefix, in the order of the keys.

        Raise `NoSuchBucket`. Symbolic links are not objects.
        """
        self.require_usable(bucket, prefix)
        base = self.root / bucket
        if not base.is_dir():
            raise NoSuchBucket(bucket)
        folder, _, start = prefix.rpartition("/")
        top = base / folder
        found = ((path.relative_to(top).as_posix(), path) for path in _walk(top))
        return sorted(path for key, path in found if key.startswith(start))

    def _refuse_links(self, path: Path) -> None:
        """Refuse a path with a symbolic link below the root."""
        for part in (path, *path.parents):
            if part == self.root:
                return
            if part.is_symlink():
                raise ValidationException(
                    f"{part.relative_to(self.root)} is a symbolic link; the folder for S3 must not "
                    "have any"
                )


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the regular files in a folder and below, without following links."""
    for parent, _, names in os.walk(folder, followlinks=False):
        for name in names:
            path = Path(parent, name)
            # A killed export may have left a part of an object.
            if path.is_file() and not path.is_symlink() and path.suffix != PARTIAL:
                yield path
