"""Storage: the bytes that tables and indexes contain, and their price in a month.

The number of items is given with the rates; or it is that of the sample data, or of the measured
tables. DynamoDB adds 100 bytes to each item and to each index row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from tablewright.cost.prices import STORAGE_OVERHEAD, Prices
from tablewright.cost.rates import Rates
from tablewright.cost.sizes import Sizes
from tablewright.cost.units import INDEX_RECORD, SENTINEL, UNKNOWN
from tablewright.errors import InvalidValue
from tablewright.mapping.table import TableMap
from tablewright.verify.design import Design


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
    if before:  # there are as many more as of the entities with unique values
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
