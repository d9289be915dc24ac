"""Shapes: what a plan will ask of DynamoDB, told without running it.

`explain(pattern)` shows the shape of a traced pattern. Values that are not known yet stand in
braces, as in the documents: `PK="USER" AND SK="USER#{id}"`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tablewright.limits import READ_UNIT_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap, SortCondition
from tablewright.values import Value

#: Bytes that a value of each type is taken to have, for estimates.
TYPICAL = {"S": 24, "N": 5, "BOOL": 1, "B": 64, "L": 120, "M": 120, "SS": 60, "NS": 20, "BS": 120}
#: A page without a limit is taken to be this many items; DynamoDB ends it at 1 MB.
TYPICAL_PAGE = 20


class Shape(Struct, frozen=True):
    """What a plan asks of DynamoDB."""

    operation: str
    table: str
    entity: str
    #: The name of the index; None for the table itself.
    index: str | None = None
    #: The condition on the key, as the documents write it.
    condition: str = ""
    order: str = ""
    #: The most items that one request gives; for a write, how many actions it is.
    page: str = ""
    filter: str = ""
    read_units: float = 0
    write_units: float = 0
    #: The requests of a plan that makes several.
    steps: tuple[Shape, ...] = ()

    def __str__(self) -> str:
        where = f"{self.table}.{self.index}" if self.index else self.table
        lines = [f"{self.operation} on {where}: {self.condition}".rstrip(": ")]
        writes = self.write_units > 0
        for label, value in (
            ("order", self.order),
            ("actions" if writes else "page", self.page),
            ("if" if writes else "filter", self.filter),
            ("units", self._units()),
        ):
            if value:
                lines.append(f"  {label}: {value}")
        lines += ["  " + line for step in self.steps for line in str(step).splitlines()]
        return "\n".join(lines)

    def _units(self) -> str:
        units = ((self.read_units, "read"), (self.write_units, "write"))
        return ", ".join(f"about {amount:g} {kind}" for amount, kind in units if amount)


def content(value: Value) -> str:
    """A value as documents write it: texts in quotes, numbers bare."""
    ((tag, inside),) = value.items()
    return f'"{inside}"' if tag == "S" else str(inside)


def key_condition(key: Mapping[str, Value]) -> str:
    """A full key: `PK="USER" AND SK="USER#1"`."""
    return " AND ".join(f"{name}={content(value)}" for name, value in key.items())


def key_template(entity: EntityMap) -> str:
    """The key of an entity that is not known yet: `PK="USER" AND SK="USER#{id}"`."""
    templates = zip(
        entity.primary.attributes, (entity.primary.partition, entity.primary.sort), strict=True
    )
    return " AND ".join(
        f'{name}="{template.show()}"' for name, template in templates if template is not None
    )


def query_condition(key: KeyMap, partition: Value, sort: SortCondition | None) -> str:
    """The key condition of a query."""
    name, sort_name = key.attributes
    text = f"{name}={content(partition)}"
    if sort is None:
        return text
    values = [content(value) for value in sort.values]
    if sort.comparison == "between":
        return f"{text} AND {sort_name} BETWEEN {values[0]} AND {values[1]}"
    if sort.comparison == "begins_with":
        return f"{text} AND begins_with({sort_name}, {values[0]})"
    return f"{text} AND {sort_name}{sort.comparison}{values[0]}"


def typical_size(entity: EntityMap) -> int:
    """About how many bytes an item of the entity has."""
    size = 60  # its key and its type
    for attribute in entity.attributes.values():
        size += len(attribute.stored) + TYPICAL.get(attribute.converter.tag or "S", 24)
    return size + 50 * len(entity.indexes)


def read_units(size: float, *, consistent: bool) -> float:
    return max(1, math.ceil(size / READ_UNIT_SIZE)) * (1 if consistent else 0.5)


def write_units(
    entity: EntityMap, *, index_entries: int, others: int = 0, transaction: bool = False
) -> float:
    """Of an item, of its entries in indexes, and of other small items in the same transaction."""
    whole = max(1, math.ceil(typical_size(entity) / WRITE_UNIT_SIZE))
    return (whole * (1 + index_entries) + others) * (2 if transaction else 1)


def shown(value: Any) -> str:
    """An argument of a plan, or the symbol that stands for it."""
    return str(value) if isinstance(value, int) else repr(value)
