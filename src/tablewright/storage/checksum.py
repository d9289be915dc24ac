"""The checksum of a row: Adler-32 of its body, begun with its size.

It has to find damage by accident, not by intent, and is computed on every read. Measured with a
body of 700 bytes: Adler-32 0.23 µs, CRC-32 0.31 µs, of about 13 µs for a GetItem: 2 % and 3 %.
"""

from __future__ import annotations

from zlib import adler32

__all__ = ["row_checksum"]

row_checksum = adler32
