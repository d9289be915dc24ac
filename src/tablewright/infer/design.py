"""Designs: the entities of a sample, without two that can have the same key, and with names.

Names are those that a person would give: an entity has the name of its type or of its last literal,
an id the name of the entity that it belongs to (`customer_id` in `c#12345`, where customers have
the key `c#…`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

from msgspec import Struct

from tablewright.infer.declaration import (
    InferredAttribute,
    InferredEntity,
    InferredPart,
    InferredPath,
)
from tablewright.infer.entity import infer_entity
from tablewright.infer.kinds import DATE, DATETIME, STR, Spelling
from tablewright.infer.names import (
    GENERIC,
    VALUES,
    class_name,
    has_own_name,
    id_name,
    is_abbreviation,
    singular,
    snake_case,
    unused,
)
from tablewright.infer.sample import (
    ItemClass,
    Sample,
    divide,
    find_type_attribute,
    join_classes,
    split_variants,
)
from tablewright.infer.structure import find_delimiter
from tablewright.mapping.converters import converter
from tablewright.mapping.parts import MARK, Delimiter, KeyPart, natural_part
from tablewright.mapping.template import Template, templates_can_collide
from tablewright.values import tag_of

_NAIVE_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*").fullmatch
_LETTERS = re.compile(r"([A-Za-z]{3,})[-_]?\d").match


class InferredDesign(Struct):
    """A table and its entities, by name."""

    sample: Sample
    #: None if no key text is separated.
    delimiter: Delimiter | None
    type_attribute: str | None
    entities: list[InferredEntity]
    name: str = ""

    @property
    def type_form(self) -> str:
        """Whether the type attribute is a text, a set or a list."""
        forms = {"S": "text", "SS": "set", "L": "list"}
        values = (
            item[self.type_attribute or ""]
            for item in self.sample.items
            if self.type_attribute in item
        )
        return next((forms[tag_of(value)] for value in values), "text")


def infer_design(sample: Sample, reserved: Collection[str] = ()) -> InferredDesign:
    """Return the design of a sample's items, whose classes do not have the `reserved` names."""
    texts = list(_key_texts(sample))
    separator = find_delimiter(texts)
    delimiter = Delimiter(separator, escapes=_has_escapes(texts, separator)) if separator else None
    type_attribute = find_type_attribute(sample, separator)
    classes = divide(sample, separator, type_attribute)
    while True:
        entities = [_entity(kind, sample, delimiter, type_attribute) for kind in classes]
        pair = _colliding(entities, separator or "#")
        if pair is None:
            break
        first, second = (classes[n] for n in pair)
        if type_attribute is None:
            merged: ItemClass | None = ItemClass([*first.items, *second.items])
        else:
            merged = _variants(first, second, entities, pair)
        if merged is None:
            type_attribute = None  # it does not say what the keys say
            classes = divide(sample, separator, None)
        else:
            classes = [merged, *(each for each in classes if each not in (first, second))]
    for entity, kind in zip(entities, classes, strict=True):
        split_variants(entity, kind)
    design = InferredDesign(sample, delimiter, type_attribute, entities)
    _name_entities(design, reserved)
    if len(entities) == 1:
        _make_natural(entities[0], design)
    for entity in entities:
        _name_attributes(entity, design)
    entities.sort(key=lambda entity: entity.name)
    return design


def _entity(
    kind: ItemClass, sample: Sample, delimiter: Delimiter | None, type_attribute: str | None
) -> InferredEntity:
    """Return the entity of a class, without two places whose keys can be equal."""
    entity = infer_entity(kind, sample, delimiter, type_attribute)
    separator = "#" if delimiter is None else delimiter.text
    for one, other in combinations(entity.places, 2):
        if one.index is other.index:
            sides = [
                [_template(path, separator, place.delimiter or separator) for path in place.paths]
                for place in (one, other)
            ]
            if all(map(templates_can_collide, *sides)):
                return infer_entity(kind, sample, delimiter, type_attribute, most_places=1)
    return entity


def _variants(
    first: ItemClass, second: ItemClass, entities: list[InferredEntity], pair: tuple[int, int]
) -> ItemClass | None:
    """Return the class of two whose keys have the same form; None if they are not variants."""
    forms = [
        [
            (each if isinstance(each, str) else None)
            for path in entities[n].paths
            for each in (path.key.name, *path.elements)
        ]
        for n in pair
    ]
    is_ragged = any(path.is_ragged for n in pair for path in entities[n].paths)
    return join_classes(first, second) if forms[0] == forms[1] and not is_ragged else None


def _key_texts(sample: Sample) -> Iterator[str]:
    schemas = (sample.table.keys, *(index.keys for index in sample.table.indexes))
    names = dict.fromkeys(key.name for keys in schemas for key in keys if key.type == "S")
    for item in sample.items:
        yield from (item[name]["S"] for name in names if name in item)


def _has_escapes(texts: list[str], separator: str) -> bool:
    """Whether the program that wrote the keys escaped the delimiter in values as this one does."""
    if len(separator) > 1 or not MARK < separator < "\x7f":
        return False
    delimiter = Delimiter(separator)
    values = [value for text in texts for value in text.split(separator)]
    try:
        return any(delimiter.read(value) != value for value in values)
    except ValueError:
        return False


def _colliding(entities: list[InferredEntity], delimiter: str) -> tuple[int, int] | None:
    """Return the numbers of two entities whose items can have the same key."""
    templates = [
        [_template(path, delimiter, entity.delimiter or delimiter) for path in entity.paths]
        for entity in entities
    ]
    for (n, one), (m, other) in combinations(enumerate(templates), 2):
        if all(map(templates_can_collide, one, other)):
            return n, m
    return None


def _template(path: InferredPath, delimiter: str, excluded: str) -> Template:
    """Return the template of a path; values do not contain the `excluded` text."""
    pieces: list[str | KeyPart] = []
    for number, element in enumerate(path.elements):
        text = delimiter if number else ""
        text += element if isinstance(element, str) else element.prefix
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        elif text:
            pieces.append(text)
        if isinstance(element, InferredPart):
            pieces.append(_part(element, excluded))
    return Template(tuple(pieces))


def _part(use: InferredPart, delimiter: str) -> KeyPart:
    if use.is_natural:
        return natural_part("it", converter(use.attribute.kind.type, ""))
    return use.spelling.part(Delimiter(delimiter, escapes=False))


# -- names of entities ---------------------------------------------------------------------------


def _name_entities(design: InferredDesign, reserved: Collection[str]) -> None:
    design.name = class_name(design.sample.table.name)
    table = singular(snake_case(design.sample.table.name))
    # The name of an entity without a type is its type, too.
    taken = {each.type_name for entity in design.entities for each in _typed(entity)}
    for each in (each for entity in design.entities for each in _typed(entity)):
        name = each.type_name
        if name in reserved or class_name(name) != name:
            each.name = unused(
                _class_of(singular(snake_case(name)), design, reserved), {*taken, *reserved}, ""
            )
            taken.add(each.name)
        else:
            each.name = name
    # First those whose keys have no other words: a `USER#…` is a User, `GAME#…`, `USER#…` is not.
    untyped = [each for each in design.entities if each.type_name is None]
    for entity in sorted(untyped, key=lambda each: len(_distinct_words(each))):
        name = _class_of(_literal_name(entity) or table, design, reserved)
        if name in taken:
            joined = "_".join(_distinct_words(entity))
            name = _class_of(joined or snake_case(name), design, reserved)
        entity.name = unused(name, {*taken, *reserved}, "")
        taken.add(entity.name)
    if design.name in taken:
        design.name = f"{design.name}Table"
    design.name = unused(design.name, reserved, "")


def _typed(entity: InferredEntity) -> list[Any]:
    """Return what has a type: the entity, or its variants."""
    return list(entity.variants) if entity.type_name is None else [entity]


def _class_of(text: str, design: InferredDesign, reserved: Collection[str]) -> str:
    name = class_name(text)
    return design.name + name if name in reserved else name


def _distinct_words(entity: InferredEntity) -> list[str]:
    """Return the words in a primary key, without those that say nothing."""
    words = [
        singular(snake_case(word).rstrip("_")) for path in entity.paths for word in _words(path)
    ]
    return [word for word in dict.fromkeys(words) if word == "item" or word not in GENERIC]


def _literal_name(entity: InferredEntity) -> str:
    """Return the last literal of a key that says what the item is, or whose id it begins with."""
    words = _distinct_words(entity)
    if len(words) > 1 and words[-1] == "item":
        return "_".join(words[-2:])
    for name in reversed(words):
        if name not in GENERIC | VALUES:
            return name
    for path in reversed(entity.paths):
        for use in path.uses:
            stored = use.attribute.stored
            is_named = has_own_name(stored) and not use.attribute.is_key_only
            name = snake_case(stored) if is_named else ""
            name = name or _common_letters(use.attribute)
            name = name.removesuffix("_id").removesuffix("_token")
            if name not in {"", "id", "token", *VALUES}:
                return name
    return ""


def _words(path: InferredPath) -> list[str]:
    literals = [each if isinstance(each, str) else each.prefix for each in path.elements]
    return [word for text in literals for word in re.findall(r"[^\W\d][\w -]*", text)]


def _make_natural(entity: InferredEntity, design: InferredDesign) -> None:
    """Declare the key attributes themselves, where nothing says what they contain."""
    for path in entity.paths:
        use = path.elements[0]
        if len(path.elements) == 1 and isinstance(use, InferredPart) and use.attribute.is_key_only:
            name = _key_only_name(use.attribute, design)
            if name == snake_case(path.key.name) and not use.prefix:
                use.attribute.is_key_only = False
                use.attribute.kinds = (STR,)
                use.spelling = Spelling(STR)
                use.is_natural = True
                path.is_ragged = False
    if not any(path.is_ragged for path in entity.paths):
        entity.delimiter = None


# -- names of attributes -------------------------------------------------------------------------


def _name_attributes(entity: InferredEntity, design: InferredDesign) -> None:
    paths = (*entity.paths, *(path for place in entity.places for path in place.paths))
    taken = {name for path in paths for use in path.uses for name in use.spelling.names}
    stored = [each for each in entity.all_attributes if not each.is_key_only]
    for attribute in stored:
        attribute.name = unused(snake_case(attribute.stored), taken)
        taken.add(attribute.name)
    taken |= {attribute.stored for attribute in stored} | {path.key.name for path in paths}
    for attribute in entity.attributes:
        if attribute.is_key_only:
            name = _key_only_name(attribute, design)
            if name in taken:
                name = f"{snake_case(attribute.index) if attribute.index else 'key'}_{name}"
            attribute.name = unused(name, taken)
            taken.add(attribute.name)


def _key_only_name(attribute: InferredAttribute, design: InferredDesign) -> str:
    word = (re.findall(r"[^\W\d][\w -]*", attribute.word) or [""])[-1]
    texts = [value["S"] for value in attribute.values.values()]
    if attribute.kind in (DATETIME, DATE) or all(map(_NAIVE_MOMENT, texts)):
        return _name_elsewhere(attribute, design) or ("day" if attribute.kind is DATE else "time")
    if word and (len(word) == 1 or word.lower() not in GENERIC):
        plain = snake_case(word).rstrip("_")
        return id_name((plain not in VALUES and _owner_name(word, design)) or plain)
    name = _name_elsewhere(attribute, design) or _common_letters(attribute)
    if name:
        return name
    return snake_case(attribute.stored)


def _common_letters(attribute: InferredAttribute) -> str:
    """Return the name of ids that begin with the same letters: `player_id` for `player001`."""
    found = {
        letters[1] if (letters := _LETTERS(value["S"])) else ""
        for value in attribute.values.values()
        if "S" in value
    }
    return id_name(found.pop()) if len(found) == 1 and "" not in found else ""


def _name_elsewhere(attribute: InferredAttribute, design: InferredDesign) -> str:
    """Return the name of the stored attribute that is at the same place in another entity."""
    for entity in design.entities:
        for path in (*entity.paths, *(path for place in entity.places for path in place.paths)):
            is_other = all(use.attribute is not attribute for use in path.uses)
            if path.key.name == attribute.stored and path.uses and is_other:
                use = path.uses[-1]
                before = [each for each in path.elements if isinstance(each, str)][-1:]
                if not use.attribute.is_key_only and before == [attribute.word][: len(before)]:
                    return snake_case(use.attribute.stored)
    return ""


def _owner_name(word: str, design: InferredDesign) -> str:
    """Return the name of the entity whose ids follow a literal; "" if there is none.

    If the key of the entity has further words, its first word has the ids: `o#1` of `OrderItem` is
    an order.
    """
    short = singular(word.lower())
    candidates = [each for each in design.entities if is_abbreviation(short, snake_case(each.name))]
    ending = [each for each in candidates if _last_word(each) == word]
    for entity in ending:
        if {_last_literal(path) for path in entity.paths if path.uses} == {word}:
            return entity.name
    if len(ending) == 1:
        return ending[0].name
    named = [each.name for each in candidates if snake_case(each.name).startswith(short)]
    return snake_case(min(named, key=len)).partition("_")[0] if named else ""


def _last_word(entity: InferredEntity) -> str:
    """Return the literal before the last part of a primary key."""
    paths = [path for path in entity.paths if path.uses]
    return _last_literal(paths[-1]) if paths else ""


def _last_literal(path: InferredPath) -> str:
    words = _words(path)
    return words[-1] if words else ""
