"""Stored items: check that a design describes the items of an existing table.

Each item must belong to an entity of the table, and its keys (those of the table and of every
index) must be the ones that its values give. Sentinels of unique values have no entity; they are
recognized by their keys, and so is the index record, which is not counted.

This module reads nothing and writes nothing: the caller passes the items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.entity import EntityMap, content_of
from tablewright.mapping.record_key import is_record
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser
from tablewright.values import Item, Value

#: The number of differences that a report keeps; the others are only counted.
SHOWN = 20


class Difference(Struct, frozen=True):
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
    differences: list[Difference]
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
    is_sentinel = sentinel_test(table)
    for item in items:
        entity = table.entity_of(item)
        if entity is None and is_record(table.key(item).values()):
            continue
        report.entities[entity.name if entity else ""] += 1
        if entity is None:
            problem = "" if is_sentinel(item) else _unknown(table, item)
            report.sentinels += not problem
        else:
            problem = _type_problem(entity, item) or _key_problem(entity, item)
        if problem:
            report.different += 1
            if len(report.differences) < shown:
                name = entity.name if entity else ""
                report.differences.append(Difference(_key_text(table, item), name, problem))
    return report


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


def sentinel_test(table: TableMap) -> Callable[[Item], bool]:
    """Return the function that tells whether an item has the key of a sentinel."""
    sentinels = [
        [Parser(each) for each in (unique.key.partition, unique.key.sort) if each is not None]
        for entity in table.entities
        for unique in entity.uniques
    ]

    def is_sentinel(item: Item) -> bool:
        texts = [content_of(item, name) for name in table.attributes if name is not None]
        return any(
            all(parser.texts(text) is not None for parser, text in zip(parsers, texts, strict=True))
            for parsers in sentinels
        )

    return is_sentinel


def _key_text(table: TableMap, item: Item) -> str:
    names = (name for name in table.attributes if name is not None)
    return ", ".join(f"{name}={_shown(item.get(name))}" for name in names)


def _shown(value: Value | None) -> str:
    return "absent" if value is None else repr(next(iter(value.values())))
