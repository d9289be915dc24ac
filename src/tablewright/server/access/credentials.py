"""Credentials: the users who may send requests, and their keys, read from the credentials file.

    [users.alice]
    policies = ["alice.json"]                    # IAM policies: files beside this one, or inline
    tags = { team = "billing" }
    account = "123456789012"                     # optional; for `serve --isolate-regions`

    [[users.alice.keys]]
    access_key_id = "TWAK2HNB6Q7GV3MZRLXC"
    secret_access_key = "…"
    session_token = "…"                          # optional
    expires = 2027-01-01T00:00:00Z               # optional

    [[users.bob.keys]]
    command = ["vault-reader", "dynamodb/bob"]   # prints what AWS's credential_process prints

Owns the format, all messages about mistakes in it, and which version of a file is in use. Does not
change files (`credentials_edit`) or verify signatures (`signature`).

Invariants:
- A file that other users can read or write is refused, as ssh refuses such keys.
- No message and no repr contains a secret or a session token.
- `find` checks the clock, and once a second the status of the files. A thread does everything that
  takes longer: reading the files and running commands.
- A version with a mistake changes nothing: the previous one stays in use, and one log line has the
  reason.
- Credentials that a command issued stay valid until they expire, even if the command has issued
  new ones since: clients still use them.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import stat
import subprocess
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from tablewright.errors import CredentialsRefused, InvalidValue
from tablewright.hints import closest
from tablewright.policy import Principal

log = logging.getLogger("tablewright.server")

CHECK_SECONDS = 1.0
#: How often the commands of expiring credentials run again.
RENEW_SECONDS = 60.0

NAME = re.compile(r"[\w+=,.@-]{1,64}", re.ASCII)  # as user names in IAM
ACCESS_KEY_ID = re.compile(r"[\w.-]{3,128}", re.ASCII)
ACCOUNT = re.compile(r"\d{12}", re.ASCII)
COMMAND_SECONDS = 60
#: The settings of a key, in the file and as a command prints them.
KEY_SETTINGS = ("access_key_id", "secret_access_key", "session_token", "expires")
PRINTED_SETTINGS = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
#: A user's name and a command that issues credentials for it.
Issuer = tuple[str, tuple[str, ...]]
T = TypeVar("T")


class Credentials:
    """The keys of one credentials file. Raises `CredentialsRefused` if it has a mistake."""

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self._clock = clock
        self._users: dict[str, Caller] = {}
        self._issued: dict[Issuer, list[Caller]] = {}
        self._seen: dict[Path, object] = {}  # the state of each file when it was read
        self._checked = clock()
        self._renew_at = math.inf
        self._reading: threading.Thread | None = None
        self._load()

    def find(self, access_key_id: str) -> Caller | None:
        """Return the caller with this access key, or None."""
        self._reload_if_changed()
        return self._users.get(access_key_id)

    def find_user(self, name: str) -> Caller | None:
        """Return a caller with this user name, with any of its keys, or None."""
        self._reload_if_changed()
        return next((user for user in self._users.values() if user.name == name), None)

    def _reload_if_changed(self) -> None:
        now = self._clock()
        if abs(now - self._checked) >= CHECK_SECONDS:  # abs: the clock may have been set back
            self._checked = now
            self._check(now)

    def is_empty(self) -> bool:
        """Return whether no user has a key, so that every request is refused."""
        return not self._users

    def join(self) -> None:
        """Wait until a reload in progress is complete."""
        if self._reading is not None:
            self._reading.join()

    def _check(self, now: float) -> None:
        if self._reading is not None and self._reading.is_alive():
            return
        if now >= self._renew_at or any(
            file_state(path) != seen for path, seen in self._seen.items()
        ):
            self._reading = threading.Thread(target=self._reload, name="credentials", daemon=True)
            self._reading.start()

    def _reload(self) -> None:
        try:
            self._load()
        except CredentialsRefused as error:
            log.error("%s; the previous credentials stay in use", error)

    def _load(self) -> None:
        now = self._clock()
        seen: dict[Path, object] = {}
        # Set before it can fail: a refused version is read again only after a file has changed.
        self._seen = seen
        self._renew_at = now + RENEW_SECONDS if self._renew_at < math.inf else math.inf
        entries = read_file(self.path, lambda path: seen.setdefault(path, file_state(path)))
        issued: dict[Issuer, list[Caller]] = {}
        users = []
        for entry in entries:
            for key in entry.keys:
                user = entry.caller(key)
                users.append(user)
                if key.command:
                    older = self._issued.get((entry.name, key.command), [])
                    issued[entry.name, key.command] = [
                        user,
                        *(
                            replace(old, principal=entry.principal)
                            for old in older
                            if old.access_key_id != user.access_key_id
                            and old.expires is not None
                            and old.expires > now
                        ),
                    ]
        found = {user.access_key_id: user for users in issued.values() for user in users}
        found |= {user.access_key_id: user for user in users}
        self._issued = issued
        self._users = found
        expiring = any(user.expires is not None for users in issued.values() for user in users)
        self._renew_at = now + RENEW_SECONDS if expiring else math.inf


def file_state(path: Path) -> object:
    """Return a value that differs after the file or its mode has changed; None if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


# --- the file ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Caller:
    """A user who sends requests, with one of its keys. `expires` is in seconds since 1970."""

    name: str
    access_key_id: str
    secret: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    #: Evaluates the user's policies; None: the user may do everything.
    principal: Principal | None = None
    #: The account of the user; None: that of the access key id.
    account: str | None = None


@dataclass(frozen=True, slots=True)
class AccessKey:
    """One `[[users.NAME.keys]]`: a key with its secret, or a command that prints a key."""

    where: str  # for messages: the file, the user and the number of the key
    access_key_id: str = ""
    secret: str = field(default="", repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires: float | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserEntry:
    """One `[users.NAME]` with its keys."""

    name: str
    keys: tuple[AccessKey, ...]
    tags: Mapping[str, str]
    #: None: the user may do everything.
    policies: tuple[Mapping[str, Any], ...] | None
    principal: Principal | None
    account: str | None = None

    def caller(self, key: AccessKey) -> Caller:
        """Return the user with one of its keys. Runs the key's command if it has one."""
        issued = run_command(key) if key.command else key
        return Caller(
            self.name,
            issued.access_key_id,
            issued.secret,
            issued.session_token,
            issued.expires,
            self.principal,
            self.account,
        )


def read_file(path: Path, watch: Callable[[Path], object]) -> list[UserEntry]:
    """Read the users in a file. Raises `CredentialsRefused` if the file has a mistake.

    Calls `watch` with the path of each file before it is read.
    """
    watch(path)
    return parse_text(path, read_private_file(path), watch)


def read_private_file(path: Path) -> str:
    """Return the text of a file; refuse it if other users can read or write it."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise CredentialsRefused(
                    f"{path}: mode {mode:04o} lets other users read or write the secrets; "
                    f"run: chmod 600 {path}"
                )
            return file.read()
    except FileNotFoundError:
        raise CredentialsRefused(
            f"{path}: no such file; create it with `tablewright credentials add {path} NAME`"
        ) from None
    except OSError as error:
        raise CredentialsRefused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CredentialsRefused(f"{path}: the file is not UTF-8 text") from None


def parse_text(path: Path, text: str, watch: Callable[[Path], object]) -> list[UserEntry]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # `from None`: the error holds the text
        raise CredentialsRefused(f"{path}: not valid TOML: {error}") from None
    check_names(str(path), document, ("users",))
    users = expect(document.get("users", {}), dict, f"{path}: users", "a table: [users.NAME]")
    entries = [_read_user(path, name, table, watch) for name, table in users.items()]
    seen: dict[str, str] = {}
    for entry in entries:
        for key in entry.keys:
            if key.access_key_id and key.access_key_id in seen:
                raise CredentialsRefused(
                    f"{key.where}: duplicate access_key_id {key.access_key_id}, also a key of user "
                    f"{seen[key.access_key_id]}; use another one"
                )
            seen[key.access_key_id] = entry.name
    return entries


def _read_user(path: Path, name: str, table: object, watch: Callable[[Path], object]) -> UserEntry:
    where = f"{path}: user {name}"
    if not NAME.fullmatch(name):
        raise CredentialsRefused(
            f"{path}: user {name!r}: a name must have 1 to 64 letters, digits or any of _+=,.@-"
        )
    settings = expect(table, dict, where, f"a table: [users.{name}]")
    check_names(where, settings, ("keys", "tags", "policies", "account"))
    account = settings.get("account")
    if account is not None and not ACCOUNT.fullmatch(
        expect(account, str, f"{where}: account", "a string in quotes")
    ):
        raise CredentialsRefused(f"{where}: account {account!r} must have 12 digits")
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
        policies = tuple(_read_policy(path, where, policy, watch) for policy in listed)
        try:
            arn = f"arn:aws:iam::{account}:user/{name}" if account else ""
            principal = Principal(name, policies, tags=tags, arn=arn)
        except InvalidValue as error:
            raise CredentialsRefused(f"{where}: policies: {error}") from None
    return UserEntry(
        name,
        tuple(_read_key(f"{where}, key {number}", key) for number, key in enumerate(keys, 1)),
        tags,
        policies,
        principal,
        account,
    )


def _read_key(where: str, table: object) -> AccessKey:
    settings = expect(table, dict, where, "a table")
    if "command" in settings:
        check_names(
            where, settings, ("command",), "of a key with a command, which prints all the others"
        )
        command = expect(settings["command"], list, f"{where}: command", 'a list: ["program", "x"]')
        for argument in command:
            expect(argument, str, f"{where}: command", "a list of strings")
        if not command:
            raise CredentialsRefused(f"{where}: command is an empty list; add a program")
        return AccessKey(where, command=tuple(command))
    check_names(where, settings, KEY_SETTINGS)
    expires = settings.get("expires")
    if expires is not None:
        expires = expect(expires, datetime, f"{where}: expires", "a date: 2027-01-01T00:00:00Z")
    return _make_key(where, settings, KEY_SETTINGS, expires)


def _make_key(
    where: str, given: Mapping[str, object], names: Sequence[str], expires: datetime | None
) -> AccessKey:
    """Check the values of a key and return it. `names` are its four settings."""
    access_key_id, secret, token = (given.get(name) for name in names[:3])
    for name in names[:2]:
        if given.get(name) is None:
            raise CredentialsRefused(
                f"{where}: {name} is missing; a key needs {' and '.join(names[:2])}"
            )
    access_key_id = expect(access_key_id, str, f"{where}: {names[0]}", "a string in quotes")
    if not ACCESS_KEY_ID.fullmatch(access_key_id):
        raise CredentialsRefused(
            f"{where}: {names[0]} {access_key_id!r} must have 3 to 128 letters, digits or "
            "any of _.-"
        )
    secret = expect(secret, str, f"{where}: {names[1]}", "a string in quotes")
    if not secret:
        raise CredentialsRefused(f"{where}: {names[1]} is empty; set the secret of the key")
    if token is not None and not expect(token, str, f"{where}: {names[2]}", "a string in quotes"):
        raise CredentialsRefused(f"{where}: {names[2]} is empty; leave it out")
    if expires is not None and expires.tzinfo is None:
        raise CredentialsRefused(
            f"{where}: {names[3]} {expires.isoformat()} has no time zone; add Z for UTC"
        )
    return AccessKey(
        where,
        access_key_id,
        secret,
        None if token is None else str(token),
        None if expires is None else expires.timestamp(),
    )


def _read_policy(
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


def run_command(key: AccessKey) -> AccessKey:
    """Run a key's command and return the key that it prints, as with AWS's credential_process."""
    where = f"{key.where}: command {key.command[0]}"
    try:
        done = subprocess.run(
            key.command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS
        )
    except OSError as error:
        raise CredentialsRefused(f"{where}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CredentialsRefused(f"{where}: timeout after {COMMAND_SECONDS} seconds") from None
    # No message contains its output, which may hold secrets.
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
    return _make_key(where, printed, PRINTED_SETTINGS, expires)


# --- checks ----------------------------------------------------------------------------------


def expect(value: object, kind: type[T], where: str, wanted: str) -> T:
    """Return the value if it has this type. The error does not show it: it may be a secret."""
    if not isinstance(value, kind):
        raise CredentialsRefused(f"{where}: expected {wanted}, got {type(value).__name__}")
    return value


def check_names(
    where: str, settings: Mapping[str, object], known: Iterable[str], note: str = ""
) -> None:
    """Raise if a setting is unknown. `note` follows "is not a setting" in the message."""
    known = tuple(known)
    for name in settings:
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(known)}"
            raise CredentialsRefused(
                f"{where}: {name!r} is not a setting{' ' + note if note else ''}; {hint}"
            )
