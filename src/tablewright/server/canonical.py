"""The canonical parts of a request that Signature Version 4 signs, and its date.

Does not compute or compare signatures.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from posixpath import normpath
from urllib.parse import quote, unquote_to_bytes

from tablewright.errors import IncompleteSignatureException

UNRESERVED = "-_.~"
_ISO_BASIC = re.compile("[0-9]{8}T[0-9]{6}Z")
ORIGIN = re.compile(rb"^https?://[^/?]*")  # requests to a proxy have an absolute target


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
