"""Sizes: how large the items of each entity are, in the table and in each index.

They are measured on the sample data of a design, or on the items of an existing table. They give
the price of storage; sizes of an existing table also replace those of the sample data in the units.

This module must not know calls, rates or prices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from statistics import fmean

from msgspec import Struct

from tablewright.encoding.items import item_size
from tablewright.engine.capacity import read_units, write_units
from tablewright.mapping.table import TableMap
from tablewright.plan.writes.effect import index_row
from tablewright.publish.cost.units import Consumption, entity_name
from tablewright.transfer.definition import describe, select_tables
from tablewright.transfer.endpoints import open_source
from tablewright.transfer.segments import scan_pages
from tablewright.values import Item

#: The most items of a table that are read to measure their sizes.
MAX_MEASURED = 10_000


class Sizes(Struct, frozen=True):
    """The sizes of measured items, by table, index (None: the table) and entity."""

    sizes: Mapping[tuple[str, str | None, str], list[int]]
    #: The number of stored items, by table and entity.
    counts: Mapping[tuple[str, str], float]

    def with_written(self, consumed: Iterable[Consumption]) -> Sizes:
        """Return the sizes, with those of written items of entities that were not measured."""
        sizes = dict(self.sizes)
        for each in consumed:
            place = each.table, each.index, each.entity
            if each.kind == "write" and (each.table, each.entity) not in self.counts:
                sizes[place] = [*sizes.get(place, ()), *(size for _, size in each.items[-1:])]
        return Sizes(sizes, self.counts)

    def units(self, consumption: Consumption) -> float:
        """Return the units that a consumption has with items of these sizes, on average.

        Items of entities that were not measured keep their sizes.
        """
        table, index = consumption.table, consumption.index
        found = [self.sizes.get((table, index, name), [size]) for name, size in consumption.items]
        if consumption.kind == "write":
            return consumption.factor * sum(fmean(map(write_units, sizes)) for sizes in found)
        if len(found) == 1:
            blocks = fmean(read_units(size, consistent=True) for size in found[0])
        else:
            blocks = read_units(round(sum(map(fmean, found))), consistent=True)
        return blocks * consumption.factor


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
            description = describe(source, table.name) or {}
            found[table] = (list(items), description.get("ItemCount"))
    return measure(found)


def measure(tables: Mapping[TableMap, tuple[Iterable[Item], int | None]]) -> Sizes:
    """Return the sizes of the items of tables; each with the number of all of its items.

    None as that number: all items are given.
    """
    sizes: dict[tuple[str, str | None, str], list[int]] = {}
    counts: dict[tuple[str, str], float] = {}
    for table, (items, total) in tables.items():
        entities = Counter[str]()
        for item in items:
            entity = entity_name(table, item)
            entities[entity] += 1
            sizes.setdefault((table.name, None, entity), []).append(item_size(item))
            for index in table.indexes.values():
                row = index_row(table, index, item)
                if row is not None:
                    found = sizes.setdefault((table.name, index.name, entity), [])
                    found.append(item_size(row))
        scale = max(1, (total or 0) / (entities.total() or 1))
        for entity, count in entities.items():
            counts[table.name, entity] = count * scale
    return Sizes(sizes, counts)
