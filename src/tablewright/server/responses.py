"""Responses: the bytes of an HTTP response, as DynamoDB sends them, and compressed bodies.

    HTTP/1.1 200 OK
    Server: Server
    Date: Sun, 15 Nov 2026 08:00:00 GMT
    Content-Type: application/x-amz-json-1.0
    Content-Length: 2
    Connection: keep-alive
    x-amzn-RequestId: 8Q2V…0000000000000001        52 upper-case letters and digits
    x-amz-crc32: 2745614147                        of the body; the SDKs verify it

Invariants:
- A response is one `bytes` value, formatted from a template. There is one template for each status,
  content type and connection header. It contains the date, so it is cached for about a second.
- A request id is unique: a random prefix for each `ResponseBuilder`, and a counter.
- Decompressing never creates more than the limit that the caller gives, whatever a client sends.
- A response is compressed only if the client asks for it and the body has `MIN_COMPRESSED` bytes.
  Its checksum (x-amz-crc32) is that of the compressed bytes; signatures of requests cover the
  compressed bytes, too.

Nothing here knows of connections or the engine.
"""

from __future__ import annotations

import re
import secrets
import string
import time
import zlib
from functools import lru_cache
from zlib import crc32

AMZ_JSON = b"application/x-amz-json-1.0"
JSON = b"application/json"
TEXT = b"text/plain"

REASONS = {
    200: b"OK",
    400: b"Bad Request",
    403: b"Forbidden",
    404: b"Not Found",
    408: b"Request Timeout",
    413: b"Request Entity Too Large",
    421: b"Misdirected Request",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_HEAD = (
    b"HTTP/1.1 %d %b\r\n"
    b"Server: Server\r\n"
    b"Date: %b\r\n"
    b"Content-Type: %b\r\n"
    b"Content-Length: %%d\r\n"
    b"Connection: %b\r\n"
    b"x-amzn-RequestId: %b%%016d\r\n"
    b"x-amz-crc32: %%d\r\n"
    b"\r\n"
    b"%%b"
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # not those of the locale
_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
_ID_LENGTH = 52
_ID_DIGITS = 16
#: DynamoDB compresses responses of this size and more.
MIN_COMPRESSED = 4096
#: Level 1 takes 4 ms for 256 KB of JSON, level 6 three times as long for a tenth less.
LEVEL = 1
_GZIP_BITS = 16 + zlib.MAX_WBITS
_BITS = {b"gzip": _GZIP_BITS, b"deflate": zlib.MAX_WBITS}
_RAW_BITS = -zlib.MAX_WBITS
#: The beginning of a member of gzip: its magic number, and the only method of compression.
_GZIP_MEMBER = b"\x1f\x8b\x08"
_WEIGHT = re.compile(rb"0(\.[0-9]*)?|1(\.0*)?|\.[0-9]+").fullmatch
#: Encodings of a request that do not change its body.
_UNCHANGED = (b"identity", b"aws-chunked")


class ResponseBuilder:
    """Builds responses. Call `refresh_date()` about once a second."""

    def __init__(self) -> None:
        alphabet = string.ascii_uppercase + string.digits
        random = (secrets.choice(alphabet) for _ in range(_ID_LENGTH - _ID_DIGITS))
        self._id_prefix = "".join(random).encode()
        self._count = 0
        self._templates: dict[tuple[int, bytes, bool], bytes] = {}

    @property
    def last_id(self) -> str:
        """The request id of the latest response."""
        return f"{self._id_prefix.decode()}{self._count:016d}"

    def refresh_date(self) -> None:
        """Clear the templates, which contain the date."""
        self._templates.clear()

    def build(
        self, status: int, content_type: bytes, keep_alive: bool, body: bytes, extra: bytes = b""
    ) -> bytes:
        """Return a whole response. `extra` is further header lines, each with its line end."""
        self._count = count = self._count + 1
        template = self._templates.get((status, content_type, keep_alive))
        if template is None:
            template = self._template(status, content_type, keep_alive)
        whole = template % (len(body), count, crc32(body), body)
        return whole.replace(b"\r\n\r\n", b"\r\n%b\r\n" % extra, 1) if extra else whole

    def _template(self, status: int, content_type: bytes, keep_alive: bool) -> bytes:
        # DynamoDB sends `keep-alive` explicitly; HTTP/1.0 clients need it.
        connection = b"keep-alive" if keep_alive else b"close"
        date = format_date(time.time()).encode()
        template = _HEAD % (
            status,
            REASONS.get(status, b"Error"),
            date,
            content_type,
            connection,
            self._id_prefix,
        )
        self._templates[status, content_type, keep_alive] = template
        return template


def format_date(seconds: float) -> str:
    """Return a time as a Date header. `email.utils` takes 4 ms to import.

    >>> format_date(0)
    'Thu, 01 Jan 1970 00:00:00 GMT'
    """
    now = time.gmtime(seconds)
    day, month = _DAYS[now.tm_wday], _MONTHS[now.tm_mon - 1]
    clock = f"{now.tm_hour:02}:{now.tm_min:02}:{now.tm_sec:02}"
    return f"{day}, {now.tm_mday:02} {month} {now.tm_year} {clock} GMT"


# --- compression --------------------------------------------------------------------------------


class TooLarge(Exception):
    """A body has more bytes than the limit when it is decompressed."""


def is_compressed(encoding: bytes) -> bool:
    """Return whether a Content-Encoding changes the body; it may be an unknown one."""
    return encoding.strip().lower() not in _UNCHANGED


def decompress(body: bytes | bytearray, encoding: bytes, limit: int) -> bytes:
    """Decompress a body.

    Raise `TooLarge` if the result exceeds the limit, ValueError if the encoding is unknown or the
    body is invalid. Several members of gzip are one body, and what follows them is ignored.
    """
    encoding = encoding.strip().lower()
    if encoding not in _BITS:
        raise ValueError(f"unknown Content-Encoding {encoding!r}")
    try:
        return _decompress(body, _BITS[encoding], limit)
    except ValueError:
        if encoding != b"deflate":
            raise
        # Some clients send deflate data without the header of zlib.
        return _decompress(body, _RAW_BITS, limit)


def _decompress(body: bytes | bytearray, bits: int, limit: int) -> bytes:
    content, rest = _decompress_member(body, bits, limit)
    while rest.startswith(_GZIP_MEMBER) and bits == _GZIP_BITS:
        more, rest = _decompress_member(rest, bits, limit - len(content))
        content += more
    if rest and bits != _GZIP_BITS:
        raise ValueError("the compressed data ends too late")
    return content


def _decompress_member(body: bytes | bytearray, bits: int, limit: int) -> tuple[bytes, bytes]:
    """Decompress the first stream of a body; return the rest, too."""
    parser = zlib.decompressobj(bits)
    try:
        content = parser.decompress(body, limit + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(content) > limit:
        raise TooLarge
    if not parser.eof:
        raise ValueError("the compressed data ends too early")
    return content, parser.unused_data


@lru_cache(64)
def choose_encoding(accepted: bytes) -> bytes | None:
    """Return the encoding to use for an Accept-Encoding header; None: do not compress.

    The highest q wins, then the one that is named first. `*` stands for those that are not named,
    and loses a tie. The first q of an entry counts; an entry with another parameter is ignored.

    >>> choose_encoding(b"deflate, gzip;q=0.5"), choose_encoding(b"gzip;q=0, identity")
    (b'deflate', None)
    """
    weights: dict[bytes, float] = {}
    for entry in accepted.lower().split(b","):
        name, *parameters = [part.strip() for part in entry.split(b";")]
        if all(parameter.startswith(b"q=") for parameter in parameters):
            weights.setdefault(name, _read_weight(parameters[0][2:]) if parameters else 1.0)
    ranked = [(weight, True, name) for name, weight in weights.items() if name in _BITS]
    others = weights.get(b"*", 0.0)
    ranked += [(others, False, name) for name in _BITS if name not in weights]
    # `max` returns the first of equal ones: they are in the order of the header.
    weight, _, best = max(ranked, key=lambda each: each[:2])
    return best if weight > 0 else None


def _read_weight(text: bytes) -> float:
    """Return a q; one that is above 1 or cannot be read is 1."""
    return float(text) if _WEIGHT(text) else 1.0


class RepeatedHeader(bytes):
    """The values of a header that occurs several times, joined; `first` is the first of them."""

    first: bytes


def compress(body: bytes, encoding: bytes) -> bytes:
    """Compress a body. A megabyte takes about 15 ms."""
    return zlib.compress(body, LEVEL, wbits=_BITS[encoding])
