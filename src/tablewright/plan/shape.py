"""Shapes: what a plan will ask of DynamoDB, without running it.

`explain(pattern)` shows the shape of a traced pattern. Values that are not known yet are in braces:
`PK="USER" AND SK="USER#{id}"`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from tablewright.limits import READ_UNIT_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap, SortCondition
from tablewright.plan.units import NOTHING, TRANSACTION_FACTOR, UnitRange, item_read, item_write
from tablewright.values import Value

#: The assumed size of a value of each type in bytes, for estimates.
TYPICAL = {"S": 24, "N": 5, "BOOL": 1, "B": 64, "L": 120, "M": 120, "SS": 60, "NS": 20, "BS": 120}
#: The assumed number of items on a page without a limit; DynamoDB ends it at 1 MB.
TYPICAL_PAGE = 20


class Shape(Struct, frozen=True):
    """What a plan asks of DynamoDB."""

    operation: str
    table: str
    entity: str
    #: The name of the index; None for the table itself.
    index: str | None = None
    #: The condition on the key.
    condition: str = ""
    order: str = ""
    #: The most items that one request returns; for a write, the number of its actions.
    page: str = ""
    filter: str = ""
    #: The units for items of typical size, and the range that no run leaves.
    read_units: float = 0
    write_units: float = 0
    read_range: UnitRange = NOTHING
    write_range: UnitRange = NOTHING
    #: The requests of a plan with several.
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
        units = (
            (self.read_units, "read", self.read_range),
            (self.write_units, "write", self.write_range),
        )
        return ", ".join(
            f"about {amount:g} {kind} ({whole})" for amount, kind, whole in units if amount
        )


def content(value: Value) -> str:
    """Render a value: texts in quotes, numbers without."""
    ((tag, inside),) = value.items()
    return f'"{inside}"' if tag == "S" else str(inside)


def key_condition(key: Mapping[str, Value], separator: str = " AND ") -> str:
    """Render a whole key: `PK="USER" AND SK="USER#1"`."""
    return separator.join(f"{name}={content(value)}" for name, value in key.items())


def key_template(entity: EntityMap) -> str:
    """Render the key of an entity that is not known yet: `PK="USER" AND SK="USER#{id}"`."""
    templates = zip(
        entity.primary.attributes, (entity.primary.partition, entity.primary.sort), strict=True
    )
    return " AND ".join(
        f'{name}="{template.show()}"' for name, template in templates if template is not None
    )


def query_condition(key: KeyMap, partition: Value, sort: SortCondition | None) -> str:
    """Render the key condition of a query."""
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
    """Estimate the size of an item of the entity, in bytes."""
    size = 60  # its key and its type
    for attribute in entity.attributes.values():
        size += len(attribute.stored) + TYPICAL.get(attribute.converter.tag or "S", 24)
    return size + 50 * len(entity.indexes)


def read_units(size: float, *, consistent: bool) -> float:
    """Return the units of a read of this many bytes."""
    return max(1, math.ceil(size / READ_UNIT_SIZE)) * (1 if consistent else 0.5)


def write_units(entity: EntityMap, index_rows: int, side_items: int) -> int:
    """Estimate the units of a write of an item, its index rows and other small items."""
    whole = max(1, math.ceil(typical_size(entity) / WRITE_UNIT_SIZE))
    return whole * (1 + index_rows) + side_items


def write_shape(
    entity: EntityMap,
    operation: str,
    condition: str,
    *,
    indexes: Iterable[IndexKeys] = (),
    index_rows: int,
    side_items: int,
    conditions: Iterable[object] = (),
    reads: bool = False,
) -> Shape:
    """Return the shape of a write of one item, with its index rows and side items.

    `operation` is that of the write without side items; `indexes` are those to name.
    """
    several = side_items > 0
    units = write_units(entity, index_rows, side_items)
    return Shape(
        operation="TransactWriteItems" if several else operation,
        table=entity.table.name,
        entity=entity.name,
        index=", ".join(key.index.name for key in indexes if key.index is not None) or None,
        condition=condition,
        page=str(1 + side_items),
        filter=" AND ".join(map(repr, conditions)),
        read_units=1 if reads else 0,
        write_units=units * (TRANSACTION_FACTOR if several else 1),
        # An entity that was never stored is not read.
        read_range=UnitRange(0, item_read(consistent=True).high) if reads else NOTHING,
        write_range=item_write(len(entity.index_keys), side_items),
    )


def shown(value: Any) -> str:
    """Render an argument of a plan, or the symbol that stands for it."""
    return str(value) if isinstance(value, int) else repr(value)
