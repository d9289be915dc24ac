"""Evidence: how sure an inferred design is.

For each entity: what tells its items from the others, each key with the number of items that it
gives, the attributes that a part could be as well, and the names that are guessed. For the sample:
the items that no entity describes, by the reason.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from tablewright.infer.declaration import InferredDesign, InferredEntity, InferredPath
from tablewright.infer.regular import UnexplainedItem
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
