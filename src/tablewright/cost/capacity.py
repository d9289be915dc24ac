"""Capacity: the units that tables and indexes need each second, and their price in both modes.

    on demand      each unit has its price
    provisioned    each table and each global index has its own capacity: the declared one
                   (`billing=Provisioned(…)`), or what its units need if 70 % of it is used

A local index uses the capacity of its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from tablewright.cost.patterns import PatternCost
from tablewright.cost.prices import Prices, needed_capacity
from tablewright.mapping.settings import Provisioned
from tablewright.verify.design import Design


class CapacityPlace(Struct, frozen=True):
    """A table or a global index: what has a capacity of its own."""

    table: str
    #: None for the table itself.
    index: str | None
    #: The declared capacity; None if the table is billed on demand.
    declared: Provisioned | None


class CapacityCost(Struct, frozen=True):
    """The units that a table or a global index needs each second, and the price of a month."""

    place: CapacityPlace
    reads: float
    writes: float
    #: The declared capacity, or the one that these units need.
    capacity: Provisioned
    on_demand_month: float
    provisioned_month: float

    @property
    def month(self) -> float:
        """The price in the declared mode."""
        return self.on_demand_month if self.place.declared is None else self.provisioned_month


def capacity_places(design: Design) -> list[CapacityPlace]:
    """Return the tables and global indexes of a design."""
    return [
        CapacityPlace(table.name, name, capacity)
        for table in (declared.__table__ for declared in design.tables)
        for name, capacity in (
            (None, table.settings.billing),
            *(
                (each.name, each.billing)
                for each in table.indexes.values()
                if each.kind == "global"
            ),
        )
    ]


def capacity_costs(
    patterns: Iterable[PatternCost], places: Sequence[CapacityPlace], prices: Prices
) -> Iterator[CapacityCost]:
    """Yield what the calls of all patterns with a known rate need at each place."""
    units = {(each.table, each.index): {"read": 0.0, "write": 0.0} for each in places}
    for found in patterns:
        for part in found.parts:
            place = part.table, part.index
            own = units.get(place if place in units else (part.table, None))
            if own is not None:  # of a table of the design
                own[part.kind] += part.units * (found.rate or 0)
    for each in places:
        reads, writes = units[each.table, each.index].values()
        capacity = each.declared or needed_capacity(reads, writes)
        yield CapacityCost(
            place=each,
            reads=reads,
            writes=writes,
            capacity=capacity,
            on_demand_month=prices.on_demand_month(reads, writes),
            provisioned_month=prices.provisioned_month(capacity),
        )
