"""The checksum of a row: the tag of its tree, and in the lower 32 bits Adler-32 of its body.

The tag is the number of the tree plus one. So a row that is found in another tree, because pages of
the file were exchanged, is as damaged as one with other bytes. Rows of formats before 4 have the
tag 0. Adler-32 has the size of the row as its start value.

It detects accidental damage, not tampering, and is computed on every read. Measured with a body of
700 bytes: Adler-32 takes 0.23 µs (2 % of a GetItem of 13 µs), CRC-32 0.31 µs; the tag 0.04 µs.
"""

from __future__ import annotations

from zlib import adler32

__all__ = ["TAG_BITS", "UNTAGGED", "make_tag", "row_checksum"]

#: Add the tag of a tree to it: `row_checksum(body, size) + tree.tag`.
row_checksum = adler32

TAG_BITS = 32
#: The mask of a checksum without its tag.
UNTAGGED = (1 << TAG_BITS) - 1


def make_tag(number: int) -> int:
    """Return the tag of a tree, at its place in a checksum."""
    return (number + 1) << TAG_BITS
