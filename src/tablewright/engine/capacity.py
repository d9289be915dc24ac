"""Capacity: what DynamoDB would charge.

Reading costs half a unit for each 4 KB begun, a whole one if consistent, two in a transaction;
writing one unit for each KB begun, two in a transaction. Nothing is free: a read of nothing costs
as much as the smallest read. Indexes are charged apart from their table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.limits import READ_UNIT_SIZE, WRITE_UNIT_SIZE
from tablewright.wire.responses import Capacity, ConsumedCapacity


def read_units(size: int, *, consistent: bool | None) -> float:
    """
    >>> read_units(0, consistent=False), read_units(4097, consistent=True)
    (0.5, 2.0)
    """
    blocks = max(1, -(-size // READ_UNIT_SIZE))
    return float(blocks) if consistent else blocks / 2


def write_units(size: int) -> float:
    """
    >>> write_units(1), write_units(1025)
    (1.0, 2.0)
    """
    return float(max(1, -(-size // WRITE_UNIT_SIZE)))


class Charge:
    """The units one request used of one table, the table's own and those of its indexes."""

    __slots__ = ("factor", "globals", "kind", "locals", "name", "table")

    def __init__(
        self, table: StoredTable, kind: Literal["read", "write"] | None = None, factor: float = 1
    ) -> None:
        self.name = table.name
        self.table = 0.0
        self.locals: dict[str, float] = {}
        self.globals: dict[str, float] = {}
        #: Transactions cost double, and say whether units were for reading or for writing.
        self.kind = kind
        self.factor = factor

    def add(self, units: float, index: StoredIndex | None = None) -> None:
        units *= self.factor
        if index is None:
            self.table += units
        else:
            units_by_index = self.globals if index.is_global else self.locals
            units_by_index[index.name] = units_by_index.get(index.name, 0.0) + units

    def to_consumed_capacity(self, level: str | None) -> ConsumedCapacity | None:
        """What the answer says, at the level the request asked for."""
        if level is None or level == "NONE":
            return None
        total = self.table + sum(self.locals.values()) + sum(self.globals.values())
        answer = ConsumedCapacity(self.name, total)
        if self.kind == "read":
            answer.read_capacity_units = total
        elif self.kind == "write":
            answer.write_capacity_units = total
        if level == "INDEXES":
            answer.table = self._to_units(self.table)
            if self.locals:
                answer.local_secondary_indexes = self._units_by_name(self.locals)
            if self.globals:
                answer.global_secondary_indexes = self._units_by_name(self.globals)
        return answer

    def _units_by_name(self, units: dict[str, float]) -> dict[str, Capacity]:
        return {name: self._to_units(number) for name, number in units.items()}

    def _to_units(self, number: float) -> Capacity:
        return Capacity(
            number,
            number if self.kind == "read" else None,
            number if self.kind == "write" else None,
        )


def consumed_by_table(
    charges: Mapping[str, Charge], level: str | None
) -> list[ConsumedCapacity] | None:
    """What the answer of a request on several tables says."""
    consumed = (charge.to_consumed_capacity(level) for charge in charges.values())
    return [one for one in consumed if one is not None] or None
