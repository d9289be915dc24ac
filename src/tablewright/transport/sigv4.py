"""Signature Version 4, for the one kind of request that DynamoDB takes.

    canonical request  ──sha256──▶ string to sign ──HMAC, with the day's key──▶ Authorization

The key is derived from the secret once a day for each region; a signature then costs two hashes.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import NamedTuple

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
CONTENT_TYPE = "application/x-amz-json-1.0"


class Credentials(NamedTuple):
    """Who signs."""

    access_key: str
    secret_key: str
    token: str | None = None


class Signer:
    """Signs requests to one host in one region."""

    def __init__(self, host: str, region: str) -> None:
        self.host = host
        self.region = region
        self._day: tuple[str, str] = ("", "")  # of which secret and day the key is
        self._key = b""

    def headers(
        self, credentials: Credentials, target: str, body: bytes, now: datetime
    ) -> dict[str, str]:
        """The headers that a request needs beside its length, signed."""
        moment = now.strftime("%Y%m%dT%H%M%SZ")
        headers = {
            "content-type": CONTENT_TYPE,
            "host": self.host,
            "x-amz-date": moment,
            "x-amz-target": target,
        }
        if credentials.token is not None:
            headers["x-amz-security-token"] = credentials.token
        names = sorted(headers)
        signed = ";".join(names)
        lines = "".join(f"{name}:{headers[name]}\n" for name in names)
        hashed = hashlib.sha256(body).hexdigest()
        canonical = f"POST\n/\n\n{lines}\n{signed}\n{hashed}"
        scope = f"{moment[:8]}/{self.region}/{SERVICE}/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"{ALGORITHM}\n{moment}\n{scope}\n{digest}"
        key = self._signing_key(credentials.secret_key, moment[:8])
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        headers["authorization"] = (
            f"{ALGORITHM} Credential={credentials.access_key}/{scope}, "
            f"SignedHeaders={signed}, Signature={signature}"
        )
        return headers

    def _signing_key(self, secret: str, day: str) -> bytes:
        if self._day != (secret, day):
            key = f"AWS4{secret}".encode()
            for part in (day, self.region, SERVICE, "aws4_request"):
                key = hmac.digest(key, part.encode(), "sha256")
            self._day, self._key = (secret, day), key
        return self._key
