"""Sizes: how large the items of each entity are, in the table and in each index.

They are measured on the sample data of a design, or on the items of an existing table. They give
the price of storage; sizes of an existing table also replace those of the sample data in the units.

This module must not know calls, rates or prices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from tablewright.capacity import read_units, write_units
from tablewright.cost.units import Consumption, entity_name
from tablewright.encoding.items import item_size
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import definition
from tablewright.transfer.definition import find_description
from tablewright.transfer.endpoints import open_source, select_tables
from tablewright.transfer.rows import scan_pages
from tablewright.values import Item

#: The most items of a table that are read to measure their sizes.
MAX_MEASURED = 10_000


class MeasuredItems(Struct):
    """What is known of some items: how many there are, their bytes and their units."""

    items: int = 0
    size: int = 0
    #: The units of reads, consistent and one by one, and of writes.
    reads: float = 0
    writes: float = 0

    def add(self, size: int) -> None:
        """Add an item of this size."""
        self.items += 1
        self.size += size
        self.reads += read_units(size, consistent=True)
        self.writes += write_units(size)


#: A table, an index of it (None: the table itself), and an entity.
EntityPlace: TypeAlias = tuple[str, str | None, str]


class Sizes(Struct, frozen=True):
    """The sizes of measured items."""

    measured: Mapping[EntityPlace, MeasuredItems]
    #: The number of stored items, by table and entity.
    counts: Mapping[tuple[str, str], float]

    def with_written(self, consumed: Iterable[Consumption]) -> Sizes:
        """Return the sizes, with those of written items of entities that were not measured."""
        measured = dict(self.measured)
        for each in consumed:
            if each.kind == "write" and (each.table, each.entity) not in self.counts:
                found = measured.setdefault((each.table, each.index, each.entity), MeasuredItems())
                for _, size in each.items[-1:]:
                    found.add(size)
        return Sizes(measured, self.counts)

    def units(self, consumption: Consumption) -> float:
        """Return the units that a consumption has with items of these sizes, on average.

        Items of entities that were not measured keep their sizes.
        """
        found = [self._measured(consumption, *item) for item in consumption.items]
        if consumption.kind == "write":
            units = sum(each.writes / each.items for each in found)
        elif len(found) == 1:
            units = found[0].reads / found[0].items
        else:
            size = sum(each.size / each.items for each in found)
            units = read_units(round(size), consistent=True)
        return units * consumption.factor

    def _measured(self, consumption: Consumption, entity: str, size: int) -> MeasuredItems:
        found = self.measured.get((consumption.table, consumption.index, entity))
        if found is None:
            found = MeasuredItems()
            found.add(size)
        return found


def measure_target(tables: Iterable[TableMap], target: str) -> Sizes:
    """Measure the first items that a scan of each table returns; nothing is written.

    The order of a scan is that of hashed keys, so these items stand for all. Raise TableNotFound if
    a table is missing.
    """
    with open_source(target) as source:
        found = {}
        for table in tables:
            select_tables(source, target, table.name)
            pages = scan_pages(source, table.name, 0, 1)
            items = islice((item for page in pages for item in page), MAX_MEASURED)
            description = find_description(source, table.name)
            found[table] = (list(items), None if description is None else description.state.items)
    return measure(found)


def measure(tables: Mapping[TableMap, tuple[Iterable[Item], int | None]]) -> Sizes:
    """Return the sizes of the items of tables; each with the number of all of its items.

    None as that number: all items are given.
    """
    measured: dict[EntityPlace, MeasuredItems] = {}
    counts: dict[tuple[str, str], float] = {}
    for table, (items, total) in tables.items():
        entities, description = Counter[str](), definition(table, table.name)
        for item in items:
            entity = entity_name(table, item)
            entities[entity] += 1
            rows = {None: item} | {
                index.name: description.index_row(index, item) for index in description.indexes
            }
            for index, row in rows.items():
                if row is not None:
                    place = table.name, index, entity
                    measured.setdefault(place, MeasuredItems()).add(item_size(row))
        scale = max(1, (total or 0) / (entities.total() or 1))
        for entity, count in entities.items():
            counts[table.name, entity] = count * scale
    return Sizes(measured, counts)
