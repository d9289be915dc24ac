"""The credentials file: who may send requests, and with which keys.

    [users.alice]
    policies = ["alice.json"]                    # IAM policies: files beside this one, or inline
    tags = { team = "billing" }

    [[users.alice.keys]]
    access_key_id = "TWAK2HNB6Q7GV3MZRLXC"
    secret_access_key = "…"
    session_token = "…"                          # optional
    expires = 2027-01-01T00:00:00Z               # optional

    [[users.bob.keys]]
    command = ["vault-reader", "dynamodb/bob"]   # prints what AWS's credential_process prints

Owns the format: reading it, and every message about a mistake in it. Does not know when to read it
again (`credentials`) or how to change it (`credentials_edit`).

Invariants:
- A file that others than its owner can read or write is refused, as ssh does with keys.
- No message and no repr contains a secret or a session token.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from tablewright.errors import CredentialsRefused, InvalidValue
from tablewright.hints import closest
from tablewright.policy import Principal

NAME = re.compile(r"[\w+=,.@-]{1,64}", re.ASCII)  # as IAM's names of users
ACCESS_KEY_ID = re.compile(r"[\w.-]{3,128}", re.ASCII)
COMMAND_SECONDS = 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class User:
    """One access key, with the user it belongs to. `expires` is in seconds since 1970."""

    name: str
    access_key_id: str
    secret: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    #: Decides what the user may do; None: everything.
    principal: Principal | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """One `[[users.NAME.keys]]`: either a secret, or a command that prints one."""

    where: str
    access_key_id: str = ""
    secret: str = field(default="", repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One `[users.NAME]`, as it is written."""

    name: str
    keys: tuple[Key, ...]
    tags: Mapping[str, str]
    #: None: the user may do everything.
    policies: tuple[Mapping[str, Any], ...] | None
    principal: Principal | None

    def user(self, key: Key) -> User:
        """Return the user with one of its keys, running the key's command if it has one."""
        issued = run(key) if key.command else key
        return User(
            self.name,
            issued.access_key_id,
            issued.secret,
            issued.session_token,
            issued.expires,
            self.principal,
        )


def read(path: Path, watch: Callable[[Path], object]) -> list[Entry]:
    """Return the entries of a file. Raise `CredentialsRefused` for any mistake in it.

    Calls `watch` with each file, before it is read.
    """
    watch(path)
    return parse(path, read_private(path), watch)


def read_private(path: Path) -> str:
    """Return the text of a file that only its owner can read."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise CredentialsRefused(
                    f"{path}: mode {mode:04o} lets other users read or write the secrets; "
                    f"run: chmod 600 {path}"
                )
            return file.read()
    except OSError as error:
        raise CredentialsRefused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CredentialsRefused(f"{path}: the file is not UTF-8 text") from None


def parse(path: Path, text: str, watch: Callable[[Path], object]) -> list[Entry]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # it names the line; `from None`: it holds the text
        raise CredentialsRefused(f"{path}: not valid TOML: {error}") from None
    check_names(str(path), document, ("users",))
    users = expect(document.get("users", {}), dict, f"{path}: users", "a table: [users.NAME]")
    entries = [_entry(path, name, table, watch) for name, table in users.items()]
    seen: dict[str, str] = {}
    for entry in entries:
        for key in entry.keys:
            if key.access_key_id and key.access_key_id in seen:
                raise CredentialsRefused(
                    f"{key.where}: the access key id {key.access_key_id} is also used by "
                    f"{seen[key.access_key_id]}"
                )
            seen[key.access_key_id] = entry.name
    return entries


def _entry(path: Path, name: str, table: object, watch: Callable[[Path], object]) -> Entry:
    where = f"{path}: user {name}"
    if not NAME.fullmatch(name):
        raise CredentialsRefused(
            f"{path}: user {name!r}: a name has 1 to 64 letters, digits or any of _+=,.@-"
        )
    settings = expect(table, dict, where, f"a table: [users.{name}]")
    check_names(where, settings, ("keys", "tags", "policies"))
    keys = expect(settings.get("keys", []), list, where, f"keys as tables: [[users.{name}.keys]]")
    tags = expect(settings.get("tags", {}), dict, f"{where}: tags", "a table of strings")
    for tag, value in tags.items():
        expect(value, str, f"{where}: tag {tag}", "a string in quotes")
    policies: tuple[Mapping[str, Any], ...] | None = None
    principal = None
    if "policies" in settings:
        listed = expect(
            settings["policies"], list, f"{where}: policies", "a list of files or documents"
        )
        policies = tuple(_policy(path, where, policy, watch) for policy in listed)
        try:
            principal = Principal(name, policies, tags=tags)
        except InvalidValue as error:
            raise CredentialsRefused(f"{where}: policies: {error}") from None
    return Entry(
        name,
        tuple(_key(f"{where}, key {number}", key) for number, key in enumerate(keys, 1)),
        tags,
        policies,
        principal,
    )


def _key(where: str, table: object) -> Key:
    settings = expect(table, dict, where, "a table")
    if "command" in settings:
        check_names(where, settings, ("command",), "beside `command`, which returns the rest")
        command = expect(settings["command"], list, f"{where}: command", 'a list: ["program", "x"]')
        for argument in command:
            expect(argument, str, f"{where}: command", "a list of strings")
        if not command:
            raise CredentialsRefused(f"{where}: command is empty; name a program")
        return Key(where, command=tuple(command))
    check_names(where, settings, ("access_key_id", "secret_access_key", "session_token", "expires"))
    expires = settings.get("expires")
    if expires is not None:
        expires = expect(expires, datetime, f"{where}: expires", "a date: 2027-01-01T00:00:00Z")
    return _checked(
        where,
        settings.get("access_key_id"),
        settings.get("secret_access_key"),
        settings.get("session_token"),
        expires,
        ("access_key_id", "secret_access_key", "session_token", "expires"),
    )


def _checked(
    where: str,
    access_key_id: object,
    secret: object,
    token: object,
    expires: datetime | None,
    names: tuple[str, str, str, str],
) -> Key:
    """Return a key; `names` are the names of its four settings, for messages."""
    for name, value in zip(names, (access_key_id, secret), strict=False):
        if value is None:
            raise CredentialsRefused(f"{where}: {name} is missing")
    access_key_id = expect(access_key_id, str, f"{where}: {names[0]}", "a string in quotes")
    if not ACCESS_KEY_ID.fullmatch(access_key_id):
        raise CredentialsRefused(
            f"{where}: {names[0]} {access_key_id!r} must have 3 to 128 letters, digits or "
            "any of _.-"
        )
    secret = expect(secret, str, f"{where}: {names[1]}", "a string in quotes")
    if not secret:
        raise CredentialsRefused(f"{where}: {names[1]} is empty")
    if token is not None and not expect(token, str, f"{where}: {names[2]}", "a string in quotes"):
        raise CredentialsRefused(f"{where}: {names[2]} is empty; leave it out")
    if expires is not None and expires.tzinfo is None:
        raise CredentialsRefused(
            f"{where}: {names[3]} {expires.isoformat()} has no time zone; add Z for UTC"
        )
    return Key(
        where,
        access_key_id,
        secret,
        None if token is None else str(token),
        None if expires is None else expires.timestamp(),
    )


def _policy(
    path: Path, where: str, policy: object, watch: Callable[[Path], object]
) -> dict[str, Any]:
    if isinstance(policy, str):
        file = path.parent / policy
        watch(file)
        where = f"{where}: policy {file}"
        try:
            policy = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise CredentialsRefused(f"{where}: {error.strerror}") from None
        except ValueError as error:
            raise CredentialsRefused(f"{where}: not valid JSON: {error}") from None
    document = expect(policy, dict, f"{where}: policies", "IAM policy documents or names of files")
    if "Statement" not in document:
        raise CredentialsRefused(
            f"{where}: the document has no Statement, so it is not an IAM policy"
        )
    return document


def run(key: Key) -> Key:
    """Run a key's command and return what it printed, as AWS defines credential_process."""
    where = f"{key.where}: command {key.command[0]}"
    try:
        done = subprocess.run(
            key.command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS
        )
    except OSError as error:
        raise CredentialsRefused(f"{where}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CredentialsRefused(f"{where}: no result after {COMMAND_SECONDS} s") from None
    # What it printed may hold secrets, so no message repeats it.
    if done.returncode != 0:
        raise CredentialsRefused(
            f"{where}: exit code {done.returncode}; run the command yourself to see its messages"
        )
    try:
        printed = json.loads(done.stdout)
        if not isinstance(printed, dict):
            raise TypeError
        expiration = printed.get("Expiration")
        expires = None if expiration is None else datetime.fromisoformat(expiration)
    except (ValueError, TypeError):
        raise CredentialsRefused(
            f"{where}: did not print JSON like "
            '{"Version": 1, "AccessKeyId": …, "SecretAccessKey": …, "Expiration": "…T…Z"}'
        ) from None
    return _checked(
        where,
        printed.get("AccessKeyId"),
        printed.get("SecretAccessKey"),
        printed.get("SessionToken"),
        expires,
        ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"),
    )


# --- checks ----------------------------------------------------------------------------------


def expect(value: object, kind: type[T], where: str, wanted: str) -> T:
    """Return the value if it is of this type; the message must not show it: it may be a secret."""
    if not isinstance(value, kind):
        raise CredentialsRefused(f"{where}: expected {wanted}, got {type(value).__name__}")
    return value


def check_names(
    where: str, settings: Mapping[str, object], known: Iterable[str], note: str = ""
) -> None:
    known = tuple(known)
    for name in settings:
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(known)}"
            raise CredentialsRefused(
                f"{where}: {name!r} is not a setting{' ' + note if note else ''}; {hint}"
            )
