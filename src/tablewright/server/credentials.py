"""The credentials in use: found by access key id, reloaded when their files change.

Owns which version of a credentials file is in use. Does not know its format
(`credentials_file`) or verify signatures (`signature`).

Invariants:
- `find` checks the clock, and once a second the status of the files. A thread does everything that
  takes longer: reading the files and running commands.
- A version with a mistake changes nothing: the previous one stays in use, and one log line has the
  reason.
- Credentials that a command issued stay valid until they expire, even if the command has issued
  new ones since: clients still use them.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tablewright.errors import CredentialsRefused
from tablewright.server.credentials_file import Caller, read_file

__all__ = ["Caller", "Credentials"]

log = logging.getLogger("tablewright.server")

CHECK_SECONDS = 1.0
#: How often the commands of expiring credentials run again.
RENEW_SECONDS = 60.0

#: A user's name and a command that issues credentials for it.
Issuer = tuple[str, tuple[str, ...]]


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
