"""Inferring: a design in memory for a table that has none.

It is what `tablewright infer` writes, from a sample of the items; so the items of any table can be
shown as entities. It is a guess: pages say so, and nothing is written with it.

Invariants: a sample has a limit, however large the table is. No text of an item becomes code
(`tablewright.infer` guarantees it).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from types import ModuleType

from msgspec import Struct

from tablewright.errors import DeclarationError, TableNotFound
from tablewright.infer import infer_design, read_sample, write_module
from tablewright.mapping.table import TableMap
from tablewright.presentation.values import content
from tablewright.transport import Transport
from tablewright.values import Item, tag_of

#: The items of a sample for a page: enough for entities and keys, and read in a tenth of a second.
PAGE_SAMPLE = 200
#: The items of a sample for a design to save.
DESIGN_SAMPLE = 1000


class AttributeFacts(Struct, frozen=True):
    """What a sample shows of an attribute."""

    name: str
    #: Its types, the most frequent one first.
    types: tuple[str, ...]
    #: The number of items that have it.
    count: int
    example: str


class Inference(Struct, frozen=True):
    """What a sample shows of a table."""

    #: None if no design fits.
    table: TableMap | None
    #: The module that declares it.
    source: str
    count: int
    attributes: list[AttributeFacts]
    problem: str = ""


def infer_table(transport: Transport, name: str, size: int = PAGE_SAMPLE) -> Inference | None:
    """Return what a sample of a table shows; None if the table is empty or missing."""
    try:
        sample = read_sample(transport, name, "the target", size)
    except TableNotFound:
        return None
    facts = attribute_facts(sample.items, sample.table.keys.names)
    design = infer_design(sample)
    source = write_module(design)
    try:
        module = _run(source, name)
    except DeclarationError as error:
        return Inference(None, source, len(sample.items), facts, str(error))
    table: TableMap = vars(module)[design.name].__table__
    return Inference(table, source, len(sample.items), facts)


def _run(source: str, name: str) -> ModuleType:
    module = ModuleType(f"inferred {name}")  # the space prevents a conflict with a module name
    sys.modules[module.__name__] = module  # annotations are resolved there
    exec(compile(source, f"<inferred from {name}>", "exec"), vars(module))
    return module


def attribute_facts(items: Sequence[Item], first: Sequence[str]) -> list[AttributeFacts]:
    """Return what items have, the attributes `first` first and then the most frequent ones."""
    types: dict[str, Counter[str]] = {}
    examples: dict[str, str] = {}
    for item in items:
        for attribute, value in item.items():
            types.setdefault(attribute, Counter())[tag_of(value)] += 1
            examples.setdefault(attribute, content(value))
    found = [
        AttributeFacts(
            name,
            tuple(tag for tag, _ in counts.most_common()),
            counts.total(),
            examples[name],
        )
        for name, counts in types.items()
    ]
    order = {name: position for position, name in enumerate(first)}
    return sorted(found, key=lambda each: (order.get(each.name, len(order)), -each.count))
