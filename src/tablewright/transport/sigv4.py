"""Signature Version 4, for the one kind of request that DynamoDB takes.

    canonical request  ──sha256──▶ string to sign ──HMAC, with the day's key──▶ Authorization

The key is derived from the secret once a day for each region, and whatever else depends on who
signs and when is made once a second; a signature then costs three hashes.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from typing import NamedTuple

from tablewright.sigv4 import (
    ALGORITHM,
    canonical_request,
    scope_of,
    signing_key,
    string_to_sign,
)

CONTENT_TYPE = "application/x-amz-json-1.0"
TARGET = "DynamoDB_20120810."


class Credentials(NamedTuple):
    """Who signs."""

    access_key: str
    secret_key: str
    token: str | None = None


class _Second(NamedTuple):
    """What all requests that one signer signs in one second have in common."""

    at: int
    credentials: Credentials
    key: bytes
    canonical: str  # with places for the operation and for the hash of the body
    to_sign: str  # with a place for the hash of the canonical request
    head: str  # with places for the operation, the signature and the length


class Signer:
    """Signs requests to one host in one region."""

    def __init__(self, host: str, region: str) -> None:
        self.host = host
        self.region = region
        self._second = _Second(-1, Credentials("", ""), b"", "", "", "")

    def request(self, credentials: Credentials, operation: str, body: bytes, now: int) -> bytes:
        """The bytes of a request, signed at `now`, in seconds since 1970."""
        second = self._second
        if second.at != now or second.credentials != credentials:
            self._second = second = self._begin(credentials, now)
        canonical = second.canonical % (operation, sha256(body).hexdigest())
        text = second.to_sign % sha256(canonical.encode()).hexdigest()
        signature = hmac.digest(second.key, text.encode(), "sha256").hex()
        return (second.head % (operation, signature, len(body))).encode() + body

    def _begin(self, credentials: Credentials, now: int) -> _Second:
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        day = moment[:8]
        headers = {"content-type": CONTENT_TYPE, "host": self.host, "x-amz-date": moment}
        if credentials.token is not None:
            headers["x-amz-security-token"] = credentials.token
        fixed = {name: value.replace("%", "%%") for name, value in headers.items()}
        signed = ";".join([*fixed, "x-amz-target"])  # they are in order
        scope = scope_of(day, self.region)
        who = f"{credentials.access_key}/{scope}".replace("%", "%%")
        lines = "".join(f"{name}:{value}\n" for name, value in fixed.items())
        lines += f"x-amz-target:{TARGET}%s\n"
        return _Second(
            at=now,
            credentials=credentials,
            key=signing_key(credentials.secret_key, day, self.region),
            canonical=canonical_request("POST", "/", "", lines, signed, "%s"),
            to_sign=string_to_sign(moment, scope, "%s"),
            head="POST / HTTP/1.1\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in fixed.items())
            + f"x-amz-target: {TARGET}%s\r\nauthorization: {ALGORITHM} Credential={who}, "
            f"SignedHeaders={signed}, Signature=%s\r\ncontent-length: %d\r\n\r\n",
        )
