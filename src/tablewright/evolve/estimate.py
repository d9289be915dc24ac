"""Estimates: what a change costs for a number of items, as units, money and time.

    backfill       a scan; one write for each item, and one for each index entry that is written
    rewrite        a scan; one write for each item, and for each index that holds all attributes
    reservation    a scan and one read for each value; four write units for its transaction
    moves          a scan; four write units for the transaction, two writes for each index
    another table  a scan; one write for each item, and for each index
    a new index    one write for each item in it, unless a backfill writes its keys

An estimate is for the worst case: every item of the table is of the changed entity, and is in all
of its indexes. Index entries are counted as large as their items. A scan reads consistently. What
a change without a need costs is nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from tablewright.capacity import TRANSACTION_FACTOR, write_units
from tablewright.cost.prices import Prices
from tablewright.design_changes import DesignChange, Need
from tablewright.design_description import DesignDescription, EntityDescription, TableDesign
from tablewright.limits import READ_UNIT_SIZE, WRITE_UNIT_SIZE
from tablewright.plan.migration.steps import MigrationStep

#: Where the number of items is not known.
DEFAULT_ITEMS = 1_000_000
DEFAULT_SIZE = WRITE_UNIT_SIZE
#: Changes of a key that an index has already: the old entry is deleted, a new one is put.
_REPLACED = 2


class TableLoad(Struct, frozen=True):
    """The items of a table."""

    items: int = DEFAULT_ITEMS
    #: The mean size of an item, in bytes.
    size: float = DEFAULT_SIZE


class Workload(Struct, frozen=True):
    """What an estimate assumes: the items of each table, the rate of writes, and prices."""

    prices: Prices
    #: Write units in a second.
    rate: float = 1000
    #: Of the tables whose items are counted.
    tables: Mapping[str, TableLoad] = {}
    #: Of all others.
    default: TableLoad = TableLoad()

    def of(self, table: str) -> TableLoad:
        return self.tables.get(table, self.default)


class ChangeCost(Struct, frozen=True):
    """What a change costs."""

    read_units: float = 0
    write_units: float = 0
    money: float = 0
    seconds: float = 0

    def __bool__(self) -> bool:
        return bool(self.read_units or self.write_units)

    def __add__(self, other: ChangeCost) -> ChangeCost:
        return ChangeCost(
            self.read_units + other.read_units,
            self.write_units + other.write_units,
            self.money + other.money,
            self.seconds + other.seconds,
        )


def estimate(
    change: DesignChange, old: DesignDescription, new: DesignDescription, workload: Workload
) -> ChangeCost:
    """Return what a change from one version to another costs."""
    load = workload.of(change.table)
    before, after = (each.tables.get(change.table) for each in (old, new))
    writes = _writes(change, before, after)
    reads = 0
    is_read = bool(writes) and change.need is not Need.TABLE_UPDATE
    if is_read or change.need is Need.RECOUNT:
        reads = math.ceil(load.items * load.size / READ_UNIT_SIZE)
    if change.need is Need.RESERVATION:
        reads += load.items
    written = load.items * writes * write_units(load.size)
    if change.need is Need.RESERVATION:  # a sentinel, and a check of the item
        written = load.items * writes
    return _priced(reads, written, workload)


def _priced(reads: float, writes: float, workload: Workload) -> ChangeCost:
    prices = workload.prices.on_demand
    money = (reads * prices.read + writes * prices.write) / 1e6
    return ChangeCost(reads, writes, money, writes / workload.rate)


def estimate_step(
    step: MigrationStep,
    changes: Sequence[DesignChange],
    old: TableDesign,
    new: TableDesign,
    workload: Workload,
    table: str,
) -> ChangeCost:
    """Return what a step of a migration costs; all changes are carried out in one pass.

    Every write is in a transaction, which costs twice the units, in the indexes as well.
    """
    load = workload.of(table)
    by_entity: dict[str, list[DesignChange]] = {}
    for each in changes:
        by_entity.setdefault(each.entity, []).append(each)
    values = max(map(_reservations, by_entity.values()), default=0)
    reads, writes = 0, 0.0
    if step.name in ("check", "rewrite", "verify", "clean"):
        reads = math.ceil(load.items * load.size / READ_UNIT_SIZE)
    if step.name in ("check", "rewrite", "verify"):
        reads += load.items * values  # the sentinels
    if step.name == "verify":
        reads += load.items * values  # the items that they name
    if step.name == "rewrite":
        written = max(_rewrites(each, old) for each in by_entity.values())
        writes = load.items * TRANSACTION_FACTOR * (written * write_units(load.size) + 2 * values)
    elif step.name == "clean":
        whole = max(len(_whole_indexes(new, _entity(new, name))) for name in by_entity)
        writes = load.items * TRANSACTION_FACTOR * (1 + whole) * write_units(load.size)
    elif step.name == "create-index" and not _is_composed(new, step.part):
        writes = load.items * write_units(load.size)
    return _priced(reads, writes, workload)


def _reservations(changes: Sequence[DesignChange]) -> int:
    return sum(each.need is Need.RESERVATION for each in changes)


def _rewrites(changes: Sequence[DesignChange], old: TableDesign) -> int:
    """Return the writes for each item of an entity: of the item, and of its index entries."""
    if not any(each.need in (Need.BACKFILL, Need.REWRITE) for each in changes):
        return 0
    places = {
        each.part: 1 if each.kind.name == "place-added" else _REPLACED
        for each in changes
        if each.need is Need.BACKFILL
    }
    others = _whole_indexes(old, _entity(old, changes[0].entity)) - places.keys()
    return 1 + sum(places.values()) + len(others)


def _writes(change: DesignChange, old: TableDesign | None, new: TableDesign | None) -> int:
    """Return the number of writes for each item, in the table and in its indexes together."""
    entity = _entity(old, change.entity) or _entity(new, change.entity)
    whole = _whole_indexes(old, entity)
    match change.need:
        case Need.TABLE_UPDATE:
            return int(change.kind.name in _INDEX_BUILT and not _is_composed(new, change.part))
        case Need.BACKFILL:
            entries = 1 if change.kind.name == "place-added" else _REPLACED
            return 1 + entries + len(whole - {change.part})
        case Need.REWRITE:
            return 1 + len(whole)
        case Need.RESERVATION:
            return 2 * TRANSACTION_FACTOR
        case Need.MOVES:
            return 2 * TRANSACTION_FACTOR + _REPLACED * len(_indexes(old, entity))
        case Need.ANOTHER_TABLE:
            return 1 + len(_indexes(new, None))
    return 0


_INDEX_BUILT = frozenset({"index-added", "index-changed"})


def _entity(table: TableDesign | None, name: str) -> EntityDescription | None:
    entities = {} if table is None else table.entities or {}
    renamed = (each for each in entities.values() if name and name in each.former_types)
    return entities.get(name) or next(renamed, None)


def _indexes(table: TableDesign | None, entity: EntityDescription | None) -> frozenset[str]:
    """Return the indexes that contain items of an entity; all, if it is not known."""
    names = frozenset(() if table is None else table.indexes)
    return names if entity is None else names & entity.places.keys()


def _whole_indexes(table: TableDesign | None, entity: EntityDescription | None) -> frozenset[str]:
    """Return the indexes of an entity that hold all attributes, so every write reaches them."""
    indexes = {} if table is None else table.indexes
    return frozenset(n for n in _indexes(table, entity) if indexes[n].projection == "ALL")


def _is_composed(table: TableDesign | None, index: str) -> bool:
    """Return whether the program writes the keys of an index, so that a backfill fills it."""
    entities = {} if table is None else table.entities or {}
    places = [key for each in entities.values() for key in each.places.get(index, ())]
    return bool(places) and all(key.is_composed for key in places)
