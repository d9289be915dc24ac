"""Checksums: what a set of items is, whatever order they come in.

The sum of the 128-bit hashes of all items, each spelt in one way: numbers canonical, sets sorted,
names in order. So the same items have the same sum in any order, on any endpoint.

>>> one, two = {"k": {"N": "1.0"}}, {"k": {"S": "x"}, "tags": {"SS": ["b", "a"]}}
>>> Sum.of([one, two]) == Sum.of([{"tags": {"SS": ["a", "b"]}, "k": {"S": "x"}}, {"k": {"N": "1"}}])
True
>>> print(Sum.of([]))
00000000000000000000000000000000
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from tablewright.encoding.items import normalise_item
from tablewright.values import Item

BITS = 128

_spell = msgspec.json.Encoder(order="deterministic").encode


class Sum(msgspec.Struct, frozen=True):
    """How many items, and the sum of their hashes."""

    count: int = 0
    total: int = 0

    @classmethod
    def of(cls, items: Iterable[Item]) -> Sum:
        """The sum of items; a fault if one is no item."""
        count = total = 0
        for item in items:
            count += 1
            digest = blake2b(_spell(normalise_item(item)), digest_size=BITS // 8).digest()
            total += int.from_bytes(digest, "big")
        return cls(count, total % (1 << BITS))

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.count + other.count, (self.total + other.total) % (1 << BITS))

    def __str__(self) -> str:
        return f"{self.total:0{BITS // 4}x}"
