"""Sentinels: entities whose items only reserve a value of another entity are its unique values.

    EMAIL#ann@x.com   Email ann@x.com, Username ann
    USER#ann          Email ann@x.com, Username ann, Name …     unique("EMAIL" / email, keep=(…))

An entity is the sentinel of an owner if it is in no index, has no attribute but those of the owner,
no other entity has its partitions, and the value in its key finds one item of the owner, which has
the same attributes. One pair is enough if a literal of the key has the name of the attribute, or
says `unique`; else it takes several, because a small sample has equal values by chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from tablewright.infer.declaration import (
    InferredAttribute,
    InferredDesign,
    InferredEntity,
    InferredPart,
    InferredPath,
    InferredUnique,
)
from tablewright.infer.kinds import STR
from tablewright.infer.names import snake_case
from tablewright.infer.regular import RARE

#: How many pairs of a sentinel and its owner are needed, if nothing else says what the sentinel is.
_PAIRS = 3


def find_sentinels(design: InferredDesign) -> None:
    """Make unique values of the entities of a design that only reserve them."""
    owned = [(each, found) for each in design.entities if (found := _unique_of(each, design))]
    sentinels = [entity for entity, _ in owned]
    for entity, (owner, unique) in owned:
        if owner not in sentinels:
            owner.uniques.append(unique)
            design.entities.remove(entity)


def _unique_of(
    entity: InferredEntity, design: InferredDesign
) -> tuple[InferredEntity, InferredUnique] | None:
    texts = [each for path in entity.paths for each in path.elements if isinstance(each, str)]
    own_keys = {*design.sample.table.keys.names, design.type_attribute}
    is_indexed = any(path.key.name not in own_keys for path in entity.all_paths)
    is_plain = not (is_indexed or entity.shared or entity.variants or entity.delimiter)
    if not is_plain or not texts or (entity.type_name is None) != (design.type_attribute is None):
        return None
    parts = list(dict.fromkeys(part for path in entity.paths for part in path.parts))
    if len({part.attribute for part in parts}) != 1 or parts[0].is_natural:
        return None
    first = _start(entity)
    others = [each for each in design.entities if each is not entity and not each.variants]
    if any(_start(each) == first for each in others):
        return None
    best: tuple[int, InferredEntity, InferredUnique] | None = None
    for owner in others:
        for attribute in owner.attributes:
            pairs = _pairs(entity, parts[0], owner, attribute)
            if pairs > (0 if best is None else best[0]) and (
                pairs >= _PAIRS or _is_named(texts, attribute)
            ):
                best = pairs, owner, _made(entity, owner, attribute)
    return None if best is None else best[1:]


def _start(entity: InferredEntity) -> str:
    element = entity.paths[0].elements[0]
    return element if isinstance(element, str) else element.prefix


def _is_named(texts: Sequence[str], attribute: InferredAttribute) -> bool:
    """Whether a literal says that it precedes the unique value of an attribute."""
    plain = re.sub(r"[\W_]", "", "".join(texts)).lower()
    return "unique" in plain or snake_case(attribute.stored).replace("_", "") in plain


def _pairs(
    entity: InferredEntity,
    part: InferredPart,
    owner: InferredEntity,
    attribute: InferredAttribute,
) -> int:
    """Return how many sentinels have an owner in the sample; 0 if one has another's attributes."""
    own = part.attribute
    if attribute.is_key_only or (own.is_key_only and attribute.kind is not STR):
        return 0
    if not own.is_key_only and (own.stored, own.kind) != (attribute.stored, attribute.kind):
        return 0
    stored = {each.stored for each in entity.attributes if not each.is_key_only}
    if not stored <= {each.stored for each in owner.attributes if not each.is_key_only}:
        return 0
    owners: dict[str, int] = {}
    for number, value in attribute.values.items():
        content = str(next(iter(value.values())))
        if content in owners:
            return 0  # not unique
        owners[content] = number
    pairs = misses = 0
    for number, value in own.values.items():
        found = owners.get(str(next(iter(value.values()))))
        if found is None:
            continue
        item, owned = entity.items[number], owner.items[found]
        pairs += 1
        misses += any(item.get(name) != owned.get(name) for name in stored)
    return pairs if misses <= pairs // RARE else 0


def _made(
    entity: InferredEntity, owner: InferredEntity, attribute: InferredAttribute
) -> InferredUnique:
    """Return the unique value of an owner, with the attributes of the owner in its paths."""

    def path_of(path: InferredPath) -> InferredPath:
        elements: list[str | InferredPart] = [
            each
            if isinstance(each, str)
            else InferredPart(attribute, replace(each.spelling, kind=attribute.kind), each.prefix)
            for each in path.elements
        ]
        return InferredPath(path.key, elements, path.is_ragged)

    kept = {each.stored for each in entity.attributes if not each.is_key_only}
    paths = [path_of(path) for path in entity.paths]
    keep = [each for each in owner.attributes if each.stored in kept and not each.is_key_only]
    return InferredUnique(paths, keep, attribute, entity.type_name, entity.items)
