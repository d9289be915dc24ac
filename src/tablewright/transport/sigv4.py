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

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
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
        self._day = ("", "", b"")  # a secret, a day, and their key

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
        scope = f"{day}/{self.region}/{SERVICE}/aws4_request"
        who = f"{credentials.access_key}/{scope}".replace("%", "%%")
        return _Second(
            at=now,
            credentials=credentials,
            key=self._signing_key(credentials.secret_key, day),
            canonical="POST\n/\n\n"
            + "".join(f"{name}:{value}\n" for name, value in fixed.items())
            + f"x-amz-target:{TARGET}%s\n\n{signed}\n%s",
            to_sign=f"{ALGORITHM}\n{moment}\n{scope}\n%s",
            head="POST / HTTP/1.1\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in fixed.items())
            + f"x-amz-target: {TARGET}%s\r\nauthorization: {ALGORITHM} Credential={who}, "
            f"SignedHeaders={signed}, Signature=%s\r\ncontent-length: %d\r\n\r\n",
        )

    def _signing_key(self, secret: str, day: str) -> bytes:
        if self._day[:2] != (secret, day):
            key = f"AWS4{secret}".encode()
            for part in (day, self.region, SERVICE, "aws4_request"):
                key = hmac.digest(key, part.encode(), "sha256")
            self._day = (secret, day, key)
        return self._day[2]
