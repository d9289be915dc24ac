"""Designs: the entities of a sample, without two that can have the same key, and with names.

Names are those that a person would give: an entity has the name of its type or of its last literal,
an id the name of the entity that it belongs to (`customer_id` in `c#12345`, where customers have
the key `c#…`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from msgspec import Struct

from tablewright.infer.classes import ItemClass, divide, find_type_attribute
from tablewright.infer.entity import Attribute, InferredEntity, Path, Use, infer_entity
from tablewright.infer.kinds import DATE, DATETIME
from tablewright.infer.names import (
    GENERIC,
    VALUES,
    class_name,
    id_name,
    singular,
    snake_case,
    unused,
)
from tablewright.infer.sample import Sample
from tablewright.infer.structure import find_delimiter
from tablewright.mapping.delimiter import Delimiter
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Template, templates_can_collide

_NAIVE_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*").fullmatch
_LETTERS = re.compile(r"([A-Za-z]{3,})[-_]?\d").match


class InferredDesign(Struct):
    """A table and its entities, by name."""

    sample: Sample
    #: "" if no key text is separated.
    delimiter: str
    type_attribute: str | None
    entities: list[InferredEntity]
    name: str = ""


def infer_design(sample: Sample) -> InferredDesign:
    """Return the design of a sample's items."""
    delimiter = find_delimiter(list(_key_texts(sample)))
    type_attribute = find_type_attribute(sample, delimiter)
    classes = divide(sample, delimiter, type_attribute)
    while True:
        entities = [infer_entity(kind, sample, delimiter, type_attribute) for kind in classes]
        pair = _colliding(entities, delimiter or "#")
        if pair is None:
            break
        if type_attribute is not None:
            type_attribute = None  # it does not say what the keys say
            classes = divide(sample, delimiter, None)
        else:
            first, second = (classes[n] for n in pair)
            merged = ItemClass([*first.items, *second.items])
            classes = [merged, *(each for each in classes if each not in (first, second))]
    design = InferredDesign(sample, delimiter, type_attribute, entities)
    _name_entities(design)
    for entity in entities:
        _name_attributes(entity, design)
    entities.sort(key=lambda entity: entity.name)
    return design


def _key_texts(sample: Sample) -> Iterator[str]:
    schemas = (sample.keys, *(index.keys for index in sample.indexes))
    names = dict.fromkeys(key.name for keys in schemas for key in keys if key.type == "S")
    for item in sample.items:
        yield from (item[name]["S"] for name in names if name in item)


def _colliding(entities: list[InferredEntity], delimiter: str) -> tuple[int, int] | None:
    """Return the numbers of two entities whose items can have the same key."""
    templates = [[_template(path, delimiter) for path in entity.paths] for entity in entities]
    for (n, one), (m, other) in combinations(enumerate(templates), 2):
        if all(map(templates_can_collide, one, other)):
            return n, m
    return None


def _template(path: Path, delimiter: str) -> Template:
    pieces: list[str | KeyPart] = []
    for number, element in enumerate(path.elements):
        text = delimiter if number else ""
        text += element if isinstance(element, str) else element.prefix
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        elif text:
            pieces.append(text)
        if isinstance(element, Use):
            separator = "\x1f" if path.is_ragged or element.is_natural else delimiter
            pieces.append(element.spelling.part(Delimiter(separator, escapes=False)))
    return Template(tuple(pieces))


# -- names of entities ---------------------------------------------------------------------------


def _name_entities(design: InferredDesign) -> None:
    taken: set[str] = set()
    design.name = class_name(design.sample.table)
    for entity in design.entities:
        name = class_name(entity.type_name or _literal_name(entity) or "item")
        if name in taken and entity.type_name is None:
            name = class_name("_".join([*_words(entity.partition), name]))
        entity.name = unused(name, taken)
        taken.add(entity.name)
    if design.name in taken:
        design.name = unused(f"{design.name}Table", taken)


def _literal_name(entity: InferredEntity) -> str:
    """Return the last literal of a key that says what the item is, or whose id it begins with."""
    for path in reversed(entity.paths):
        for word in reversed(_words(path)):
            if word.lower() not in GENERIC:
                return singular(snake_case(word).rstrip("_"))
    for path in entity.paths:
        for use in path.uses:
            name = snake_case(use.attribute.stored) if not use.attribute.is_key_only else ""
            name = name or _common_letters(use.attribute)
            if name.removesuffix("_id"):
                return name.removesuffix("_id")
    return ""


def _words(path: Path) -> list[str]:
    literals = [each if isinstance(each, str) else each.prefix for each in path.elements]
    return [word for text in literals for word in re.findall(r"[^\W\d][\w -]*", text)]


# -- names of attributes -------------------------------------------------------------------------


def _name_attributes(entity: InferredEntity, design: InferredDesign) -> None:
    paths = (*entity.paths, *(path for place in entity.places for path in place.paths))
    formats = " ".join(use.spelling.source for path in paths for use in path.uses)
    taken = set(re.findall(r"\w+(?=\()", formats))
    stored = [each for each in entity.attributes if not each.is_key_only]
    for attribute in stored:
        attribute.name = unused(snake_case(attribute.stored), taken)
        taken.add(attribute.name)
    taken |= {attribute.stored for attribute in stored}
    for attribute in entity.attributes:
        if attribute.is_key_only:
            name = _key_only_name(attribute, design)
            if name in taken:
                name = f"{snake_case(attribute.index or 'key')}_{name}"
            attribute.name = unused(name, taken)
            taken.add(attribute.name)


def _key_only_name(attribute: Attribute, design: InferredDesign) -> str:
    word = (re.findall(r"[^\W\d][\w -]*", attribute.word) or [""])[-1]
    texts = [value["S"] for value in attribute.values.values()]
    if attribute.kind in (DATETIME, DATE) or all(map(_NAIVE_MOMENT, texts)):
        return _name_elsewhere(attribute, design) or ("day" if attribute.kind is DATE else "time")
    if word and word.lower() not in GENERIC:
        owner = _owner(word, design)
        plain = snake_case(word).rstrip("_")
        return id_name(plain if plain in VALUES or owner is None else owner.name)
    name = _name_elsewhere(attribute, design) or _common_letters(attribute)
    if name:
        return name
    return snake_case(attribute.stored)


def _common_letters(attribute: Attribute) -> str:
    """Return the name of ids that begin with the same letters: `player_id` for `player001`."""
    found = {
        letters[1] if (letters := _LETTERS(value["S"])) else ""
        for value in attribute.values.values()
        if "S" in value
    }
    return id_name(found.pop()) if len(found) == 1 and "" not in found else ""


def _name_elsewhere(attribute: Attribute, design: InferredDesign) -> str:
    """Return the name of the stored attribute that is at the same place in another entity."""
    for entity in design.entities:
        for path in (*entity.paths, *(path for place in entity.places for path in place.paths)):
            if path.key.name == attribute.stored and path.uses:
                use = path.uses[-1]
                before = [each for each in path.elements if isinstance(each, str)][-1:]
                if not use.attribute.is_key_only and before == [attribute.word][: len(before)]:
                    return snake_case(use.attribute.stored)
    return ""


def _owner(word: str, design: InferredDesign) -> InferredEntity | None:
    """Return the entity whose ids follow a literal."""
    ending = [each for each in design.entities if _last_word(each) == word]
    for entity in ending:
        if {_last_literal(path) for path in entity.paths if path.uses} == {word}:
            return entity
    if len(ending) == 1:
        return ending[0]
    short = word.lower()
    named = [each for each in design.entities if snake_case(each.name).startswith(short)]
    return min(named, key=lambda each: len(each.name), default=None)


def _last_word(entity: InferredEntity) -> str:
    """Return the literal before the last part of a primary key."""
    paths = [path for path in entity.paths if path.uses]
    return _last_literal(paths[-1]) if paths else ""


def _last_literal(path: Path) -> str:
    words = _words(path)
    return words[-1] if words else ""
