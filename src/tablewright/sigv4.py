"""Signature Version 4: canonical requests, keys, and the signer of requests.

    canonical request  ──sha256──▶ string to sign ──HMAC, with the day's key──▶ signature

Owns the layout of the signed texts, the derivation of keys, and the canonical form of each part of
a request. `Signer` signs the one kind of request that DynamoDB takes: the key is derived from the
secret once a day for each region, and what depends only on the credentials and the time is computed
once a second; each signature then costs three hashes. `server.access.signature` verifies.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from tablewright.errors import IncompleteSignatureException

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dynamodb"
TERMINATOR = "aws4_request"
CONTENT_TYPE = "application/x-amz-json-1.0"
UNRESERVED = "-_.~"
_ISO_BASIC = re.compile("[0-9]{8}T[0-9]{6}Z")
ORIGIN = re.compile(rb"^https?://[^/?]*")  # requests to a proxy have an absolute target


def canonical_request(
    method: str, path: str, query: str, header_lines: str, signed_names: str, body_hash: str
) -> str:
    """Return the text whose hash is signed. `header_lines` has one `name:value\\n` per header."""
    return f"{method}\n{path}\n{query}\n{header_lines}\n{signed_names}\n{body_hash}"


def scope_of(day: str, region: str) -> str:
    """Return the credential scope of one day in one region.

    >>> scope_of("20260115", "eu-west-1")
    '20260115/eu-west-1/dynamodb/aws4_request'
    """
    return f"{day}/{region}/{SERVICE}/{TERMINATOR}"


def string_to_sign(moment: str, scope: str, request_hash: str) -> str:
    """Return the text that is signed, for a request made at `moment` (`YYYYMMDDTHHMMSSZ`)."""
    return f"{ALGORITHM}\n{moment}\n{scope}\n{request_hash}"


@lru_cache(maxsize=256)  # four HMACs are two thirds of a verification
def signing_key(secret: str, day: str, region: str) -> bytes:
    """Return the key that signs one day's requests in one region."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, SERVICE, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


# --- the parts of a request -----------------------------------------------------------------------


def canonical_headers(signed: tuple[bytes, ...], folded: Mapping[bytes, bytes]) -> str:
    """Return the canonical headers. As on AWS, spaces are folded and a missing header is empty."""
    # Split as bytes: str.split() also splits at the spaces of Latin-1 beyond ASCII.
    lines = [b"%b:%b\n" % (name, b" ".join(folded.get(name, b"").split())) for name in signed]
    return b"".join(lines).decode("latin-1")


def is_root(url: bytes | bytearray) -> bool:
    """Return whether a request's target has the path `/`, with any query string.

    >>> is_root(b"/?a=b"), is_root(b"http://localhost:8000"), is_root(b"/tables")
    (True, True, False)
    """
    return ORIGIN.sub(b"", bytes(url).partition(b"?")[0], 1) in (b"", b"/")


def split_target(url: bytes) -> tuple[str, bytes]:
    """Return the canonical path and the query string of a request's target."""
    if url == b"/":
        return "/", b""
    url = ORIGIN.sub(b"", url, 1) or b"/"
    path, _, query = url.partition(b"?")
    if not path.startswith(b"/"):
        return quote(path, safe=UNRESERVED), query
    # The path is escaped already. For every service but S3 it is escaped once more.
    normal = b"/" + normpath(path).lstrip(b"/")
    if path.endswith(b"/") and normal != b"/":
        normal += b"/"
    return quote(normal, safe="/" + UNRESERVED), query


def query_parameters(query: bytes) -> list[tuple[bytes, bytes]]:
    """Return the names and values of a query string, unescaped."""
    pairs = (part.partition(b"=") for part in query.split(b"&") if part)
    return [(unquote_to_bytes(name), unquote_to_bytes(value)) for name, _, value in pairs]


def canonical_query(parameters: list[tuple[bytes, bytes]]) -> str:
    """Return a query string with its parameters escaped and sorted."""
    escaped = sorted(
        (quote(name, safe=UNRESERVED), quote(value, safe=UNRESERVED)) for name, value in parameters
    )
    return "&".join(f"{name}={value}" for name, value in escaped)


def read_date(text: str) -> tuple[float, str]:
    """Parse a date. Return it in seconds since 1970 and in ISO 8601's basic format."""
    try:
        if _ISO_BASIC.fullmatch(text) is not None:
            return _seconds(text), text
        from email.utils import parsedate_to_datetime

        date = parsedate_to_datetime(text)  # a Date header of HTTP
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        return seconds, to_iso_basic(seconds)
    except (ValueError, OverflowError):
        raise IncompleteSignatureException(
            f"Date must be in ISO-8601 'basic format'. Got '{text}'. "
            "See http://en.wikipedia.org/wiki/ISO_8601"
        ) from None


@lru_cache(maxsize=64)  # the requests of one second have the same date; strptime takes 8 µs
def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


def to_iso_basic(seconds: float) -> str:
    """Format a time in ISO 8601's basic format.

    >>> to_iso_basic(1_768_435_200)
    '20260115T000000Z'
    """
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


def format_duration(seconds: int) -> str:
    """Format a duration as AWS does: `15 min`."""
    return f"{seconds} sec" if seconds % 60 else f"{seconds // 60} min"


# --- signing --------------------------------------------------------------------------------------


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
        self, credentials: SigningCredentials, target: str, body: bytes, now: int
    ) -> bytes:
        """Return the bytes of a signed request.

        `target` is its X-Amz-Target header; `now` is in seconds since 1970.
        """
        second = self._second
        if second.at != now or second.credentials != credentials:
            self._second = second = self._prepare(credentials, now)
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
