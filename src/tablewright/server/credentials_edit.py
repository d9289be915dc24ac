"""Changes to a credentials file: add a key, remove a user or a key.

Invariants:
- A change replaces the file atomically, with mode 0600, while its directory is locked: a reader
  sees the file before or after it, and concurrent changes all take effect.
- The text around a change stays as it is, comments included. So a change is made to lines, and the
  result is read again before it is written: the file is left alone unless exactly what was asked
  for has changed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tablewright.errors import CredentialsRefused
from tablewright.server.credentials_file import Entry, parse, read_private

HEADER = re.compile(r"\s*\[")
BARE = re.compile(r"[A-Za-z0-9_-]+")


def new_access_key_id() -> str:
    """Return a random access key id of 20 characters, which is none of AWS's."""
    return "TWAK" + base64.b32encode(secrets.token_bytes(10)).decode()


def new_secret() -> str:
    """Return a random secret of 40 characters."""
    return base64.b64encode(secrets.token_bytes(30)).decode()


def add(
    path: Path,
    name: str,
    access_key_id: str,
    secret: str,
    *,
    policies: Sequence[Path] = (),
    tags: Mapping[str, str] | None = None,
) -> None:
    """Add a key, and the user if there is none of this name. Create the file if it is missing.

    Raise `CredentialsRefused` if the user exists and policies or tags are given, or if the key or
    the name is not valid.
    """
    with locked(path) as file:
        text = read_private(file) if file.exists() else ""
        known = {entry.name for entry in entries_of(file, text)}
        block = []
        if name not in known:
            block = [f"[users.{quoted(name)}]"]
            if policies:
                listed = [relative_to(policy, file.parent) for policy in policies]
                block.append(f"policies = {json.dumps(listed, ensure_ascii=False)}")
            if tags:
                pairs = (f"{quoted(tag)} = {in_quotes(value)}" for tag, value in tags.items())
                block.append(f"tags = {{ {', '.join(pairs)} }}")
            block.append("")
        elif policies or tags:
            raise CredentialsRefused(
                f"{path}: user {name} exists. Policies and tags belong to the user, not to a key: "
                "edit them in the file, and add the key without --policy and --tag"
            )
        block += [
            f"[[users.{quoted(name)}.keys]]",
            f"access_key_id = {in_quotes(access_key_id)}",
            f"secret_access_key = {in_quotes(secret)}",
            "",
        ]
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        changed = text + gap + "\n".join(block)
        entries_of(file, changed)  # raises for what is wrong with the new key
        write(file, changed)


def remove(path: Path, name_or_key: str) -> list[str]:
    """Remove a user with all its keys, or one key. Return the access key ids that were removed."""
    with locked(path) as file:
        text = read_private(file)
        entries = entries_of(file, text)
        user = next((entry for entry in entries if entry.name == name_or_key), None)
        if user is not None:
            removed = [key.access_key_id or "(from a command)" for key in user.keys]
            expected = [entry for entry in entries if entry is not user]
            changed = without(text, user.name, lambda _: True)
        else:
            removed = [name_or_key]
            owner = next(
                (e for e in entries for k in e.keys if k.access_key_id == name_or_key), None
            )
            if owner is None:
                raise CredentialsRefused(f"{path}: no user or access key id {name_or_key!r}")
            kept = tuple(key for key in owner.keys if key.access_key_id != name_or_key)
            expected = [replace(e, keys=kept) if e is owner else e for e in entries]
            of_key = re.compile(
                rf"""(?m)^\s*access_key_id\s*=\s*["']{re.escape(name_or_key)}["']"""
            )
            changed = without(text, owner.name, lambda block: bool(of_key.search(block)))
        try:
            same = comparable(entries_of(file, changed)) == comparable(expected)
        except CredentialsRefused:
            same = False
        if not same:
            raise CredentialsRefused(
                f"{path}: cannot remove {name_or_key} without changing other entries; "
                "remove it with an editor"
            )
        write(file, changed)
        return removed


def without(text: str, name: str, chosen: Callable[[str], bool]) -> str:
    """Return the text without those blocks of a user that are chosen.

    A block is a `[header]` with the comments directly above it and all lines below it.
    """
    spelled = "|".join(re.escape(form) for form in (name, f'"{name}"', f"'{name}'"))
    mine = re.compile(rf"(?m)^\s*\[+\s*users\s*\.\s*(?:{spelled})\s*[.\]]")
    blocks: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if HEADER.match(line):
            above: list[str] = []
            while blocks[-1] and blocks[-1][-1].lstrip().startswith("#"):
                above.insert(0, blocks[-1].pop())
            blocks.append(above)
        blocks[-1].append(line)
    joined = ("".join(block) for block in blocks)
    return "".join(block for block in joined if not (mine.search(block) and chosen(block)))


def entries_of(path: Path, text: str) -> list[Entry]:
    return parse(path, text, lambda _: None)


def comparable(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without what differs between two readings of the same text.

    A key holds its place in the file. Two principals are never equal; their policies are compared.
    """
    return [
        replace(entry, keys=tuple(replace(key, where="") for key in entry.keys), principal=None)
        for entry in entries
    ]


def quoted(name: str) -> str:
    return name if BARE.fullmatch(name) else in_quotes(name)


def in_quotes(text: str) -> str:
    """Write a text as TOML does; JSON's escapes are TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def relative_to(file: Path, directory: Path) -> str:
    file = file.resolve()
    return str(file.relative_to(directory) if file.is_relative_to(directory) else file)


@contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Hold the lock on a file's directory; the file itself is replaced, so it cannot be locked."""
    file = path.resolve()
    try:
        directory = os.open(file.parent, os.O_RDONLY)
    except OSError as error:
        raise CredentialsRefused(f"{file.parent}: {error.strerror}") from None
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield file
        os.fsync(directory)
    finally:
        os.close(directory)


def write(file: Path, text: str) -> None:
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink()
            raise
    except OSError as error:
        raise CredentialsRefused(f"{file}: cannot be written: {error.strerror}") from None
