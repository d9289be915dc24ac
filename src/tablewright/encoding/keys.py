"""Key bytes: what rows are stored under, in the order DynamoDB gives them.

A row's key is its partition and then its sort key, component by component:

    crc32 of the partition's components (4 bytes) | partition components | sort components | rest

The checksum in front spreads partitions as DynamoDB's own hash does, so a Scan meets partitions in
no useful order and `Segment`/`TotalSegments` are plain ranges. In an index the *rest* is the
table's own key, so several items with equal index keys are different rows, one after the other.

    type  component                                        example
    S     UTF-8, 00 as 00 01, then 00 00                   "a"   -> 61 00 00
    B     the bytes, 00 as 00 01, then 00 00               61 00 -> 61 00 01 00 00
    N     see `tablewright.encoding.numbers`               "7"   -> 81 82 81 00

Laws: a < b in DynamoDB exactly when component(a) < component(b); no component is the beginning of
another, so keys of several components never mix.
"""

from __future__ import annotations

import binascii
import zlib

from tablewright.encoding.numbers import decode_number, encode_number

END = b"\x00\x00"
CHECKSUM_SPACE = 1 << 32


class EmptyComponent(ValueError):
    """A key attribute is never empty."""


def encode_component(tag: str, content: str) -> bytes:
    """The bytes of one key attribute's value; an `EmptyComponent` if there is nothing in it.

    >>> component("S", "a").hex(" "), component("B", "YQA=").hex(" "), component("N", "7").hex(" ")
    ('61 00 00', '61 00 01 00 00', '81 82 81 00')
    """
    if tag == "N":
        return encode_number(content)
    if not content:
        raise EmptyComponent
    raw = content.encode() if tag == "S" else binascii.a2b_base64(content)
    return (raw.replace(b"\x00", b"\x00\x01") if b"\x00" in raw else raw) + END


def decode_component(tag: str, data: bytes) -> tuple[str, bytes]:
    """The value of the component that `data` begins with, and the bytes behind it.

    Raises ValueError (or IndexError) if `data` does not begin with a component.

    >>> read_component("S", component("S", "a") + b"rest")
    ('a', b'rest')
    """
    if tag == "N":
        number, length = decode_number(data)
        return number, data[length:]
    end = data.index(END)
    raw = data[:end].replace(b"\x00\x01", b"\x00")
    content = raw.decode() if tag == "S" else binascii.b2a_base64(raw, newline=False).decode()
    return content, data[end + len(END) :]


def encode_prefix(tag: str, content: str) -> bytes:
    """What every component that begins with this content begins with: for `begins_with`."""
    return encode_component(tag, content)[: -len(END)]


def partition(components: bytes) -> bytes:
    """The beginning of every row of one partition, given its components joined."""
    return zlib.crc32(components).to_bytes(4, "big") + components


def end_of_prefix(start: bytes) -> bytes | None:
    """The first key that does not begin with `start`; None if there is none.

    >>> after(b"a"), after(b"a\\xff"), after(b"\\xff")
    (b'b', b'b', None)
    """
    trimmed = start.rstrip(b"\xff")
    if not trimmed:
        return None
    return trimmed[:-1] + bytes((trimmed[-1] + 1,))


def segment_range(number: int, total: int) -> tuple[bytes, bytes | None]:
    """The range of keys that segment `number` of `total` scans: from, and up to but without.

    >>> [tuple(edge and edge.hex() for edge in segment(n, 2)) for n in (0, 1)]
    [('00000000', '80000000'), ('80000000', None)]
    """
    edges = [CHECKSUM_SPACE * n // total for n in (number, number + 1)]
    low = edges[0].to_bytes(4, "big")
    return low, edges[1].to_bytes(4, "big") if edges[1] < CHECKSUM_SPACE else None
