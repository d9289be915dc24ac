"""Evidence: how sure an inferred design is, and the proof that it stores the items of the sample.

    declare    the tables of a module's source, which no file has yet
    prove      the items that the design stores exactly as they are, and those that it does not
    evidence   what the design was inferred from

The proof reads every item with the inferred design and composes the item that a put would send.
Nothing is written to the table.

The evidence of an entity: what tells its items from the others, each key with the number of items
that it gives, the attributes that a part could be as well, and the names that are guessed. That of
the sample: the items that no entity describes, by the reason.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.infer.declaration import InferredDesign, InferredEntity, InferredPath
from tablewright.infer.regular import UnexplainedItem
from tablewright.mapping.table import TableMap
from tablewright.values import Item


class KeyEvidence(Struct, frozen=True):
    """One key of an entity."""

    #: `primary`, or the name of an index.
    name: str
    #: Its templates: `CUSTOMER#{customer_id}, ORDER#{order_id}`.
    form: str
    #: The number of items that have such a key.
    items: int
    #: What other attributes have the same texts in all of them: `order_id: or reference`.
    alternatives: tuple[str, ...] = ()


class EntityEvidence(Struct, frozen=True):
    """Why an entity is as it is."""

    entity: str
    items: int
    #: What tells its items from those of other entities.
    boundary: str
    decisions: tuple[KeyEvidence, ...]


class Unexplained(Struct, frozen=True):
    """Items that no entity describes, for one reason."""

    reason: str
    items: int
    #: The key of one of them.
    example: str


class Evidence(Struct, frozen=True):
    """How sure a design is."""

    #: The items that were read; those that the design was inferred from.
    read: int
    sample: int
    entities: tuple[EntityEvidence, ...]
    unexplained: tuple[Unexplained, ...]


def evidence(design: InferredDesign, different: tuple[UnexplainedItem, ...] = ()) -> Evidence:
    """Return the evidence of a design, and of the items that it does not write as they are."""
    others = [*design.unexplained, *different]
    reasons = Counter(each.reason for each in others)
    examples = {each.reason: each.item for each in reversed(others)}
    count = len(design.sample.items)
    return Evidence(
        design.sample.read or count,
        count,
        tuple(_entity(each, design) for each in design.entities),
        tuple(
            Unexplained(reason, number, show_key(examples[reason], design))
            for reason, number in reasons.most_common()
        ),
    )


def show_key(item: Item, design: InferredDesign) -> str:
    """Return the key of an item as text."""
    names = design.sample.table.keys.names
    return ", ".join(f"{name}={next(iter(item[name].values()))}" for name in names)


def _entity(entity: InferredEntity, design: InferredDesign) -> EntityEvidence:
    types = [variant.type_name for variant in entity.variants]
    if entity.type_name is not None:
        types.append(entity.type_name)
    boundary = f"{design.type_attribute}: {', '.join(types)}" if types else "the literals of keys"
    found = [_key("primary", entity.paths, len(entity.items), design)]
    for place in entity.places:
        names = place.index.keys.names
        count = sum(all(name in item for name in names) for item in entity.items)
        found.append(_key(place.index.name, place.paths, count, design))
    for unique in entity.uniques:
        name = f"unique {unique.attribute.name}"
        found.append(_key(name, unique.paths, len(unique.items), design))
    return EntityEvidence(entity.name, len(entity.items), boundary, tuple(found))


def _key(name: str, paths: list[InferredPath], items: int, design: InferredDesign) -> KeyEvidence:
    alternatives = {
        part.attribute.name: [each.name for each in part.alternatives if each.name]
        for path in paths
        for part in path.parts
    }
    return KeyEvidence(
        name,
        ", ".join(f"{path.key.name}={_form(path, design.separator)}" for path in paths),
        items,
        tuple(f"{own}: or {' or '.join(more)}" for own, more in alternatives.items() if more),
    )


def _form(path: InferredPath, delimiter: str) -> str:
    texts = [
        each if isinstance(each, str) else f"{each.prefix}{{{each.source}}}"
        for each in path.elements
    ]
    return delimiter.join(texts)


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
