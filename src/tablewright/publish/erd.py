"""The entity-relationship diagram of a design, for Mermaid.

An entity has a relation to its parent, whose item collection contains its items, and to each
entity that an attribute refers to: `category_id` refers to a Category.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from tablewright.mapping.entity import EntityMap
from tablewright.plan.writes.rows_below import followers


def erd(entities: list[EntityMap]) -> str:
    """Return the diagram of these entities."""
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
        mark = " PK" if attribute.name in entity.primary.depends_on else ""
        yield f"{_type(attribute.converter.kind)} {attribute.stored}{mark}"


def _type(kind: Any) -> str:
    """Return a type as one word, which Mermaid requires."""
    origin = get_origin(kind)
    if origin is not None and isinstance(origin, type):
        inside = [_type(part) for part in get_args(kind) if part is not ...]
        return "_".join([origin.__name__, *inside])
    return kind.__name__ if isinstance(kind, type) else "any"


def _relations(entities: list[EntityMap]) -> Iterator[str]:
    for parent in entities:
        for member in followers(parent):
            if member.entity in entities and not _has_intermediate(parent, member.entity, entities):
                yield f"{_name(parent)} ||--o{{ {_name(member.entity)} : has"
    for entity in entities:
        for attribute in entity.attributes:
            target = _referenced_entity(attribute, entity, entities)
            if target is not None and entity not in {member.entity for member in followers(target)}:
                yield f"{_name(target)} ||--o{{ {_name(entity)} : {attribute}"


def _has_intermediate(parent: EntityMap, child: EntityMap, entities: list[EntityMap]) -> bool:
    """Return whether a third entity is a child of the parent and a parent of the child."""
    return any(
        any(member.entity is third for member in followers(parent))
        and any(member.entity is child for member in followers(third))
        for third in entities
        if third is not parent and third is not child
    )


def _referenced_entity(
    attribute: str, entity: EntityMap, entities: list[EntityMap]
) -> EntityMap | None:
    """Return the entity that an attribute refers to, found by the attribute's name."""
    if not attribute.endswith("_id"):
        return None
    wanted = attribute.removesuffix("_id").replace("_", "").upper()
    for other in entities:
        if other is not entity and _name(other).replace("_", "") == wanted:
            return other
    return None
