"""Isolation: regions and accounts with tables of their own, in one server.

A request belongs to the region in its credential scope and to the account of its user:

    in the credentials file    `account` of the user, else as below
    an id of twelve digits     the account itself: 123456789012
    an id of AWS (AKIA…)       the account that AWS encodes in it
    any other id               that of the file, 123456789012 for new files

Each region and account has an engine of its own, which is opened with the first request. The engine
of a database `shop.db` in eu-west-1 is `shop.eu-west-1.123456789012.db`; that of us-east-1 and the
account of `shop.db` is `shop.db` itself.

`IsolatedEngines` takes the place of an engine in the server: steps carry their engine, and are
grouped by it when they run.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import structs

from tablewright.engine import Engine, LongStep, ReadStep, Step, WriteStep
from tablewright.engine.access.account_scope import AccountScope, ScopedEngine
from tablewright.engine.contributors import Contributors
from tablewright.engine.realism import Realism
from tablewright.errors import InvalidValue, LimitExceededException, ValidationException
from tablewright.policy import Principal
from tablewright.server.access.authentication import find_header
from tablewright.server.access.credentials import Caller
from tablewright.sigv4 import query_parameters

#: The number of regions and accounts of one server.
MAX_SCOPES = 100


class _Read(ReadStep, kw_only=True):
    engine: Engine


class _Write(WriteStep, kw_only=True):
    engine: Engine


class _Long(LongStep, kw_only=True):
    engine: Engine


class ScopedPreparer:
    """Prepares the requests of one region and account."""

    def __init__(self, engine: ScopedEngine) -> None:
        self.engine = engine

    def prepare(self, operation: str, request: object, policy: Principal | None = None) -> Step:
        """Prepare a request; its step carries the engine."""
        step = self.engine.prepare(operation, request, policy)
        members: dict[str, Any] = {**structs.asdict(step), "engine": self.engine}
        if isinstance(step, WriteStep):
            return _Write(**members)
        return _Long(**members) if isinstance(step, LongStep) else _Read(**members)


class IsolatedEngines:
    """The engines of a server, by region and account.

    `settings` are the keyword arguments of `Engine`. The engine of the default scope is opened at
    once, so that a wrong path is found.
    """

    def __init__(self, path: str | Path = ":memory:", **settings: Any) -> None:
        self._path = str(path)
        self._settings = settings
        self._realism: Realism | None = None
        self._members: dict[AccountScope, ScopedPreparer] = {}
        #: The scopes of credentials that were seen: of their access key ids and regions.
        self._seen: dict[tuple[bytes, bytes], AccountScope] = {}
        self.default = ScopedEngine(path, **settings)
        self._home = self.default.scope
        self._members[self._home] = ScopedPreparer(self.default)

    def find(
        self, url: bytes | bytearray, headers: Mapping[bytes, bytes], caller: Caller | None
    ) -> ScopedPreparer:
        """Return what prepares a request, by its credentials."""
        key_id, region = read_credential(url, headers)
        scope = self._seen.get((key_id, region))
        if scope is None or caller is not None:
            account = caller.account if caller is not None else None
            try:
                account = account or account_of(key_id, self._home.account)
                scope = AccountScope(region.decode("latin-1"), account)
            except InvalidValue as error:
                raise ValidationException(str(error)) from None
            if len(self._seen) >= MAX_SCOPES * 10:
                self._seen.clear()
            self._seen[key_id, region] = scope
        self.find_engine(scope)
        return self._members[scope]

    def find_engine(self, scope: AccountScope) -> ScopedEngine:
        """Return the engine of a region and an account; open it with the first call."""
        member = self._members.get(scope)
        if member is None:
            if len(self._members) >= MAX_SCOPES:
                raise LimitExceededException(
                    f"This server has tables in {MAX_SCOPES} regions and accounts, which is its "
                    f"maximum; it cannot open {scope.region}, account {scope.account}"
                )
            engine = ScopedEngine(self._path_of(scope), scope=scope, **self._settings)
            if self._realism is not None:
                engine.make_realistic(self._realism)
            member = self._members[scope] = ScopedPreparer(engine)
        return member.engine

    def _path_of(self, scope: AccountScope) -> str:
        if self._path == ":memory:" or scope == self._home:
            return self._path
        path = Path(self._path)
        return str(path.with_name(f"{path.stem}.{scope.region}.{scope.account}{path.suffix}"))

    # --- as an engine --------------------------------------------------------------------------

    @property
    def path(self) -> str:
        return self._path

    def read_all(self, steps: Sequence[ReadStep]) -> list[bytes | BaseException]:
        return _run_by_engine(steps, Engine.read_all)

    def write_all(self, steps: Sequence[WriteStep]) -> list[bytes | BaseException]:
        return _run_by_engine(steps, Engine.write_all)

    def run_or_error(self, step: ReadStep | LongStep) -> bytes | BaseException:
        assert isinstance(step, (_Read, _Long))
        return step.engine.run_or_error(step)

    def make_realistic(self, realism: Realism) -> None:
        self._realism = realism
        for engine in self._engines():
            engine.make_realistic(realism)

    def trim(self) -> int:
        return sum(engine.trim() for engine in self._engines())

    def expire(self) -> int:
        return sum(engine.expire() for engine in self._engines())

    def probe(self) -> None:
        for engine in self._engines():
            engine.probe()

    def counted_keys(self) -> Iterator[tuple[str, str | None, Contributors]]:
        for scope, member in list(self._members.items()):
            for table, index, found in member.engine.counted_keys():
                yield f"{scope.account}/{scope.region}/{table}", index, found

    def close(self) -> None:
        for engine in self._engines():
            engine.close()

    def _engines(self) -> list[ScopedEngine]:
        return [member.engine for member in list(self._members.values())]


def _run_by_engine(
    steps: Sequence[Any], run: Callable[[Engine, Sequence[Any]], list[bytes | BaseException]]
) -> list[bytes | BaseException]:
    """Run the steps of each engine together; return the results in the order of the steps."""
    positions: dict[Engine, list[int]] = {}
    for position, step in enumerate(steps):
        positions.setdefault(step.engine, []).append(position)
    results: dict[int, bytes | BaseException] = {}
    for engine, chosen in positions.items():
        try:
            found = run(engine, [steps[position] for position in chosen])
        except Exception as error:  # the steps of other engines must still run
            found = [error] * len(chosen)
        results.update(zip(chosen, found, strict=True))
    return [results[position] for position in range(len(steps))]


def read_credential(url: bytes | bytearray, headers: Mapping[bytes, bytes]) -> tuple[bytes, bytes]:
    """Return the access key id and the region of a request that has been authenticated."""
    authorization = find_header(headers, b"authorization")
    if authorization is not None:
        credential = authorization.partition(b"Credential=")[2].partition(b",")[0].strip()
    else:
        given = dict(query_parameters(bytes(url).partition(b"?")[2]))
        credential = given.get(b"X-Amz-Credential", b"")
    parts = credential.split(b"/")
    return parts[0], parts[2] if len(parts) > 2 else b""


def account_of(access_key_id: bytes, default: str) -> str:
    """Return the account of an access key id.

    >>> account_of(b"123456789012", "000000000000"), account_of(b"test", "000000000000")
    ('123456789012', '000000000000')
    """
    if len(access_key_id) == 12 and access_key_id.isdigit():
        return access_key_id.decode()
    if len(access_key_id) == 20 and access_key_id[:4] in (b"AKIA", b"ASIA"):
        with suppress(ValueError):
            # AWS encodes the account in 40 of the bits that follow the first one.
            bits = int.from_bytes(base64.b32decode(access_key_id[4:])[:6], "big")
            account = (bits >> 7) & 0xFF_FFFF_FFFF
            if account < 10**12:
                return f"{account:012}"
    return default
