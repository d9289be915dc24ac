"""Compressed bodies: the encodings gzip and deflate, as DynamoDB accepts and sends them.

Invariants:
- Decompressing never creates more than the limit that the caller gives, whatever a client sends.
- A response is compressed only if the client asks for it and the body has `MIN_COMPRESSED` bytes.
  Its checksum (x-amz-crc32) is that of the compressed bytes; signatures of requests cover the
  compressed bytes, too.

Nothing here knows of connections.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

#: DynamoDB compresses responses of about this size and more.
MIN_COMPRESSED = 1024
#: Level 1 takes 4 ms for 256 KB of JSON, level 6 three times as long for a tenth less.
LEVEL = 1
_GZIP_BITS = 16 + zlib.MAX_WBITS
_BITS = {b"gzip": _GZIP_BITS, b"deflate": zlib.MAX_WBITS}
_RAW_BITS = -zlib.MAX_WBITS


class TooLarge(Exception):
    """A body has more bytes than the limit when it is decompressed."""


def is_supported(encoding: bytes) -> bool:
    """Return whether bodies with this Content-Encoding can be decompressed."""
    return encoding.strip().lower() in _BITS


def decompress(body: bytes | bytearray, encoding: bytes, limit: int) -> bytes:
    """Decompress a body.

    Raise `TooLarge` if the result exceeds the limit, ValueError if the body is invalid.
    """
    encoding = encoding.strip().lower()
    try:
        return _decompress(body, _BITS[encoding], limit)
    except ValueError:
        if encoding != b"deflate":
            raise
        # Some clients send deflate data without the header of zlib.
        return _decompress(body, _RAW_BITS, limit)


def _decompress(body: bytes | bytearray, bits: int, limit: int) -> bytes:
    parser = zlib.decompressobj(bits)
    try:
        content = parser.decompress(body, limit + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(content) > limit:
        raise TooLarge
    if not parser.eof or parser.unused_data:
        raise ValueError("the compressed data ends too early or too late")
    return content


@lru_cache(64)
def choose_encoding(accepted: bytes) -> bytes | None:
    """Return the encoding to use for an Accept-Encoding header; None: do not compress.

    >>> choose_encoding(b"deflate, gzip;q=0.5"), choose_encoding(b"gzip;q=0, identity")
    (b'gzip', None)
    """
    asked = set()
    for part in accepted.lower().split(b","):
        name, _, parameters = part.partition(b";")
        if parameters.replace(b" ", b"").rstrip(b".0") != b"q=":
            asked.add(name.strip())
    return next((name for name in _BITS if name in asked), None)


def compress(body: bytes, encoding: bytes) -> bytes:
    """Compress a body. A megabyte takes about 15 ms."""
    return zlib.compress(body, LEVEL, wbits=_BITS[encoding])
