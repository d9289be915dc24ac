"""Designs: the entities of a sample, without two that can have the same key, and with names.

Names are those that a person would give: an entity has the name of its type or of its last literal,
an id the name of the entity that it belongs to (`customer_id` in `c#12345`, where customers have
the key `c#…`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

from tablewright.infer.declaration import (
    InferredAttribute,
    InferredDesign,
    InferredEntity,
    InferredPart,
    InferredPath,
    InferredVariant,
)
from tablewright.infer.entity import EntityInference
from tablewright.infer.kinds import DATE, DATETIME, STR, KeySpelling
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
from tablewright.infer.regular import find_irregular
from tablewright.infer.sample import ItemClass, Sample, divide, find_type_attribute, join_classes
from tablewright.infer.sentinels import find_sentinels
from tablewright.infer.structure import find_delimiter
from tablewright.mapping.converters import converter
from tablewright.mapping.key_parts import MARK, Delimiter, KeyPart, natural_part
from tablewright.mapping.template import Template, templates_can_collide

_NAIVE_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*").fullmatch
_LETTERS = re.compile(r"([A-Za-z]{3,})[-_]?\d").match


def infer_design(sample: Sample, reserved: Collection[str] = ()) -> InferredDesign:
    """Return the design of a sample's items, whose classes do not have the `reserved` names."""
    texts = list(_key_texts(sample))
    split = find_delimiter(texts)
    delimiter = Delimiter(split, escapes=_has_escapes(texts, split)) if split else None
    design = InferredDesign(sample, delimiter, find_type_attribute(sample, split))
    classes = _classes(design, split)
    while True:
        entities = design.entities = [_entity(kind, design) for kind in classes]
        pair = _colliding(design)
        if pair is None:
            break
        first, second = (classes[n] for n in pair)
        if design.type_attribute is None:
            merged: ItemClass | None = ItemClass([*first.items, *second.items])
        else:
            merged = _variants(first, second, *(entities[n] for n in pair))
        if merged is None:
            design.type_attribute = None  # it does not say what the keys say
            classes = _classes(design, split)
        else:
            _set_irregular_aside(merged, design)
            classes = [merged, *(each for each in classes if each not in (first, second))]
    for entity, kind in zip(entities, classes, strict=True):
        _split_variants(entity, kind)
    if not sample.is_exact:  # the rows of a model are all entities
        find_sentinels(design)
    _name_entities(design, reserved)
    if len(entities) == 1:
        _make_natural(entities[0], design)
    for entity in entities:
        _name_attributes(entity, design)
    entities.sort(key=lambda entity: entity.name)
    return design


def _classes(design: InferredDesign, split: str) -> list[ItemClass]:
    """Return the classes of regular items; the other items are unexplained."""
    classes, design.unexplained = divide(design.sample, split, design.type_attribute)
    for kind in classes:
        _set_irregular_aside(kind, design)
    return classes


def _set_irregular_aside(kind: ItemClass, design: InferredDesign) -> None:
    if not kind.variants:  # their items are also those of the variants
        reasons = find_irregular(kind.items, design.sample.table, design.delimiter)
        design.unexplained += kind.set_aside(reasons)


def _entity(kind: ItemClass, design: InferredDesign) -> InferredEntity:
    """Return the entity of a class, without two places whose keys can be equal."""
    inference = EntityInference(kind, design)
    entity = inference.infer()
    if inference.irregular:
        design.unexplained += kind.set_aside(inference.irregular)
        return _entity(kind, design)
    for one, other in combinations(entity.places, 2):
        if one.index is other.index:
            sides = (_templates(each.paths, each.delimiter, design) for each in (one, other))
            if all(map(templates_can_collide, *sides)):
                return EntityInference(kind, design, most_places=1).infer()
    return entity


def _variants(first: ItemClass, second: ItemClass, *entities: InferredEntity) -> ItemClass | None:
    """Return the class of two whose keys have the same form; None if they are not variants."""
    forms = [
        [
            (each if isinstance(each, str) else None)
            for path in entity.paths
            for each in (path.key.name, *path.elements)
        ]
        for entity in entities
    ]
    is_ragged = any(path.is_ragged for entity in entities for path in entity.paths)
    return join_classes(first, second) if forms[0] == forms[1] and not is_ragged else None


def _split_variants(entity: InferredEntity, kind: ItemClass) -> None:
    """Move the attributes that only one variant has to it; keys and places stay in the base."""
    fixed = {id(part.attribute) for path in entity.all_paths for part in path.parts}
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
    _name_in_variants(entity, kind)


def _name_in_variants(entity: InferredEntity, kind: ItemClass) -> None:
    """Find parts of the shared key that each variant stores under a name of its own."""
    for part in (part for path in entity.paths for part in path.parts):
        shared, start = part.attribute, 0
        if not shared.is_key_only or shared.is_in_variants or part.spelling != KeySpelling(STR):
            continue
        found: list[InferredAttribute] = []
        for variant, items in zip(entity.variants, kind.variants, strict=True):
            numbers = range(start, start + len(items.items))
            start = numbers.stop
            texts = {n: shared.values.get(n) for n in numbers}
            found += [each for each in variant.attributes if each.values == texts][:1]
        if entity.variants and len(found) == len(entity.variants):
            shared.is_in_variants = True
            for variant, own in zip(entity.variants, found, strict=True):
                variant.attributes.remove(own)
                variant.stored_names.append((shared, own.stored))


def _key_texts(sample: Sample) -> Iterator[str]:
    """Yield the texts of keys that may be composed.

    They are not those that another attribute of the item has: `room-12` is the id of a room. A key
    with a name of its own is composed only if it has a #; every other delimiter is also in values.
    """
    schemas = (sample.table.keys, *(index.keys for index in sample.table.indexes))
    names = list(dict.fromkeys(key.name for keys in schemas for key in keys if key.type == "S"))
    plain = [name for name in names if not has_own_name(name)]
    for item in sample.items:
        contents = {value.get("S") for name, value in item.items() if name not in plain}
        for name in names:
            text = item.get(name, {}).get("S")
            if text is not None and (text not in contents if name in plain else "#" in text):
                yield text


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


def _colliding(design: InferredDesign) -> tuple[int, int] | None:
    """Return the numbers of two entities whose items can have the same key."""
    templates = [_templates(each.paths, each.delimiter, design) for each in design.entities]
    for (n, one), (m, other) in combinations(enumerate(templates), 2):
        if all(map(templates_can_collide, one, other)):
            return n, m
    return None


def _templates(
    paths: Sequence[InferredPath], delimiter: str | None, design: InferredDesign
) -> list[Template]:
    """Return the templates of a key; its values do not contain its delimiter."""
    return [_template(path, design.separator, delimiter or design.separator) for path in paths]


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


def _part(part: InferredPart, delimiter: str) -> KeyPart:
    if part.is_natural:
        return natural_part("it", converter(part.attribute.kind.type, ""))
    return part.spelling.part(Delimiter(delimiter, escapes=False))


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
        words = _distinct_words(entity)
        known = _literal_name(entity, is_alone=len(design.entities) == 1)
        long = [word for word in words if len(word) > 1]
        name = _class_of(known or "_".join(long or (table, *words)), design, reserved)
        if name in taken:
            name = _class_of("_".join(words) or snake_case(name), design, reserved)
        entity.name = unused(name, {*taken, *reserved}, "")
        entity.is_guessed = entity.name != name or not (known or long or len(design.entities) == 1)
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


def _literal_name(entity: InferredEntity, *, is_alone: bool) -> str:
    """Return the last literal of a key that says what the item is, or whose id it begins with.

    One letter does not say it. An entity that `is_alone` is named after an id, or else its table.
    """
    words = _distinct_words(entity)
    if len(words) > 1 and words[-1] == "item":
        return "_".join(words[-2:])
    for name in reversed(words):
        if len(name) > 1 and name not in GENERIC | VALUES:
            return name
    for path in reversed(entity.paths):
        for part in path.parts:
            stored = part.attribute.stored
            is_named = has_own_name(stored) and not part.attribute.is_key_only
            name = snake_case(stored) if is_named else ""
            name = name or _common_letters(part.attribute)
            plain = name.removesuffix("_id").removesuffix("_token")
            is_id = plain != name or not is_alone
            if is_id and plain not in {"", "id", "token", *VALUES}:
                return plain
    said = [word for path in entity.paths for word in _words(path) if len(word) > 1]
    return snake_case(said[-1]).rstrip("_") if said and said[-1].islower() else ""


def _words(path: InferredPath) -> list[str]:
    literals = [each if isinstance(each, str) else each.prefix for each in path.elements]
    return [word for text in literals for word in re.findall(r"[^\W\d][\w -]*", text)]


def _make_natural(entity: InferredEntity, design: InferredDesign) -> None:
    """Declare the key attributes themselves, where nothing says what they contain."""
    for path in entity.paths:
        part = path.elements[0]
        if (
            len(path.elements) == 1
            and isinstance(part, InferredPart)
            and part.attribute.is_key_only
        ):
            name = _key_only_name(part.attribute, design)
            if name == snake_case(path.key.name) and not part.prefix:
                part.attribute.is_key_only = False
                part.attribute.kinds = (STR,)
                part.spelling = KeySpelling(STR)
                part.is_natural = True
                path.is_ragged = False
    if not any(path.is_ragged for path in entity.paths):
        entity.delimiter = None


# -- names of attributes -------------------------------------------------------------------------


def _name_attributes(entity: InferredEntity, design: InferredDesign) -> None:
    paths = entity.all_paths
    taken = {name for path in paths for part in path.parts for name in part.spelling.names}
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
        for path in entity.all_paths:
            is_other = all(part.attribute is not attribute for part in path.parts)
            if path.key.name == attribute.stored and path.parts and is_other:
                part = path.parts[-1]
                before = [each for each in path.elements if isinstance(each, str)][-1:]
                if not part.attribute.is_key_only and before == [attribute.word][: len(before)]:
                    return snake_case(part.attribute.stored)
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
        if {_last_literal(path) for path in entity.paths if path.parts} == {word}:
            return entity.name
    if len(ending) == 1:
        return ending[0].name
    named = [each.name for each in candidates if snake_case(each.name).startswith(short)]
    return snake_case(min(named, key=len)).partition("_")[0] if named else ""


def _last_word(entity: InferredEntity) -> str:
    """Return the literal before the last part of a primary key."""
    paths = [path for path in entity.paths if path.parts]
    return _last_literal(paths[-1]) if paths else ""


def _last_literal(path: InferredPath) -> str:
    words = _words(path)
    return words[-1] if words else ""
