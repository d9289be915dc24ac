"""Key bytes: the keys of stored rows, in DynamoDB's order.

A row's key is its partition and then its sort key, component by component:

    crc32 of the partition's components (4 bytes) | partition components | sort components | rest

The leading checksum distributes partitions as DynamoDB's hash does: a Scan returns partitions in no
useful order, and `Segment`/`TotalSegments` are plain ranges. In an index, *rest* is the key of the
table, so items with equal index keys are separate, adjacent rows.

    type  component                                        example
    S     UTF-8, 00 as 00 01, then 00 00                   "a"   -> 61 00 00
    B     the bytes, 00 as 00 01, then 00 00               61 00 -> 61 00 01 00 00
    N     see `tablewright.encoding.numbers`               "7"   -> 81 82 81 00

Invariants:
- a < b in DynamoDB exactly when encode_component(a) < encode_component(b).
- No component is a prefix of another, so the components of a key cannot run into each other.
"""

from __future__ import annotations

import binascii
import zlib

from tablewright.encoding.numbers import decode_number, encode_number

END = b"\x00\x00"
CHECKSUM_SPACE = 1 << 32


class EmptyComponent(ValueError):
    """The value of a key attribute is empty, which DynamoDB does not allow."""


def encode_component(tag: str, content: str) -> bytes:
    """Return the bytes of the value of one key attribute; raise `EmptyComponent` if it is empty.

    >>> encode_component("S", "a").hex(" "), encode_component("B", "YQA=").hex(" ")
    ('61 00 00', '61 00 01 00 00')
    """
    if tag == "N":
        return encode_number(content)
    if not content:
        raise EmptyComponent
    raw = content.encode() if tag == "S" else binascii.a2b_base64(content)
    return (raw.replace(b"\x00", b"\x00\x01") if b"\x00" in raw else raw) + END


def decode_component(tag: str, data: bytes) -> tuple[str, bytes]:
    """Return the value of the component at the start of `data`, and the remaining bytes.

    Raise ValueError or IndexError if `data` does not start with a component.

    >>> decode_component("S", encode_component("S", "a") + b"rest")
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
    """Return the common prefix of all components whose value starts with `content`."""
    return encode_component(tag, content)[: -len(END)]


def partition(components: bytes) -> bytes:
    """Return the prefix of all row keys of a partition, from its joined components."""
    return zlib.crc32(components).to_bytes(4, "big") + components


def end_of_prefix(start: bytes) -> bytes | None:
    """Return the first key after all keys that start with `start`; None if there is none.

    >>> end_of_prefix(b"a"), end_of_prefix(b"a\\xff"), end_of_prefix(b"\\xff")
    (b'b', b'b', None)
    """
    trimmed = start.rstrip(b"\xff")
    if not trimmed:
        return None
    return trimmed[:-1] + bytes((trimmed[-1] + 1,))


def segment_range(number: int, total: int) -> tuple[bytes, bytes | None]:
    """Return the key range of segment `number` of `total`: its first key, and its end (exclusive).

    >>> [tuple(edge and edge.hex() for edge in segment_range(n, 2)) for n in (0, 1)]
    [('00000000', '80000000'), ('80000000', None)]
    """
    edges = [CHECKSUM_SPACE * n // total for n in (number, number + 1)]
    low = edges[0].to_bytes(4, "big")
    return low, edges[1].to_bytes(4, "big") if edges[1] < CHECKSUM_SPACE else None
