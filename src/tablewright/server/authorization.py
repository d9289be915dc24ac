"""Who sends a request: the access object that a connection asks before it does anything.

    OpenAccess      no accounts: any well-formed authorization is accepted
    SignedAccess    every request is signed with a key of the credentials file

Both have one method, `authenticate`, which returns the caller or raises DynamoDB's fault. Headers
are the mapping that the connection itself reads, in the client's spelling. What a caller may do is
not decided here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from tablewright.errors import MissingAuthenticationTokenException
from tablewright.server.canonical import query_parameters
from tablewright.server.credentials import Credentials, User
from tablewright.server.signature import (
    NO_TOKEN,
    PARTS,
    SIGNATURE_SIZE,
    WINDOW_SECONDS,
    Verifier,
    check_query,
    incomplete,
)

#: What OpenAccess remembers: how many signers, of how many bytes.
MAX_SIGNERS = 1024
MAX_SIGNER = 1024


class Access(Protocol):
    """What a connection asks for the sender of a request."""

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> User | None:
        """Return the caller, None where there are no accounts. Raise a fault to refuse it."""
        ...


class SignedAccess:
    """Accepts requests that a user of the credentials signed.

    With a `region`, signatures for other regions are refused. `window_seconds` is how far a
    signature's date may be from the clock, and so how long a captured request can be repeated.
    """

    def __init__(
        self,
        credentials: Credentials,
        clock: Callable[[], float] = time.time,
        *,
        region: str | None = None,
        window_seconds: int = WINDOW_SECONDS,
    ) -> None:
        verifier = Verifier(
            credentials.find, clock=clock, region=region, window_seconds=window_seconds
        )
        self.authenticate = verifier.verify


class OpenAccess:
    """Accepts any authorization that has all its parts; signatures are not verified."""

    def __init__(self) -> None:
        #: Well-formed authorizations without their signatures: a client sends the same all day.
        self._signers: set[bytes] = set()

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> None:
        """Raise if an authorization is missing or not well formed, saying what is wrong with it."""
        authorization = find_header(headers, b"authorization")
        if authorization is None:
            self._check_query(bytes(url).partition(b"?")[2])
        elif authorization[:-SIGNATURE_SIZE] not in self._signers:
            self._check_header(authorization, headers)

    def _check_header(self, authorization: bytes, headers: Mapping[bytes, bytes]) -> None:
        if not authorization.startswith(b"AWS4-"):
            raise MissingAuthenticationTokenException(NO_TOKEN)
        missing = [name for name in PARTS if f"{name}=".encode() not in authorization]
        if missing:
            dates = (find_header(headers, name) for name in (b"x-amz-date", b"date"))
            raise incomplete(
                missing,
                authorization.decode("latin-1"),
                has_date=any(date is not None for date in dates),
            )
        signer, signature = authorization[:-SIGNATURE_SIZE], authorization[-SIGNATURE_SIZE:]
        if signer.endswith(b"Signature=") and b"=" not in signature and len(signer) < MAX_SIGNER:
            if len(self._signers) >= MAX_SIGNERS:
                self._signers.clear()
            self._signers.add(signer)

    def _check_query(self, query: bytes) -> None:
        given = {name: value.decode("latin-1") for name, value in query_parameters(query)}
        if b"X-Amz-Algorithm" not in given:
            raise MissingAuthenticationTokenException(NO_TOKEN)
        check_query(given)


def find_header(headers: Mapping[bytes, bytes], name: bytes) -> bytes | None:
    """Return a header, whatever the client's spelling. `name` is in lower case."""
    value = headers.get(name) or headers.get(name.title())  # the usual spellings
    if value is None:
        return next((value for given, value in headers.items() if given.lower() == name), None)
    return value
