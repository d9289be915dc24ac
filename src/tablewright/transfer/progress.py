"""Events of a transfer: its progress, and the comparison of both sides at the end."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from tablewright.transfer.checksum import Checksum


class Progress(Struct, frozen=True):
    """The number of items of a table that are copied, dumped, loaded or compared.

    `expected` is the item count of the source, or None if it is unknown. DynamoDB updates the count
    every six hours, so it may be outdated.
    """

    table: str
    phase: str
    items: int
    expected: int | None


class TableComparison(Struct, frozen=True):
    """The checksum of a table on each side of a transfer: {"source": …, "target": …}.

    `indexes` has that of each index of the target, and that of what it should have of the items of
    its table: {"by_day": {"items": …, "index": …}}.
    """

    table: str
    sides: dict[str, Checksum]
    indexes: dict[str, dict[str, Checksum]] = {}

    @property
    def is_equal(self) -> bool:
        return len(set(self.sides.values())) == 1 and not self.differing_indexes

    @property
    def differing_indexes(self) -> list[str]:
        return [name for name, sides in self.indexes.items() if len(set(sides.values())) > 1]


Event: TypeAlias = Progress | TableComparison
