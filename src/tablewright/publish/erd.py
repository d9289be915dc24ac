"""The entity-relationship diagram of a design, in Mermaid's notation.

An entity is related to another that its rows lie below, and to one that it names: `category_id` is
the id of a Category.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from tablewright.mapping.entity import EntityMap
from tablewright.plan.move import below


def erd(entities: list[EntityMap]) -> str:
    """The diagram of these entities."""
    lines = ["erDiagram"]
    for entity in entities:
        lines.append(f"    {_name(entity)} {{")
        lines += [f"        {line}" for line in _attributes(entity)]
        lines.append("    }")
    lines += [f"    {line}" for line in dict.fromkeys(_relations(entities))]
    return "\n".join(lines)


def _name(entity: EntityMap) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", entity.name).upper()


def _attributes(entity: EntityMap) -> Iterator[str]:
    for attribute in entity.attributes.values():
        mark = " PK" if attribute.name in entity.primary.names else ""
        yield f"{_type(attribute.converter.kind)} {attribute.stored}{mark}"


def _type(kind: Any) -> str:
    """A type in one word, as Mermaid wants it."""
    origin = get_origin(kind)
    if origin is not None and isinstance(origin, type):
        inside = [_type(part) for part in get_args(kind) if part is not ...]
        return "_".join([origin.__name__, *inside])
    return kind.__name__ if isinstance(kind, type) else "any"


def _relations(entities: list[EntityMap]) -> Iterator[str]:
    for parent in entities:
        for member in below(parent):
            if member.entity in entities and not _is_between(parent, member.entity, entities):
                yield f"{_name(parent)} ||--o{{ {_name(member.entity)} : has"
    for entity in entities:
        for attribute in entity.attributes:
            named = _named(attribute, entity, entities)
            if named is not None and entity not in {member.entity for member in below(named)}:
                yield f"{_name(named)} ||--o{{ {_name(entity)} : {attribute}"


def _is_between(parent: EntityMap, child: EntityMap, entities: list[EntityMap]) -> bool:
    """Whether a third entity lies between two."""
    return any(
        any(member.entity is third for member in below(parent))
        and any(member.entity is child for member in below(third))
        for third in entities
        if third is not parent and third is not child
    )


def _named(attribute: str, entity: EntityMap, entities: list[EntityMap]) -> EntityMap | None:
    """The entity whose id an attribute holds, by its name."""
    if not attribute.endswith("_id"):
        return None
    wanted = attribute.removesuffix("_id").replace("_", "").upper()
    for other in entities:
        if other is not entity and _name(other).replace("_", "") == wanted:
            return other
    return None
