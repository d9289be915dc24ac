"""Authorization: is there one, and has it all its parts? DynamoDB's words where not.

Signatures are not verified: there are no accounts here, and any well-formed authorization is good.

A server has one `Access`. A connection asks it once for each request that names an operation, after
the body was parsed as JSON and before the operation's own checks (DynamoDB's order).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qs

from tablewright.errors import IncompleteSignatureException, MissingAuthenticationTokenException
from tablewright.server.telemetry import Caller

NO_TOKEN = "Request is missing Authentication Token"
#: No authorization begins like this.
UNKNOWN_SIGNER = b"\x00"


def check_authorization(
    authorization: bytes | None, url: bytes | bytearray, headers: Mapping[bytes, bytes]
) -> bytes:
    """Raise if an authorization is missing or not well formed, and say what is wrong with it.

    It may also be in the query string, for a request that was signed in advance. Gives what another
    good authorization of the same client begins with: everything but the signature.
    """
    if authorization is None:
        _check_query(bytes(url).partition(b"?")[2])
        return UNKNOWN_SIGNER
    if not authorization.startswith(b"AWS4-"):
        raise MissingAuthenticationTokenException(NO_TOKEN)
    message = "".join(
        f"Authorization header requires '{name}' parameter. "
        for name in ("Credential", "Signature", "SignedHeaders")
        if f"{name}=".encode() not in authorization
    )
    if not message:
        signer, signature, rest = authorization.partition(b"Signature=")
        return signer + signature if b"=" not in rest else UNKNOWN_SIGNER
    if b"x-amz-date" not in headers and b"date" not in headers:
        message += (
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    raise IncompleteSignatureException(f"{message}Authorization={authorization.decode('latin-1')}")


def _check_query(query: bytes) -> None:
    given = parse_qs(query, keep_blank_values=True)
    if b"X-Amz-Algorithm" not in given:
        raise MissingAuthenticationTokenException(NO_TOKEN)
    names = ("Algorithm", "Credential", "Signature", "SignedHeaders", "Date")
    missing = [name for name in names if not given.get(f"X-Amz-{name}".encode())]
    if missing:
        wants = (f"AWS query-string parameters must include 'X-Amz-{name}'. " for name in missing)
        raise IncompleteSignatureException(
            "".join(wants) + "Re-examine the query-string parameters."
        )


#: Clients whose authorization was found to be well formed are remembered, up to this number.
MAX_SIGNERS = 1000


class Access(Protocol):
    """Decides whether a request is let in."""

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> Caller | None:
        """Return who sent the request (None: not known), or raise a `Fault`.

        The names of the headers are in lower case. Each occurs once: headers that matter for
        security are refused when they are repeated, others are joined with a comma.
        """
        ...


class OpenAccess:
    """Lets in every request that has a well-formed authorization. No signature is verified."""

    def __init__(self) -> None:
        # What the authorizations of known clients begin with: everything but the signature.
        # A client's next request costs a look-up instead of the whole check.
        self._signers: set[bytes] = set()

    def authenticate(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
    ) -> Caller | None:
        authorization = headers.get(b"authorization")
        if authorization is not None:
            signer, _, signature = authorization.rpartition(b"Signature=")
            if signer in self._signers and b"=" not in signature:
                return None
        signer = check_authorization(authorization, url, headers)
        if signer != UNKNOWN_SIGNER:
            if len(self._signers) >= MAX_SIGNERS:
                self._signers.clear()
            self._signers.add(signer.removesuffix(b"Signature="))
        return None
