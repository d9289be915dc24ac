"""Progress: what a transfer tells while it runs, and what it found at the end."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from tablewright.transfer.checksum import Sum


class Progress(Struct, frozen=True):
    """How many items of a table have been copied, dumped, loaded or compared so far.

    `expected` is what the source says it holds; DynamoDB counts every six hours, so it may be
    wrong. None if it is unknown.
    """

    table: str
    doing: str
    items: int
    expected: int | None


class Compared(Struct, frozen=True):
    """What each side of a transfer holds of a table: {"source": …, "target": …}."""

    table: str
    sides: dict[str, Sum]

    @property
    def same(self) -> bool:
        return len(set(self.sides.values())) == 1


Event: TypeAlias = Progress | Compared
