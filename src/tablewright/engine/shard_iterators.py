"""Shard iterators: a position in a shard, as an opaque string.

    <ARN of the stream>|1|<base64 of a checksum and of [shard, position, issued]>

An iterator begins with the ARN of its stream, as on AWS, so that access to the stream can be
checked without looking it up. The checksum detects damage; it is no signature, because an iterator
gives no access that the caller does not have anyway.

Invariant: `position` is the number of the last change that was read, whether it belongs to the
shard or not. So the iterators of a shard without changes move on, too, and do not fall behind the
trim point.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, TypeAlias
from zlib import crc32

import msgspec

from tablewright.errors import ExpiredIteratorException, ValidationException

EXPIRY_SECONDS = 15 * 60

_VERSION = "1"


class ShardIterator(msgspec.Struct, frozen=True):
    """A position in a shard, and when the iterator was issued (in seconds since 1970)."""

    arn: str
    shard: str
    position: int
    issued: float

    def encode(self) -> str:
        content = msgspec.json.encode((self.shard, self.position, self.issued))
        text = base64.b64encode(_checksum(self.arn, content) + content).decode()
        return f"{self.arn}|{_VERSION}|{text}"

    def require_valid_at(self, now: float) -> None:
        """Raise ExpiredIteratorException if the iterator is too old."""
        if now - self.issued > EXPIRY_SECONDS:
            # AWS's own text is not known for certain.
            raise ExpiredIteratorException(
                f"The shard iterator is valid for {EXPIRY_SECONDS // 60} minutes and has expired; "
                "get a new one with GetShardIterator"
            )


_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_decode = msgspec.json.Decoder(tuple[str, _Position, float]).decode


def parse_iterator(text: str) -> ShardIterator:
    """Decode an iterator; raise ValidationException if it is malformed."""
    arn, _, rest = text.partition("|")
    version, _, encoded = rest.partition("|")
    try:
        content = base64.b64decode(encoded, validate=True)
        if version == _VERSION and _checksum(arn, content[4:]) == content[:4]:
            return ShardIterator(arn, *_decode(content[4:]))
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        pass
    raise ValidationException("Invalid ShardIterator")  # AWS's own text is not known


def _checksum(arn: str, content: bytes) -> bytes:
    return crc32(arn.encode() + content).to_bytes(4, "big")
