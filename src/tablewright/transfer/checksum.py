"""Checksums of sets of items, independent of their order.

A checksum is the sum of the 128-bit hashes of all items in a canonical encoding: canonical numbers,
sorted sets, sorted names. So the same items have the same checksum in any order, on any endpoint.

>>> one, two = {"k": {"N": "1.0"}}, {"k": {"S": "x"}, "tags": {"SS": ["b", "a"]}}
>>> same = [{"tags": {"SS": ["a", "b"]}, "k": {"S": "x"}}, {"k": {"N": "1"}}]
>>> Checksum.of([one, two]) == Checksum.of(same)
True
>>> print(Checksum.of([]))
00000000000000000000000000000000
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from tablewright.encoding.items import normalise_item
from tablewright.engine.rows import ItemRow
from tablewright.values import Item

BITS = 128

_encode = msgspec.json.Encoder(order="deterministic").encode


class Checksum(msgspec.Struct, frozen=True):
    """The number of items, and the sum of their hashes."""

    count: int = 0
    total: int = 0

    @classmethod
    def of(cls, items: Iterable[Item]) -> Checksum:
        """Return the checksum of items; raise `ValidationException` if an item is invalid."""
        return cls.of_hashes([hash_item(normalise_item(item)) for item in items])

    @classmethod
    def of_rows(cls, rows: Iterable[ItemRow]) -> Checksum:
        """Return the checksum of items in normalised form."""
        return cls.of_hashes([hash_item(row.decode()) for row in rows])

    @classmethod
    def of_hashes(cls, hashes: Sequence[int]) -> Checksum:
        """Return the checksum of items, given the hash of each."""
        return cls(len(hashes), sum(hashes) % (1 << BITS))

    def __add__(self, other: Checksum) -> Checksum:
        return Checksum(self.count + other.count, (self.total + other.total) % (1 << BITS))

    def __str__(self) -> str:
        return f"{self.total:0{BITS // 4}x}"


def hash_item(item: Item) -> int:
    """Return the hash of an item in normalised form."""
    digest = blake2b(_encode(item), digest_size=BITS // 8).digest()
    return int.from_bytes(digest, "big")
