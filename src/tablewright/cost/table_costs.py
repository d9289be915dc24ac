"""Costs of tables: what they and their indexes need each second, what they store, and the price.

    on demand      each unit has its price
    provisioned    each table and each global index has its own capacity: the declared one
                   (`billing=Provisioned(…)`), or what its units need if 70 % of it is used
    storage        each item and each index row has its size and 100 bytes more

A local index uses the capacity of its table. The number of stored items is given with the rates; or
it is that of the sample data, or of the measured tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tablewright.cost.patterns import PatternCost
from tablewright.cost.prices import STORAGE_OVERHEAD, Prices, Rates, needed_capacity
from tablewright.cost.sizes import Sizes
from tablewright.cost.units import INDEX_RECORD, SENTINEL, UNKNOWN
from tablewright.errors import InvalidValue
from tablewright.mapping.table import TableMap
from tablewright.mapping.table_settings import Provisioned
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


class StorageCost(Struct, frozen=True):
    """What a table or an index stores of an entity, with 100 bytes more for each item."""

    table: str
    #: None for the table itself.
    index: str | None
    #: Or `sentinel`, for the items that reserve unique values; or `index record`, or `unknown`.
    entity: str
    items: float
    size: float
    month: float


def storage_costs(
    design: Design, sizes: Sizes, rates: Rates, prices: Prices
) -> Iterator[StorageCost]:
    """Yield what each table and index stores.

    Raise InvalidValue if the size of an entity with a given number of items is not known.
    """
    for name in rates.items:
        if not any(entity == name for _, _, entity in sizes.measured):
            raise InvalidValue(
                f"{design.name}: the size of {name} is not known: the sample data, or the tables "
                "that were measured, have no item of it, and no check writes one"
            )
    for declared in design.tables:
        table = declared.__table__
        counts = _counts(table, sizes, rates)
        for index in (None, *table.indexes):
            for entity, count in counts.items():
                whole = sizes.measured.get((table.name, None, entity))
                found = sizes.measured.get((table.name, index, entity))
                if whole and found:
                    rows = count * found.items / whole.items
                    size = count * (found.size + STORAGE_OVERHEAD * found.items) / whole.items
                    month = prices.storage_month(size)
                    yield StorageCost(table.name, index, entity, rows, size, month)


def _counts(table: TableMap, sizes: Sizes, rates: Rates) -> dict[str, float]:
    """Return the number of items of each entity of a table, and of those without an entity."""
    found = {each.name: sizes.counts.get((table.name, each.name), 0) for each in table.entities}
    given = {name: rates.items.get(name, count) for name, count in found.items()}
    owners = [entity.name for entity in table.entities if entity.uniques]
    before = sum(found[name] for name in owners)
    given[SENTINEL] = sizes.counts.get((table.name, SENTINEL), 0)
    if before:  # their number grows with that of the entities with unique values
        given[SENTINEL] *= sum(given[name] for name in owners) / before
    others = {name: sizes.counts.get((table.name, name), 0) for name in (INDEX_RECORD, UNKNOWN)}
    return given | others


def with_item_counts(
    storage: Iterable[StorageCost], counted: Iterable[StorageCost], prices: Prices
) -> Iterator[StorageCost]:
    """Yield storage with as many items of each entity as another report has, and its prices.

    Entities that the other report does not have keep their number of items.
    """
    storage = list(storage)
    here, there = _items_by_entity(storage), _items_by_entity(counted)
    for each in storage:
        place = each.table, each.entity
        factor = there[place] / here[place] if place in there and here.get(place) else 1
        size = each.size * factor
        month = prices.storage_month(size)
        yield replace(each, items=each.items * factor, size=size, month=month)


def _items_by_entity(storage: Iterable[StorageCost]) -> Mapping[tuple[str, str], float]:
    return {(each.table, each.entity): each.items for each in storage if each.index is None}
