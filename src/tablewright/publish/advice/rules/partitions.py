"""Rules of partitions: how many there are, and how much each must take.

DynamoDB serves at most 1,000 write units and 3,000 read units per second for one value of a
partition key, in a table and in an index. If rates are known, a rule compares them with these
numbers; without rates, it finds keys with few values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.parts import KeyPart
from tablewright.model.pattern import explain
from tablewright.plan.reads.projection import is_projected
from tablewright.plan.shape import typical_size
from tablewright.plan.writes.several import ConditionCheck
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import Write
from tablewright.publish.advice.facts import TableFacts
from tablewright.publish.advice.finding import Rule, RuleProblem, Severity
from tablewright.publish.advice.source import name_of_key, partition_code, place_of_class

#: What one partition serves in a second.
MAX_WRITES, MAX_READS = 1000, 3000
#: The bytes of an item collection in a table with local indexes.
MAX_COLLECTION = 10 * 1024**3
#: The number of shards to begin with, if no rates are known.
FIRST_SHARDS = 8


def hot_partition(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find keys whose partitions have few values: constants, enums, flags."""
    for entity, key in _keys(facts):
        count = partition_count(key)
        if count is None:
            continue
        load = _load(facts, entity, key)
        where = "one partition" if count == 1 else f"{count} partitions"
        overload = list(_overload(facts, entity, key, load, count, where))
        yield from overload
        if overload or load.is_complete:
            continue
        if not _is_sharded(key) and _has_many_items(key):
            yield _problem(
                facts,
                entity,
                key,
                f"all items of {entity.name} are in {where}, {_shown(key)}: together they take at "
                f"most {count * MAX_WRITES:,} write units and {count * MAX_READS:,} read units per "
                "second",
                FIRST_SHARDS,
            )


def time_partition(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find keys whose partition is a period of time, so that all writes go to the current one."""
    for entity, key in _keys(facts):
        if not _is_period(entity, key):
            continue
        load = _load(facts, entity, key)
        where = "the partition of the current period"
        overload = list(_overload(facts, entity, key, replace(load, reads=0.0), 1, where))
        yield from overload
        if not overload and not load.is_complete:
            yield _problem(
                facts,
                entity,
                key,
                f"the partition is a time, {_shown(key)}: all new items of {entity.name} go to "
                f"{where}, which takes at most {MAX_WRITES:,} write units per second",
                FIRST_SHARDS,
            )


def collection_limit(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find entities whose items are all in few item collections of a table with local indexes."""
    local = [each for each in facts.table.indexes.values() if each.kind == "local"]
    for entity in facts.table.entities if local else ():
        key = entity.primary
        count = partition_count(key)
        if count is None or not _has_many_items(key):
            continue
        rows = 1 + sum(entity in [each for each, _ in facts.keys_in(index)] for index in local)
        size = (facts.size(entity) or typical_size(entity)) * rows
        stored = facts.counts.get(entity.name)
        if stored is not None and stored * size < count * MAX_COLLECTION / 2:
            continue
        where = "one item collection" if count == 1 else f"{count} item collections"
        yield RuleProblem(
            place_of_class(entity.type, name_of_key(key)),
            key.name,
            f"all items of {entity.name} are in {where}, {_shown(key)}, and a local index limits "
            f"each to 10 GB: about {count * MAX_COLLECTION // size:,} items of {size} bytes with "
            "their index rows",
            f"use a global index: {facts.index_attribute(local[0])} = GSI(…)",
        )


class PartitionLoad(Struct, frozen=True):
    """The units per second of the patterns with a known rate."""

    writes: float
    reads: float
    #: Whether the rates of all patterns that read or write are known.
    is_complete: bool


def partition_count(key: KeyMap) -> int | None:
    """Return the number of partitions that a key can have; None if nothing limits it."""
    count = 1
    parts = {part.label: part for part in partition_parts(key)}
    for part in parts.values():
        choices = _choices(part)
        if choices is None:
            return None
        count *= choices
    return count


def partition_parts(key: KeyMap) -> list[KeyPart]:
    return [part for name in key.partition_attributes for part in key.templates[name].parts]


def _choices(part: KeyPart) -> int | None:
    """Return the number of values of a part; None if nothing limits it."""
    kind = part.notation.kind
    if part.notation.shards:
        return part.notation.shards
    if kind is bool:
        return 2
    if get_origin(kind) is Literal:
        return len(get_args(kind))
    return len(kind) if isinstance(kind, type) and issubclass(kind, Enum) else None


def _keys(facts: TableFacts) -> Iterator[tuple[EntityMap, KeyMap]]:
    """Yield the keys of each entity; a local index has the partitions of the table."""
    for entity in facts.table.entities:
        for key in (entity.primary, *entity.indexes):
            if key.index is None or key.index.kind == "global":
                yield entity, key


def _is_sharded(key: KeyMap) -> bool:
    return any(part.notation.shards for part in partition_parts(key))


def _has_many_items(key: KeyMap) -> bool:
    """Return whether a partition can have any number of items."""
    parts = [part for name in key.sort_attributes for part in key.templates[name].parts]
    return any(_choices(part) is None for part in parts)


def _is_period(entity: EntityMap, key: KeyMap) -> bool:
    parts = partition_parts(key)
    if not parts or _is_sharded(key):
        return False
    kinds = [(part, entity.attributes[part.attribute].converter.kind) for part in parts]
    # A whole datetime is as good as unique.
    return all(_is_time(kind) and not (part.is_plain and kind is not date) for part, kind in kinds)


def _is_time(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, date)


def _load(facts: TableFacts, entity: EntityMap, key: KeyMap) -> PartitionLoad:
    """Return the load on all partitions of a key."""
    units = facts.write_units(entity)
    writes = reads = 0.0
    rates: list[float | None] = []
    for use in facts.uses:
        requests = [
            request for request in use.reads(facts.table, key.index) if entity in request.targets
        ]
        written = [plan for plan in use.writes(entity) if _writes(plan, entity, key)]
        if requests or written:
            rates.append(use.rate)
            factor = TRANSACTION_FACTOR if "Transact" in use.pattern.shape.operation else 1
            writes += (use.rate or 0) * len(written) * units * factor
            reads += (use.rate or 0) * sum(request.read_units for request in requests)
    return PartitionLoad(writes, reads, bool(rates) and None not in rates)


def _writes(plan: Write[Any], entity: EntityMap, key: KeyMap) -> bool:
    """Return whether a write of an entity writes its item, or its row in the index of a key."""
    if key.index is None:
        return True
    if isinstance(plan, ConditionCheck):
        return False
    return not isinstance(plan, Update) or any(
        name in key.depends_on or is_projected(entity, key, entity.attributes[name].stored)
        for name in explain(plan).changed_names
    )


def _overload(
    facts: TableFacts, entity: EntityMap, key: KeyMap, load: PartitionLoad, count: int, where: str
) -> Iterator[RuleProblem]:
    """Yield an error if the rates exceed what the partitions can take."""
    shards = math.ceil(max(load.writes / MAX_WRITES, load.reads / MAX_READS))
    if shards > count:
        yield _problem(
            facts,
            entity,
            key,
            f"the rates of {entity.name} need about {load.writes:,.0f} write units and "
            f"{load.reads:,.0f} read units per second in {where}, {_shown(key)}; "
            f"{'it takes' if count == 1 else 'they take'} at most {count * MAX_WRITES:,} and "
            f"{count * MAX_READS:,}",
            shards,
            "error",
        )


def _shown(key: KeyMap) -> str:
    return " and ".join(key.templates[name].show() for name in key.partition_attributes)


def _problem(
    facts: TableFacts,
    entity: EntityMap,
    key: KeyMap,
    reason: str,
    shards: int,
    severity: Severity = "warning",
) -> RuleProblem:
    shard = f"shard({_attribute_to_shard(entity, key)}, of={shards})"
    name, partition = name_of_key(key), partition_code(key, shard)
    made = (
        f"key({partition}, …)"
        if key.index is None
        else f"index({facts.index_name(key.index)}, {partition}, …)"
    )
    return RuleProblem(
        place_of_class(entity.type, name),
        key.name,
        reason,
        f"spread them over shards: {_own_attribute(facts, key)}{name} = {made}",
        severity,
    )


def _own_attribute(facts: TableFacts, key: KeyMap) -> str:
    """Return the key attribute that a key with a shard needs, if it has that of a value now."""
    names = key.partition_attributes
    if all(key.templates[name].natural is None for name in names):
        return ""
    own = f'"{"_".join(names)}_shard"'
    if key.index is None:
        return f"class {facts.declared.__name__}(Table, pk={own}, …) and "
    return f"{facts.index_code(key.index, f'{own}, …')} and "


def _attribute_to_shard(entity: EntityMap, key: KeyMap) -> str:
    """Return an attribute with many values: the last one of the key, or of the primary key."""
    attributes = [
        part.attribute
        for part in (*entity.primary.parameters, *key.parameters)
        if _choices(part) is None and not _is_time(entity.attributes[part.attribute].converter.kind)
    ]
    return attributes[-1] if attributes else "…"


RULES = (
    Rule("hot-partition", "warning", "A partition key with few values", hot_partition),
    Rule("time-partition", "warning", "A partition key that is a time", time_partition),
    Rule(
        "collection-limit",
        "warning",
        "An item collection that a local index limits to 10 GB",
        collection_limit,
    ),
)
