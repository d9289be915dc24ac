"""Signature Version 4, for the one kind of request that DynamoDB takes.

    canonical request  ──sha256──▶ string to sign ──HMAC, with the day's key──▶ Authorization

The key is derived from the secret once a day for each region. What depends only on the credentials
and the time is computed once a second; each signature then costs three hashes.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from typing import NamedTuple

from tablewright.sigv4 import ALGORITHM, canonical_request, scope_of, signing_key, string_to_sign
from tablewright.wire.targets import target_of

CONTENT_TYPE = "application/x-amz-json-1.0"


class SigningCredentials(NamedTuple):
    """An access key and its secret, with a session token if it is temporary."""

    access_key: str
    secret_key: str
    token: str | None = None


class _SecondTemplates(NamedTuple):
    """The parts that all requests of one signer share within one second."""

    at: int
    credentials: SigningCredentials
    key: bytes
    canonical: str  # %s: the target, the hash of the body
    to_sign: str  # %s: the hash of the canonical request
    head: str  # %s, %s, %d: the target, the signature, the length


class Signer:
    """Signs requests to one host in one region."""

    def __init__(self, host: str, region: str) -> None:
        self.host = host
        self.region = region
        self._second = _SecondTemplates(-1, SigningCredentials("", ""), b"", "", "", "")

    def sign_request(
        self, credentials: SigningCredentials, operation: str, body: bytes, now: int
    ) -> bytes:
        """Return the bytes of a signed request; `now` is in seconds since 1970."""
        second = self._second
        if second.at != now or second.credentials != credentials:
            self._second = second = self._prepare(credentials, now)
        target = target_of(operation)
        canonical = second.canonical % (target, sha256(body).hexdigest())
        text = second.to_sign % sha256(canonical.encode()).hexdigest()
        signature = hmac.digest(second.key, text.encode(), "sha256").hex()
        return (second.head % (target, signature, len(body))).encode() + body

    def _prepare(self, credentials: SigningCredentials, now: int) -> _SecondTemplates:
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        day = moment[:8]
        headers = {"content-type": CONTENT_TYPE, "host": self.host, "x-amz-date": moment}
        if credentials.token is not None:
            headers["x-amz-security-token"] = credentials.token
        fixed = {name: value.replace("%", "%%") for name, value in headers.items()}
        signed = ";".join([*fixed, "x-amz-target"])  # in alphabetical order
        scope = scope_of(day, self.region)
        credential = f"{credentials.access_key}/{scope}".replace("%", "%%")
        lines = "".join(f"{name}:{value}\n" for name, value in fixed.items())
        lines += "x-amz-target:%s\n"
        return _SecondTemplates(
            at=now,
            credentials=credentials,
            key=signing_key(credentials.secret_key, day, self.region),
            canonical=canonical_request("POST", "/", "", lines, signed, "%s"),
            to_sign=string_to_sign(moment, scope, "%s"),
            head="POST / HTTP/1.1\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in fixed.items())
            + f"x-amz-target: %s\r\nauthorization: {ALGORITHM} Credential={credential}, "
            f"SignedHeaders={signed}, Signature=%s\r\ncontent-length: %d\r\n\r\n",
        )
