"""Capacity units: what DynamoDB charges for a read or a write of a given size.

A read costs half a unit per started 4 KB, one unit if consistent, two in a transaction; a write
costs one unit per started KB, two in a transaction. A read that finds nothing costs as much as the
smallest read.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.errors import ConditionalCheckFailedException, TransactionCanceledException
from tablewright.limits import READ_UNIT_SIZE, WRITE_UNIT_SIZE

#: The faults of a refused write for which DynamoDB charges `refused_units`.
CHARGED_FAULTS = (ConditionalCheckFailedException, TransactionCanceledException)

#: A transaction consumes this many times the units of the same reads and writes one by one.
TRANSACTION_FACTOR = 2


def read_units(size: float, *, consistent: bool | None) -> float:
    """Return the read units for an item or a page of this size.

    >>> read_units(0, consistent=False), read_units(4097, consistent=True)
    (0.5, 2.0)
    """
    blocks = max(1, -(-size // READ_UNIT_SIZE))
    return float(blocks) if consistent else blocks / 2


def refused_units(sizes: Iterable[float], *, transaction: bool) -> float:
    """Return the write units of a write whose condition fails, for the sizes of the stored items.

    DynamoDB charges it for the stored item, or a minimum if there is none, and reports nothing.

    >>> refused_units([0], transaction=False), refused_units([1025, 0], transaction=True)
    (1.0, 6.0)
    """
    return sum(map(write_units, sizes)) * (TRANSACTION_FACTOR if transaction else 1)


def write_units(size: float) -> float:
    """Return the write units for an item of this size.

    >>> write_units(1), write_units(1025)
    (1.0, 2.0)
    """
    return float(max(1, -(-size // WRITE_UNIT_SIZE)))
