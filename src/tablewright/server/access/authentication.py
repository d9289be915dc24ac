"""Authentication: find out who sent a request.

    OpenAuthenticator         no users: accept any well-formed authorization
    SignatureAuthenticator    require the signature of a user in the credentials file

Both have one method, `authenticate`, which returns the caller or raises a `DynamoDBError`. The
headers are the mapping that the connection itself reads, in the client's spelling. Policies decide
what a caller may do, not this module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from tablewright.errors import MissingAuthenticationTokenException, UnrecognizedClientException
from tablewright.server.access.signature import (
    NO_TOKEN,
    PARTS,
    SIGNATURE_SIZE,
    UNKNOWN_KEY,
    WINDOW_SECONDS,
    Verifier,
    check_query,
    incomplete_signature,
)
from tablewright.sigv4 import query_parameters

if TYPE_CHECKING:
    from tablewright.policy import Principal
    from tablewright.server.access.credentials import Caller, Credentials

#: OpenAuthenticator caches this many signers, each of at most this many bytes.
MAX_SIGNERS = 1024
MAX_SIGNER_SIZE = 1024


class Authenticator(Protocol):
    """Authenticates the requests of all connections."""

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> Caller | None:
        """Return the caller, or None without users. Raise `DynamoDBError` to refuse the request."""
        ...


class SignatureAuthenticator:
    """Accepts requests that a user in the credentials file has signed.

    With a `region`, signatures for other regions are refused. `window_seconds` is the maximum
    difference between a signature's date and the clock; a captured request can be sent again
    during this time.
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
        self._credentials = credentials

    def find_principal(self, user: str) -> Principal | None:
        """Return what evaluates the policies of a user; None: the user may do everything.

        Raise UnrecognizedClientException if the user has no key any more.
        """
        caller = self._credentials.find_user(user)
        if caller is None:
            raise UnrecognizedClientException(UNKNOWN_KEY)
        return caller.principal


class OpenAuthenticator:
    """Accepts every authorization that has all its parts; does not verify signatures."""

    def __init__(self) -> None:
        #: Authorizations without their signatures: a client sends the same one all day.
        self._signers: set[bytes] = set()

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> None:
        """Raise `DynamoDBError` if the authorization is missing or malformed."""
        authorization = headers.get(b"authorization") or find_header(headers, b"authorization")
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
            raise incomplete_signature(
                missing,
                authorization.decode("latin-1"),
                has_date=any(date is not None for date in dates),
            )
        signer, signature = authorization[:-SIGNATURE_SIZE], authorization[-SIGNATURE_SIZE:]
        if (
            signer.endswith(b"Signature=")
            and b"=" not in signature
            and len(signer) < MAX_SIGNER_SIZE
        ):
            if len(self._signers) >= MAX_SIGNERS:
                self._signers.clear()
            self._signers.add(signer)

    def _check_query(self, query: bytes) -> None:
        given = {name: value.decode("latin-1") for name, value in query_parameters(query)}
        if b"X-Amz-Algorithm" not in given:
            raise MissingAuthenticationTokenException(NO_TOKEN)
        check_query(given)


def find_header(headers: Mapping[bytes, bytes], name: bytes) -> bytes | None:
    """Return a header in any spelling, or None. `name` is in lower case."""
    value = headers.get(name) or headers.get(name.title())  # the usual spellings
    if value is None:
        return next((value for given, value in headers.items() if given.lower() == name), None)
    return value
