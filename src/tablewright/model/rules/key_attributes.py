"""Key attributes: those of an entity that are the key of its parent, or of what it refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.entity import EntityMap


def key_attributes(
    where: str, entity: EntityMap, target: EntityMap, by: Sequence[Any]
) -> dict[str, str]:
    """Return the attribute of an entity for each attribute of the target's key.

    They have the same names, or those in `by`. Raise DeclarationError if one is missing, or has
    another type.
    """
    names = list(dict.fromkeys(each.attribute for each in target.primary.parameters))
    given = [each if isinstance(each, str) else getattr(each, "name", "") for each in by]
    if given and len(given) != len(names):
        raise DeclarationError(
            f"{where}: by= names {len(given)} attributes, and the key of {target.name} is made of "
            f"{len(names)}: {', '.join(names)}; name as many attributes of {entity.name}"
        )
    found = dict(zip(names, given or names, strict=True))
    for theirs, ours in found.items():
        if ours not in entity.attributes:
            fix = (
                did_you_mean(ours, entity.attributes)
                if given
                else f"; name the attributes of {entity.name} that make the key of {target.name}: "
                "by=(…)"
            )
            raise DeclarationError(f"{where}: {entity.name} has no attribute {ours!r}{fix}")
        one, two = target.attributes[theirs].converter, entity.attributes[ours].converter
        if one.kind is not two.kind:
            raise DeclarationError(
                f"{where}: {entity.name}.{ours} is {type_name(two.kind)}, and {target.name}."
                f"{theirs} is {type_name(one.kind)}; give it the type of the key: by=(…)"
            )
    return found


def type_name(kind: Any) -> str:
    """Return how messages name a type."""
    return getattr(kind, "__name__", str(kind))
