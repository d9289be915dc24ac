"""Changes to a credentials file: add a key, remove a user or a key.

Invariants:
- A change replaces the file atomically, with mode 0600, while its directory is locked. A reader
  sees the old or the new file, and concurrent changes all take effect.
- The rest of the text stays as it is, including comments. The change is made on the lines of the
  text; the result is parsed before it is written, and refused if anything else has changed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tablewright.errors import CredentialsRefused
from tablewright.server.access.credentials import UserEntry, parse_text, read_private_file
from tablewright.whole_file import replace_whole

HEADER = re.compile(r"\s*\[")
BARE = re.compile(r"[A-Za-z0-9_-]+")


def new_access_key_id() -> str:
    """Return a random access key id of 20 characters. It cannot be one of AWS."""
    return "TWAK" + base64.b32encode(secrets.token_bytes(10)).decode()


def new_secret() -> str:
    """Return a random secret of 40 characters."""
    return base64.b64encode(secrets.token_bytes(30)).decode()


def add_key(
    path: Path,
    name: str,
    access_key_id: str,
    secret: str,
    *,
    policies: Sequence[Path] = (),
    tags: Mapping[str, str] | None = None,
) -> None:
    """Add a key, and the user if it is missing. Create the file if it is missing.

    Raises `CredentialsRefused` if the key or the name is not valid, or if the user exists and
    policies or tags are given.
    """
    with lock_directory(path) as file:
        text = read_private_file(file) if file.exists() else ""
        known = {entry.name for entry in parse_entries(file, text)}
        block = []
        if name not in known:
            block = [f"[users.{toml_key(name)}]"]
            if policies:
                listed = [relative_to(policy, file.parent) for policy in policies]
                block.append(f"policies = {json.dumps(listed, ensure_ascii=False)}")
            if tags:
                pairs = (f"{toml_key(tag)} = {toml_string(value)}" for tag, value in tags.items())
                block.append(f"tags = {{ {', '.join(pairs)} }}")
            block.append("")
        elif policies or tags:
            raise CredentialsRefused(
                f"{path}: user {name} exists. Policies and tags belong to the user, not to a key: "
                "add the key without --policy and --tag, and edit the file to change them"
            )
        block += [
            f"[[users.{toml_key(name)}.keys]]",
            f"access_key_id = {toml_string(access_key_id)}",
            f"secret_access_key = {toml_string(secret)}",
            "",
        ]
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        changed = text + gap + "\n".join(block)
        parse_entries(file, changed)  # raises if the new key is not valid
        replace_file(file, changed)


def remove_user_or_key(path: Path, name_or_key: str) -> list[str]:
    """Remove a user with all its keys, or one key. Return the removed access key ids."""
    with lock_directory(path) as file:
        text = read_private_file(file)
        entries = parse_entries(file, text)
        user = next((entry for entry in entries if entry.name == name_or_key), None)
        if user is not None:
            removed = [key.access_key_id or "(from a command)" for key in user.keys]
            expected = [entry for entry in entries if entry is not user]
            changed = remove_blocks(text, user.name, lambda _: True)
        else:
            removed = [name_or_key]
            owner = next(
                (e for e in entries for k in e.keys if k.access_key_id == name_or_key), None
            )
            if owner is None:
                raise CredentialsRefused(
                    f"{path}: no user or access key id {name_or_key!r}; "
                    f"`tablewright credentials list {path}` lists them"
                )
            kept = tuple(key for key in owner.keys if key.access_key_id != name_or_key)
            expected = [replace(e, keys=kept) if e is owner else e for e in entries]
            of_key = re.compile(
                rf"""(?m)^\s*access_key_id\s*=\s*["']{re.escape(name_or_key)}["']"""
            )
            changed = remove_blocks(text, owner.name, lambda block: bool(of_key.search(block)))
        try:
            same = comparable(parse_entries(file, changed)) == comparable(expected)
        except CredentialsRefused:
            same = False
        if not same:
            raise CredentialsRefused(
                f"{path}: cannot remove {name_or_key} without changing other entries; "
                "remove it with an editor"
            )
        replace_file(file, changed)
        return removed


def remove_blocks(text: str, name: str, chosen: Callable[[str], bool]) -> str:
    """Return the text without the blocks of a user for which `chosen` is true.

    A block is a `[header]`, the comments directly above it, and the lines up to the next block.
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


def parse_entries(path: Path, text: str) -> list[UserEntry]:
    return parse_text(path, text, lambda _: None)


def comparable(entries: Sequence[UserEntry]) -> list[UserEntry]:
    """Return the entries without the values that differ each time the same text is parsed.

    These are the position of a key in the file, and the principal; its policies are compared.
    """
    return [
        replace(entry, keys=tuple(replace(key, where="") for key in entry.keys), principal=None)
        for entry in entries
    ]


def toml_key(name: str) -> str:
    return name if BARE.fullmatch(name) else toml_string(name)


def toml_string(text: str) -> str:
    """Format a string in TOML. Its escapes are those of JSON, and DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def relative_to(file: Path, directory: Path) -> str:
    file = file.resolve()
    return str(file.relative_to(directory) if file.is_relative_to(directory) else file)


@contextmanager
def lock_directory(path: Path) -> Iterator[Path]:
    """Lock a file's directory. The file itself cannot be locked, because it is replaced."""
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


def replace_file(file: Path, text: str) -> None:
    try:
        replace_whole(file, text.encode(), private=True)
    except OSError as error:
        raise CredentialsRefused(f"{file}: cannot write the file: {error.strerror}") from None
