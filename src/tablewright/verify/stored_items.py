"""Stored items: check that a design describes the items of an existing table.

Each item must belong to an entity of the table, and its keys (those of the table and of every
index) must be the ones that its values give. Each unique value must have a sentinel that names its
entity, and each sentinel such a value. Each counter must be what it counts, and each counted item
must have its parent. The index record is not counted.

This module reads nothing and writes nothing: the caller passes the items.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, time
from itertools import chain

import msgspec
from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.counters import Amount
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.reads.several import item_identity
from tablewright.plan.writes.counting import stored_amount
from tablewright.plan.writes.effect import read_values, sentinel, unique_names
from tablewright.values import Item, Value

#: The number of differences that a report keeps; the others are only counted.
SHOWN = 20


class StoredDifference(Struct, frozen=True):
    """An item that the design does not describe."""

    #: The item's key, as text.
    key: str
    #: The entity of the item; "" if no entity is recognized.
    entity: str
    problem: str

    def __str__(self) -> str:
        return f"{self.key}: {f'{self.entity}: ' if self.entity else ''}{self.problem}"


class StoredReport(Struct):
    """The result of comparing a table's items with its design."""

    table: str
    #: The number of items of each entity, by name; sentinels and unknown items have "".
    entities: Counter[str]
    differences: list[StoredDifference]
    #: The number of sentinels of unique values.
    sentinels: int = 0
    #: The number of all differences, also of those that are not kept.
    different: int = 0

    @property
    def items(self) -> int:
        return self.entities.total()

    def __bool__(self) -> bool:
        return not self.different


def compare_stored(table: TableMap, items: Iterable[Item], *, shown: int = SHOWN) -> StoredReport:
    """Compare items with the entities of a table, and keep the first differences."""
    report = StoredReport(table.name, Counter(), [])
    values = _UniqueValues(table)
    spellings = _Spellings(table)
    counters = _Counters(table)

    def add(difference: StoredDifference) -> None:
        report.different += 1
        if len(report.differences) < shown:
            report.differences.append(difference)

    for item in items:
        kind = table.identify(item)
        if kind.is_record:
            continue
        entity = kind.stored
        report.entities[entity.name if entity else ""] += 1
        if entity is not None:
            values.add_entity(entity, item)
            counters.add(entity, item)
            if problem := _type_problem(entity, item) or _key_problem(entity, item):
                add(StoredDifference(_key_text(table, item), entity.name, problem))
            else:
                spellings.add(entity, item)
        elif kind.unique is not None:
            report.sentinels += 1
            values.add_sentinel(kind.unique, item)
        else:
            add(StoredDifference(_key_text(table, item), "", _unknown(table, item)))
    for difference in chain(values.unmatched(), counters.wrong()):
        add(difference)
    for difference, count in spellings.mixed():
        add(difference)
        report.different += count
    return report


class _OtherSpelling(Struct):
    """The items whose values of one attribute are spelled in another way than the design does."""

    example: StoredDifference
    #: The number of the others.
    more: int = 0


class _Spellings(Struct):
    """The spellings of the times in a table: texts of different ones do not sort as the times do.

    The first item with each other spelling is kept; the others are counted.
    """

    table: TableMap
    #: By entity and attribute: each spelling, with the items that have another one than the design.
    found: dict[tuple[str, str], dict[tuple[int, int, str], _OtherSpelling | None]] = {}

    def add(self, entity: EntityMap, item: Item) -> None:
        """Add the times of an item that can be read."""
        values = entity.values(item)
        for attribute in entity.attributes.values():
            stored = item.get(attribute.stored, {})
            if attribute.converter.kind not in (datetime, date, time) or "S" not in stored:
                continue
            spellings = self.found.setdefault((entity.name, attribute.name), {})
            spelling = _spelling_of(stored["S"])
            expected = attribute.store(attribute.fit(values[attribute.name])) or {}
            other = spellings.get(spelling)
            if other is not None:
                other.more += 1
            elif "S" not in expected or _spelling_of(expected["S"]) == spelling:
                spellings[spelling] = None
            else:
                problem = (
                    f"{attribute.stored} is {_shown(stored)}, but other items spell it like "
                    f"{_shown(expected)}, so these texts do not sort as their times do; rewrite "
                    "the items in one spelling, and declare it: attr(codec=…)"
                )
                difference = StoredDifference(_key_text(self.table, item), entity.name, problem)
                spellings[spelling] = _OtherSpelling(difference)

    def mixed(self) -> Iterator[tuple[StoredDifference, int]]:
        """Yield an item for each other spelling where there are several, and how many it has."""
        for spellings in self.found.values():
            if len(spellings) > 1:
                yield from (
                    (each.example, each.more) for each in spellings.values() if each is not None
                )


def _spelling_of(text: str) -> tuple[int, int, str]:
    """Return the lengths of the time and of its fraction, and the zone."""
    rest = text[19:]
    zone = rest.lstrip(".,0123456789")
    return len(text[:19]), len(rest) - len(zone), zone


class _UniqueValues(Struct):
    """The unique values and the sentinels of a table that have no counterpart yet.

    A scan returns both in any order. Both are known by a digest of the sentinel's attributes, so
    that a table with many of them takes little memory.
    """

    table: TableMap
    values: dict[bytes, list[StoredDifference]] = {}
    sentinels: dict[bytes, StoredDifference] = {}

    def add_entity(self, entity: EntityMap, item: Item) -> None:
        """Add the unique values of an item, unless they cannot be read."""
        with suppress(InvalidValue, UnreadableItem):
            for unique in entity.uniques:
                values = read_values(entity, item, unique_names(unique))
                if (expected := sentinel(entity, unique, values)) is None:
                    continue
                digest = self._digest(unique, expected)
                if self.sentinels.pop(digest, None) is None:
                    problem = (
                        f"its value of {unique.key.name} is not reserved: the sentinel "
                        f"{_key_text(self.table, expected)} is missing, or names another item"
                    )
                    found = StoredDifference(_key_text(self.table, item), entity.name, problem)
                    self.values.setdefault(digest, []).append(found)

    def add_sentinel(self, unique: UniqueMap, item: Item) -> None:
        digest = self._digest(unique, item)
        if waiting := self.values.get(digest):
            waiting.pop()
        else:
            problem = f"no item has the value of {unique.key.name} that this sentinel reserves"
            self.sentinels[digest] = StoredDifference(_key_text(self.table, item), "", problem)

    def unmatched(self) -> Iterator[StoredDifference]:
        """Yield a difference for each value without sentinel and each sentinel without value."""
        yield from chain.from_iterable(self.values.values())
        yield from self.sentinels.values()

    def _digest(self, unique: UniqueMap, item: Item) -> bytes:
        names = [*self.table.key(item), *(kept.stored for kept in unique.keeps)]
        content = msgspec.json.encode([item.get(name) for name in names])
        return hashlib.blake2b(content, digest_size=16).digest()


class _Counters(Struct):
    """The counters of parents, and what their children add up to, each by the key of the parent."""

    table: TableMap
    parents: dict[bytes, tuple[EntityMap, str, dict[str, Amount]]] = {}
    sums: dict[bytes, dict[str, Amount]] = {}
    #: A counted item of each parent, and the counter.
    children: dict[bytes, tuple[str, str, str]] = {}

    def add(self, entity: EntityMap, item: Item) -> None:
        """Add the counters of an item, and what it adds to others, unless they cannot be read."""
        with suppress(InvalidValue, UnreadableItem):
            if entity.maintained:
                amounts = {e.name: stored_amount(entity, e.stored, item) for e in entity.maintained}
                where = _key_text(self.table, item)
                self.parents[item_identity(self.table.key(item))] = entity, where, amounts
            for counter in entity.counted:
                added = counter.amount(read_values(entity, item, counter.sources))
                if added is not None:
                    identity, name = item_identity(added[0]), counter.attribute.name
                    sums = self.sums.setdefault(identity, {})
                    sums[name] = sums.get(name, 0) + added[1]
                    if identity not in self.children:
                        where = _key_text(self.table, item)
                        self.children[identity] = where, entity.name, counter.name

    def wrong(self) -> Iterator[StoredDifference]:
        """Yield a difference for each wrong counter, and one for each parent that is missing."""
        for identity, (entity, where, amounts) in self.parents.items():
            sums = self.sums.get(identity, {})
            for name, amount in amounts.items():
                counted = sums.get(name, 0)
                if amount != counted:
                    problem = (
                        f"{name} is {amount}, but {counted} is counted; correct it: "
                        "tablewright reconcile"
                    )
                    yield StoredDifference(where, entity.name, problem)
        for identity, (where, child, counter) in self.children.items():
            if identity not in self.parents:
                problem = f"{counter} counts it, but the item that has this counter does not exist"
                yield StoredDifference(where, child, problem)


def _key_problem(entity: EntityMap, item: Item) -> str:
    """Return how the keys of an item differ from those of its values; "" if they are equal."""
    try:
        expected = entity.rekey(item)
    except (InvalidValue, UnreadableItem) as error:
        return str(error)
    names = sorted(name for name in {*item, *expected} if item.get(name) != expected.get(name))
    return "; ".join(
        f"{name} is {_shown(item.get(name))}, but its values give {_shown(expected.get(name))}"
        for name in names
    )


def _type_problem(entity: EntityMap, item: Item) -> str:
    """Return how the type of an item differs from those of its entity; "" if it does not."""
    table = entity.table
    if not table.has_foreign_type(item):
        return ""
    own = " or ".join(map(repr, entity.type_names))
    name = str(table.type_attribute)
    return f"it has its key, but {name} is {_shown(item[name])}, which is not {own}"


def _unknown(table: TableMap, item: Item) -> str:
    name = table.type_attribute
    if name is not None and name in item:
        return f"no entity has the type {_shown(item[name])}"
    return "no entity has a key like this"


def _key_text(table: TableMap, item: Item) -> str:
    names = (name for name in table.attributes if name is not None)
    return ", ".join(f"{name}={_shown(item.get(name))}" for name in names)


def _shown(value: Value | None) -> str:
    return "absent" if value is None else repr(next(iter(value.values())))
