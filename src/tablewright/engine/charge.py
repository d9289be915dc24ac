"""Charges: the units that a request uses, separately for the table and for each index.

Also the ItemCollectionMetrics, which a request can ask for in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tablewright.engine.tables.table import StoredIndex, StoredTable
from tablewright.values import Item
from tablewright.wire.responses import Capacity, ConsumedCapacity, ItemCollectionMetrics


class Charge:
    """The units that a request uses in one table and its indexes."""

    __slots__ = ("factor", "globals", "kind", "locals", "name", "table")

    def __init__(
        self,
        table: StoredTable,
        kind: Literal["read", "write"] | None = None,
        factor: float = 1,
        *,
        name: str | None = None,
    ) -> None:
        #: As in the request: DynamoDB reports an ARN if the request has one.
        self.name = name or table.name
        self.table = 0.0
        self.locals: dict[str, float] = {}
        self.globals: dict[str, float] = {}
        #: Set in transactions, which cost double and report read and write units separately.
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
        """Return the ConsumedCapacity of the response, at the requested level of detail."""
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
    """Return the ConsumedCapacity of a request on several tables, one entry per table."""
    consumed = (charge.to_consumed_capacity(level) for charge in charges.values())
    return [one for one in consumed if one is not None] or None


def collection_metrics(
    table: StoredTable, key: Item, requested: str | None
) -> ItemCollectionMetrics | None:
    """Return the metrics of a table with local indexes, with the constant estimate 0 to 1.

    DynamoDB estimates whole gigabytes.
    """
    if requested != "SIZE" or not table.schema.local_indexes:
        return None
    name = table.key_names[0]
    return ItemCollectionMetrics({name: key[name]}, (0.0, 1.0))
