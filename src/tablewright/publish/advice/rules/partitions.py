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
from tablewright.mapping.counters import CounterMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.model.pattern import explain
from tablewright.plan.reads.projection import is_projected
from tablewright.plan.shape import typical_size
from tablewright.plan.writes.several import ConditionCheck
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import Write
from tablewright.publish.advice.design_facts import PatternUse, TableFacts
from tablewright.publish.advice.finding import RuleProblem, Severity, rule
from tablewright.publish.advice.source import name_of_key, partition_code, place_of_class

#: What one partition serves in a second.
MAX_WRITES, MAX_READS = 1000, 3000
#: The bytes of an item collection in a table with local indexes.
MAX_COLLECTION = 10 * 1024**3
#: The number of shards to begin with, if no rates are known.
FIRST_SHARDS = 8


@rule("hot-partition", "warning", "A partition key with few values")
def hot_partition(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find keys whose partitions have few values: constants, enums, flags."""
    for each in _keys(facts):
        count = partition_count(each.key)
        if count is not None:
            where = "one partition" if count == 1 else f"{count} partitions"
            reason = (
                f"all items of {each.entity.name} are in {where}, {_shown(each.key)}: together "
                f"they take at most {count * MAX_WRITES:,} write units and {count * MAX_READS:,} "
                "read units per second"
            )
            is_hot = not _is_sharded(each.key) and _has_many_items(each.key)
            yield from each.problems(each.load(), count, where, reason if is_hot else "")


@rule("time-partition", "warning", "A partition key that is a time")
def time_partition(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find keys whose partition is a period of time, so that all writes go to the current one."""
    where = "the partition of the current period"
    for each in _keys(facts):
        if _is_period(each.entity, each.key):
            reason = (
                f"the partition is a time, {_shown(each.key)}: all new items of "
                f"{each.entity.name} go to {where}, which takes at most {MAX_WRITES:,} write units "
                "per second"
            )
            yield from each.problems(replace(each.load(), reads=0.0), 1, where, reason)


@rule("collection-limit", "warning", "An item collection that a local index limits to 10 GB")
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


@rule("hot-counter", "warning", "A counter that many writes change")
def hot_counter(facts: TableFacts) -> Iterator[RuleProblem]:
    """Find parents whose counters change more often than one item takes."""
    for parent in facts.table.entities:
        for child in dict.fromkeys(counter.child for counter in parent.counters):
            counters = [each for each in parent.counters if each.child is child]
            names = ", ".join(each.attribute.name for each in counters)
            most = MAX_WRITES // (TRANSACTION_FACTOR * facts.write_units(parent))
            rate = sum(use.rate or 0 for use in facts.uses if _counts(use, child, counters))
            single = not any(_choices(part) is None for part in parent.primary.parameters)
            if rate <= most and not (single and not rate):
                continue
            which = f"the only {parent.name}" if single else f"one {parent.name}"
            often = (
                f"about {rate:,.0f} writes of {child.name} per second"
                if rate
                else (f"every write of a {child.name}")
            )
            changes = "change" if rate else "changes"
            yield RuleProblem(
                place_of_class(parent.type, counters[0].attribute.name),
                f"{parent.name}.{counters[0].attribute.name}",
                f"{often} {changes} {names}, and {which} takes at most {most:,} in a second",
                "count with a query where the number is needed, or count for smaller parents",
            )


def _counts(use: PatternUse, child: EntityMap, counters: list[CounterMap]) -> bool:
    """Return whether a pattern writes items of an entity so that its counters change."""
    sources = frozenset[str]().union(*(each.sources for each in counters))
    return any(
        not isinstance(plan, ConditionCheck)
        and (not isinstance(plan, Update) or sources & {*explain(plan).changed_names})
        for plan in use.writes(child)
    )


class PartitionLoad(Struct, frozen=True):
    """The units per second of the patterns with a known rate."""

    writes: float
    reads: float
    #: Whether the rates of all patterns that read or write are known.
    is_complete: bool


class _LoadedKey(Struct, frozen=True):
    """A key of an entity, whose partitions take the load of the patterns."""

    facts: TableFacts
    entity: EntityMap
    key: KeyMap

    def load(self) -> PartitionLoad:
        """Return the load on all partitions of the key."""
        units = self.facts.write_units(self.entity)
        writes = reads = 0.0
        rates: list[float | None] = []
        for use in self.facts.uses:
            read = use.reads(self.facts.table, self.key.index)
            requests = [request for request in read if self.entity in request.targets]
            written = [plan for plan in use.writes(self.entity) if self._is_written_by(plan)]
            if requests or written:
                rates.append(use.rate)
                factor = TRANSACTION_FACTOR if "Transact" in use.pattern.shape.operation else 1
                writes += (use.rate or 0) * len(written) * units * factor
                reads += (use.rate or 0) * sum(request.read_units for request in requests)
        return PartitionLoad(writes, reads, bool(rates) and None not in rates)

    def _is_written_by(self, plan: Write[Any]) -> bool:
        """Return whether a write of the entity writes its item, or its row in the index."""
        if self.key.index is None:
            return True
        if isinstance(plan, ConditionCheck):
            return False
        attributes = self.entity.attributes
        return not isinstance(plan, Update) or any(
            name in self.key.depends_on
            or is_projected(self.entity, self.key, attributes[name].stored)
            for name in explain(plan).changed_names
        )

    def problems(
        self, load: PartitionLoad, count: int, where: str, reason: str
    ) -> Iterator[RuleProblem]:
        """Yield an error if the rates exceed what the partitions take.

        If not all rates are known, yield a warning with the reason, unless it is empty.
        """
        shards = math.ceil(max(load.writes / MAX_WRITES, load.reads / MAX_READS))
        if shards > count:
            excess = (
                f"the rates of {self.entity.name} need about {load.writes:,.0f} write units and "
                f"{load.reads:,.0f} read units per second in {where}, {_shown(self.key)}; "
                f"{'it takes' if count == 1 else 'they take'} at most {count * MAX_WRITES:,} and "
                f"{count * MAX_READS:,}"
            )
            yield self._problem(excess, shards, "error")
        elif reason and not load.is_complete:
            yield self._problem(reason, FIRST_SHARDS, "warning")

    def _problem(self, reason: str, shards: int, severity: Severity) -> RuleProblem:
        key, facts = self.key, self.facts
        name = name_of_key(key)
        partition = partition_code(key, f"shard({self._attribute_to_shard()}, of={shards})")
        made = f"key({partition}, …)"
        if key.index is not None:
            made = f"index({facts.index_name(key.index)}, {partition}, …)"
        fix = f"spread them over shards: {self._own_attribute()}{name} = {made}"
        place = place_of_class(self.entity.type, name)
        return RuleProblem(place, key.name, reason, fix, severity)

    def _own_attribute(self) -> str:
        """Return the key attribute that a key with a shard needs, if it has that of a value now."""
        names = self.key.partition_attributes
        if all(self.key.templates[name].natural is None for name in names):
            return ""
        own = f'"{"_".join(names)}_shard"'
        if self.key.index is None:
            return f"class {self.facts.declared.__name__}(Table, pk={own}, …) and "
        return f"{self.facts.index_code(self.key.index, f'{own}, …')} and "

    def _attribute_to_shard(self) -> str:
        """Return an attribute with many values: the last one of the key, or of the primary key."""
        parts = (*self.entity.primary.parameters, *self.key.parameters)
        names = [part.attribute for part in parts if _choices(part) is None]
        kinds = {name: self.entity.attributes[name].converter.kind for name in names}
        return next((name for name in reversed(names) if not _is_time(kinds[name])), "…")


def _keys(facts: TableFacts) -> Iterator[_LoadedKey]:
    """Yield the keys of each entity; a local index has the partitions of the table."""
    for entity in facts.table.entities:
        for key in (entity.primary, *entity.indexes):
            if key.index is None or key.index.kind == "global":
                yield _LoadedKey(facts, entity, key)


def _shown(key: KeyMap) -> str:
    return " and ".join(key.templates[name].show() for name in key.partition_attributes)


def partition_count(key: KeyMap) -> int | None:
    """Return the number of partitions that a key can have; None if nothing limits it."""
    parts = {part.label: part for part in partition_parts(key)}
    choices = [_choices(part) for part in parts.values()]
    known = [each for each in choices if each is not None]
    return math.prod(known) if len(known) == len(choices) else None


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


RULES = (hot_partition, time_partition, collection_limit, hot_counter)
