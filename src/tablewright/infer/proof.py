"""Proof: read every item of the sample with the inferred design, and write it back.

    declare   the tables of a module's source, which no file has yet
    prove     the items that the design stores exactly as they are, and those that it does not

Nothing is written to the table: an entity composes the item that a put would send.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.infer.declaration import InferredDesign
from tablewright.infer.regular import UnexplainedItem
from tablewright.mapping.table import TableMap
from tablewright.values import Item

_MODULE = "tablewright inferred design"  # the space prevents a conflict with a module name


class Proof(Struct, frozen=True):
    """What reading and writing the items of a sample has shown."""

    #: The number of items that are written back byte for byte, sentinels included.
    equal: int
    #: The items that are not, each with what differs.
    different: tuple[UnexplainedItem, ...]


def declare(source: str, owners: Sequence[str]) -> list[TableMap]:
    """Return the tables that a source declares, by the names of their classes."""
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module  # annotations are resolved there
    try:
        exec(compile(source, _MODULE, "exec"), vars(module))
    finally:
        del sys.modules[_MODULE]
    return [vars(module)[owner].__table__ for owner in owners]


def prove(table: TableMap, design: InferredDesign) -> Proof:
    """Read the items that a design explains, and compare them with what would be written."""
    equal = 0
    different = []
    unexplained = {id(each.item) for each in design.unexplained}
    for item in design.sample.items:
        if id(item) in unexplained:
            continue
        problem = difference(table, item)
        if problem:
            different.append(UnexplainedItem(item, problem))
        else:
            equal += 1
    return Proof(equal, tuple(different))


def difference(table: TableMap, item: Item) -> str:
    """Return how an item that is read and written back differs; "" if it does not."""
    kind = table.identify(item)
    if kind.entity is None:
        return "no entity has such a key"
    if kind.unique is not None:
        return ""  # it has the key and the type of a sentinel
    entity = kind.entity
    try:
        made: Any = entity.encode(vars(entity.decode(item)))
    except (InvalidValue, UnreadableItem) as error:
        return f"{entity.name}: {getattr(error, 'reason', '') or error}"
    names = (name for name in sorted({*item, *made}) if made.get(name) != item.get(name))
    return next((f"{entity.name}: {name} is written in another way" for name in names), "")
