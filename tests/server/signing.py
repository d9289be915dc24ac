"""Requests as botocore signs them, in the form in which a connection hands them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Keys

NOW = 1_768_480_496  # 2026-01-15T12:34:56Z
MOMENT = "20260115T123456Z"
KEY_ID = "TWAK2HNB6Q7GV3MZRLXC"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = "a-session-token=="
BODY = b'{"TableName": "things", "Key": {"k": {"S": "a"}}}'
HEADERS = {
    "Host": "localhost:8000",
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.GetItem",
    "User-Agent": "Boto3/1.0",
}


@dataclass(frozen=True)
class Request:
    method: bytes
    url: bytes
    headers: Mapping[bytes, bytes]
    body: bytes

    def but(self, headers: Mapping[bytes, bytes | None] | None = None, **changes: Any) -> Request:
        """A request that differs; a header that is None is left out."""
        changed = {**self.headers, **(headers or {})}
        kept = {name: value for name, value in changed.items() if value is not None}
        return replace(self, headers=kept, **changes)

    def edited(self, old: bytes, new: bytes) -> Request:
        """A request with another text in its Authorization header."""
        assert old in self.headers[b"Authorization"]
        return self.but({b"Authorization": self.headers[b"Authorization"].replace(old, new)})


class BodySigningQueryAuth(SigV4QueryAuth):  # type: ignore[misc]  # botocore has no types
    """Botocore moves the body into the query string; this one keeps it, and signs it."""

    body = b""

    def payload(self, request: AWSRequest) -> str:
        request.data = self.body
        return str(super().payload(request))


def signed(
    *,
    key_id: str = KEY_ID,
    secret: str = SECRET,
    token: str | None = None,
    url: str = "http://localhost:8000/",
    headers: Mapping[str, str] | None = None,
    unsigned: tuple[str, ...] = (),
    body: bytes = BODY,
    region: str = "eu-west-1",
    service: str = "dynamodb",
    at: float = NOW,
) -> Request:
    """A request with an Authorization header. Headers that are `unsigned` are added afterwards."""
    auth = SigV4Auth(Keys(key_id, secret, token), service, region)
    given = {**HEADERS, **(headers or {})}
    kept = {name: value for name, value in given.items() if name not in unsigned}
    request = AWSRequest("POST", url, headers=kept, data=body)
    _sign(auth, request, at)
    return _sent(request, url, body).but({n.encode(): given[n].encode() for n in unsigned})


def presigned(
    *, token: str | None = None, expires: int | str = 3600, body: bytes = BODY, at: float = NOW
) -> Request:
    """A request with its authorization in the query string."""
    auth = BodySigningQueryAuth(Keys(KEY_ID, SECRET, token), "dynamodb", "eu-west-1", expires)
    auth.body = body
    request = AWSRequest("POST", "http://localhost:8000/", headers=HEADERS)
    _sign(auth, request, at)
    return _sent(request, request.url, body)


def _sign(auth: SigV4Auth, request: AWSRequest, at: float) -> None:
    """What botocore's `add_auth` does, at a time of our choice."""
    moment = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")
    request.context["timestamp"] = moment
    auth._modify_request_before_signing(request)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    auth._inject_signature_to_request(request, auth.signature(text, request))


def _sent(request: AWSRequest, url: str, body: bytes) -> Request:
    headers = {
        name.encode(): value if isinstance(value, bytes) else value.encode()
        for name, value in request.headers.items()
    }
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return Request(b"POST", target.encode(), headers, body)
