"""Variants: classes of items with different types at one key, as one entity with variants.

ACCOUNT#ann   type User            the base Account has the key, and what both have;
ACCOUNT#acme  type Organisation    User and Organisation have the rest
"""

from __future__ import annotations

from tablewright.infer.classes import ItemClass
from tablewright.infer.declaration import InferredEntity, InferredVariant


def join_classes(first: ItemClass, second: ItemClass) -> ItemClass | None:
    """Return the class of two that are variants; None if one of them has items without a type."""
    variants = [each for kind in (first, second) for each in kind.variants or [kind]]
    if any(each.type_name is None for each in variants):
        return None
    return ItemClass([item for each in variants for item in each.items], None, variants)


def split_variants(entity: InferredEntity, kind: ItemClass) -> None:
    """Move the attributes that only one variant has to it; keys and places stay in the base."""
    paths = (*entity.paths, *(path for place in entity.places for path in place.paths))
    fixed = {id(use.attribute) for path in paths for use in path.uses}
    fixed |= {id(place.when.attribute) for place in entity.places if place.when is not None}
    start = 0
    for variant in kind.variants:
        numbers = range(start, start + len(variant.items))
        start = numbers.stop
        own = [
            each
            for each in entity.attributes
            if id(each) not in fixed and all(n in numbers for n in each.values)
        ]
        for attribute in own:
            found = [attribute.values.get(n, {"NULL": True}) for n in numbers]
            attribute.is_optional = any("NULL" in value for value in found)
        entity.attributes = [each for each in entity.attributes if each not in own]
        entity.variants.append(InferredVariant(str(variant.type_name), own))
