"""Shapes: what a plan will ask of DynamoDB, without running it.

`explain(pattern)` shows the shape of a traced pattern. Values that are not known yet are in braces:
`PK="USER" AND SK="USER#{id}"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tablewright import capacity
from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexKeys, KeyMap
from tablewright.plan.units import (
    ITEM_WRITE,
    NOTHING,
    UnitRange,
    item_read,
    item_write,
)
from tablewright.values import Value
from tablewright.wire.operations import READS as READS

#: The assumed size of a value of each type in bytes, for estimates.
TYPICAL = {"S": 24, "N": 5, "BOOL": 1, "B": 64, "L": 120, "M": 120, "SS": 60, "NS": 20, "BS": 120}
#: The assumed number of items on a page without a limit; DynamoDB ends it at 1 MB.
TYPICAL_PAGE = 20

#: How a key shows the argument `orders: list[Order]`, which is traced with one member.
_MEMBER_OF_LIST = re.compile(r"\{\w+\[\]")


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
    #: The attributes that a read with a projection names; empty if it reads whole items.
    attributes: tuple[str, ...] = ()
    #: The units for items of typical size, and the lowest and highest possible.
    read_units: float = 0
    write_units: float = 0
    read_range: UnitRange = NOTHING
    write_range: UnitRange = NOTHING
    #: The requests of a plan with several, and the actions of a transaction.
    steps: tuple[Shape, ...] = ()
    #: What a write sets, with the index keys that follow: `status = {status}`.
    sets: tuple[str, ...] = ()
    #: What must hold for a write to be applied: `the item exists`, `version = {order.version}`.
    requires: tuple[str, ...] = ()

    @property
    def requests(self) -> tuple[Shape, ...]:
        """Return every request of the plan, in order; a transaction's steps are its actions."""
        if not self.steps:
            return (self,)
        writes = [step.requests for step in self.steps]
        if self.operation != "TransactWriteItems":
            return tuple(chain.from_iterable(writes))
        if not any(step.steps for step in self.steps):  # the requests and actions of one write
            writes = [self.steps]
        before: list[Shape] = []
        after: list[Shape] = []
        for requests in writes:
            is_read = [request.operation in READS for request in requests]
            first = is_read.index(False) if False in is_read else len(is_read)
            before += requests[:first]
            after += compress(requests[first:], is_read[first:])
        actions = [action for step in self.steps for action in step._actions()]
        own = replace(self, steps=tuple(actions), read_units=0, read_range=NOTHING)
        return (*before, own, *after)

    def _actions(self) -> list[Shape]:
        """Return the actions of a write inside of a transaction."""
        if self.operation in READS:
            return []
        if not self.operation.endswith(("Item", "Items")):
            return [self]
        if self.operation == "TransactWriteItems":
            return [action for step in self.steps for action in step._actions()] or [self]
        return [
            replace(
                self,
                operation=self.operation.removesuffix("Item"),
                read_units=0,
                read_range=NOTHING,
                write_units=self.write_units * TRANSACTION_FACTOR,
                write_range=self.write_range * TRANSACTION_FACTOR,
                steps=(),
            )
        ]

    def __str__(self) -> str:
        where = f"{self.table}.{self.index}" if self.index else self.table
        lines = [f"{self.operation} on {where}: {self.condition}".rstrip(": ")]
        for label, value in (
            ("order", self.order),
            ("actions" if self.writes else "page", self.page),
            ("filter", "" if self.writes else self.filter),
            ("sets", "" if self.steps else "; ".join(self.sets)),
            ("requires", "" if self.steps else "; ".join(self.requires)),
            ("units", self.units),
        ):
            if value:
                lines.append(f"  {label}: {value}")
        lines += ["  " + line for step in self.steps for line in str(step).splitlines()]
        return "\n".join(lines)

    @property
    def writes(self) -> bool:
        """Whether the plan writes anything."""
        return self.write_range != NOTHING

    @property
    def transaction_factor(self) -> int:
        """How many times its units a write consumes in a transaction, where items count double."""
        # These are in one anyway, so their units are those of one already.
        is_in_one = self.operation in ("TransactWriteItems", "ConditionCheck")
        return 1 if is_in_one else TRANSACTION_FACTOR

    @property
    def in_transaction(self) -> UnitRange:
        """The units of a write in a transaction."""
        return self.write_range * self.transaction_factor

    @property
    def is_for_each(self) -> bool:
        """Whether it stands for any number: its key is made of a member of a list argument."""
        return _MEMBER_OF_LIST.search(self.condition) is not None

    @property
    def units(self) -> str:
        """Return the units as text: an estimate for items of a typical size, and the maximum."""
        return self.show_units("estimate", self.read_units, self.write_units)

    def show_units(self, label: str, reads: float, writes: float) -> str:
        """Return units as text: `1 read, 7 write (LABEL); at most 100 read, 6,400 write`."""
        both = ((reads, "read", self.read_range), (writes, "write", self.write_range))
        amounts = [f"{round(amount, 2):g} {kind}" for amount, kind, _ in both if amount]
        most = [whole.most(kind) for _, kind, whole in both if whole != NOTHING]
        return f"{', '.join(amounts) or 'none'} ({label}); at most {', '.join(most)}"


def content(value: Value) -> str:
    """Render a value: texts in quotes, numbers without."""
    ((tag, inside),) = value.items()
    return f'"{inside}"' if tag == "S" else str(inside)


def key_condition(key: Mapping[str, Value], separator: str = " AND ") -> str:
    """Render a whole key: `PK="USER" AND SK="USER#1"`."""
    return separator.join(f"{name}={content(value)}" for name, value in key.items())


def key_template(entity: EntityMap) -> str:
    """Render the key of an entity that is not known yet: `PK="USER" AND SK="USER#{id}"`."""
    return template_text(entity.primary, " AND ")


def template_text(key: KeyMap, separator: str) -> str:
    """Render the templates of a key: `PK="USER" AND SK="USER#{id}"`."""
    return separator.join(f'{name}="{each.show()}"' for name, each in key.templates.items())


def query_condition(condition: KeyCondition) -> str:
    """Render the key condition of a query."""
    text, sort = key_condition(condition.equal), condition.sort
    if sort is None:
        return text
    values = [content(value) for value in sort.values]
    if sort.comparison == "between":
        return f"{text} AND {sort.attribute} BETWEEN {values[0]} AND {values[1]}"
    if sort.comparison == "begins_with":
        return f"{text} AND begins_with({sort.attribute}, {values[0]})"
    return f"{text} AND {sort.attribute}{sort.comparison}{values[0]}"


def typical_size(entity: EntityMap) -> int:
    """Estimate the size of an item of the entity, in bytes."""
    size = 60  # its key and its type
    for attribute in entity.attributes.values():
        size += len(attribute.stored) + TYPICAL.get(attribute.converter.tag or "S", 24)
    return size + 50 * len(entity.indexes)


def write_units(entity: EntityMap, index_rows: int, side_items: int) -> float:
    """Estimate the units of a write of an item, its index rows and other small items."""
    return capacity.write_units(typical_size(entity)) * (1 + index_rows) + side_items


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
    sets: Iterable[str] = (),
    requires: Iterable[str] = (),
    actions: Sequence[Shape] = (),
    optional: Sequence[Shape] = (),
) -> Shape:
    """Return the shape of a write of one item, with its index rows and side items.

    `operation` is that of the write without side items; `indexes` are those to name; `actions` are
    those of the side items, and `optional` those that only some of the writes have.
    """
    most = max(side_items, len(actions)) + len(optional)
    several = side_items > 0
    units = write_units(entity, index_rows, side_items)
    # Side items can have index rows, too.
    rows = sum(max(0, action.write_units - TRANSACTION_FACTOR) for action in actions)
    largest = ITEM_WRITE * TRANSACTION_FACTOR
    every = (*actions, *optional)
    more = UnitRange(0, sum(action.write_range.high - largest for action in every))
    shape = Shape(
        operation="TransactWriteItems" if several else operation,
        table=entity.table.name,
        entity=entity.name,
        index=", ".join(key.index.name for key in indexes if key.index is not None) or None,
        condition=condition,
        page=str(1 + side_items),
        filter=" AND ".join(map(repr, conditions)),
        read_units=1 if reads else 0,
        write_units=units * (TRANSACTION_FACTOR if several else 1) + rows,
        # An entity that was never stored is not read.
        read_range=UnitRange(0, item_read(consistent=True).high) if reads else NOTHING,
        write_range=item_write(entity.index_rows, most) + more,
        sets=tuple(sets),
        requires=tuple(requires),
    )
    if not reads and not several:
        return shape
    factor = TRANSACTION_FACTOR if several else 1
    own = replace(
        shape,
        operation=operation.removesuffix("Item") if several else operation,
        page="1",
        read_units=0,
        read_range=NOTHING,
        write_units=write_units(entity, index_rows, 0) * factor,
        write_range=item_write(entity.index_rows, 0) * factor,
    )
    read = Shape(
        operation="GetItem",
        table=shape.table,
        entity=shape.entity,
        condition=condition,
        page="1",
        read_units=shape.read_units,
        read_range=shape.read_range,
    )
    return replace(shape, steps=((read, own) if reads else (own,)) + tuple(actions))


def shown(value: Any) -> str:
    """Render an argument of a plan, or the symbol that stands for it."""
    return str(value) if isinstance(value, int) else repr(value)
