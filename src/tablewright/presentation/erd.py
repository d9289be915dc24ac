"""The entity-relationship diagram of a design, and its text for Mermaid.

An entity has a relation to its parent, whose item collection contains its items, and to each
entity that an attribute refers to: `category_id` refers to a Category, or to the entity whose key
ends with `category_id`; `section` in a primary key refers to a Section. What is declared, as a
reference or a cascade, replaces what the names say about the same two entities. A model or
dataclass that an entity embeds is shown like an entity, with a relation to what embeds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.links import LinkMap
from tablewright.mapping.paths import fields_of, without_none
from tablewright.plan.writes.followers import followers

#: Makes a type one word, which Mermaid requires.
_WORD = str.maketrans({"[": "_", " ": "_", "]": None, ",": None})


class _Field(Struct, frozen=True):
    name: str
    stored: str
    kind: Any


class _Box(Struct, frozen=True):
    """An entity, or a model that entities embed."""

    name: str
    #: Its name in Python.
    entity: str
    fields: list[_Field]
    #: The names of the fields that are in the primary key.
    key: frozenset[str] = frozenset()
    #: The last field of the primary key, which tells the entity from others of its parent.
    own_id: str = ""
    #: The boxes that fields are declared to refer to, by the names of the fields.
    targets: dict[str, str] = {}


class Attribute(Struct, frozen=True):
    """One line of an entity: the type, the stored name, and `PK` or `FK`."""

    kind: str
    name: str
    marks: tuple[str, ...]
    #: The node of the entity that it identifies; "" if it identifies none.
    owner: str = ""


class Node(Struct, frozen=True):
    """An entity, or a model that entities embed; `entity` is its name in Python."""

    name: str
    entity: str
    attributes: tuple[Attribute, ...]


class Relation(Struct, frozen=True):
    """One `source` has one or many of `target`."""

    source: str
    target: str
    many: bool
    #: The stored attribute of the target that names the source, the one that embeds the target, or
    #: the name of the declared reference or cascade.
    label: str
    #: The attribute of the target that identifies the source, in Python; "" if there is none.
    attribute: str = ""
    #: Whether the target is in the item collection of the source.
    is_below: bool = False


#: The columns of the relations as a table, for those who cannot see the diagram.
RELATION_COLUMNS = ("From", "To", "How many", "By")


class Erd(Struct, frozen=True):
    """The entities and embedded models of a table, in the order of declaration."""

    nodes: tuple[Node, ...]
    relations: tuple[Relation, ...]

    def relation_rows(self) -> list[tuple[str, str, str, str]]:
        """Return the relations as rows of RELATION_COLUMNS, with the names of Python."""
        names = {node.name: node.entity for node in self.nodes}
        counts = {True: "0 or more", False: "0 or 1"}
        return [
            (names[each.source], names[each.target], counts[each.many], each.label)
            for each in self.relations
        ]


def erd(entities: list[EntityMap]) -> Erd:
    """Return the diagram of these entities."""
    boxes = [_box_of_entity(entity) for entity in entities]
    models = [_box_of_model(model) for model in _embedded(boxes)]
    relations = [*_relations(entities, boxes), *_embeddings(boxes + models)]
    relations += [relation for box in models for relation in _references(box, boxes)]
    return Erd(
        tuple(Node(box.name, box.entity, tuple(_attributes(box, boxes))) for box in boxes + models),
        tuple(dict.fromkeys(relations)),
    )


def mermaid(diagram: Erd) -> str:
    """Return the text of a diagram for Mermaid."""
    lines = ["erDiagram"]
    for node in diagram.nodes:
        lines.append(f"    {node.name} {{")
        lines += [
            f"        {each.kind.translate(_WORD)} {each.name} {', '.join(each.marks)}".rstrip()
            for each in node.attributes
        ]
        lines.append("    }")
    lines += [
        f"    {each.source} ||--o{'{' if each.many else '|'} {each.target} : {each.label}"
        for each in diagram.relations
    ]
    return "\n".join(lines)


def owners(entities: list[EntityMap]) -> dict[tuple[str, str], str]:
    """Return which entity an attribute of an entity identifies, by their names in Python.

    `customer_id` identifies a Customer in every entity, and so does `customer` in a primary key;
    `version`, the last part of the key of a StatusEvent, a StatusEvent.
    """
    boxes = [_box_of_entity(entity) for entity in entities]
    return {
        (box.entity, field.name): owner.entity
        for box in boxes
        for field in box.fields
        if (owner := _identified(field.name, box, boxes)) is not None
    }


def _identified(field: str, box: _Box, entities: list[_Box]) -> _Box | None:
    """Return the entity that a field identifies: another one, or its own."""
    if (referenced := _referenced(field, box, entities)) is not None:
        return referenced
    return box if field == box.own_id else None


def _box_of_entity(entity: EntityMap) -> _Box:
    fields = [
        _Field(attribute.name, attribute.stored, attribute.converter.kind)
        for attribute in entity.attributes.values()
    ]
    own_id = next((part.attribute for part in reversed(entity.primary.parameters)), "")
    targets = {
        field: _name(link.target.name)
        for link in entity.links
        for field in link.names
        if len(link.names) == 1
    }
    return _Box(_name(entity.name), entity.name, fields, entity.primary.depends_on, own_id, targets)


def _box_of_model(model: type) -> _Box:
    fields = [
        _Field(name, stored, without_none(kind))
        for name, (stored, kind, _) in fields_of(model).items()
    ]
    return _Box(_name(model.__name__), model.__name__, fields)


def _name(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _attributes(box: _Box, entities: list[_Box]) -> Iterator[Attribute]:
    for field in box.fields:
        marks: tuple[str, ...] = ("PK",) if field.name in box.key else ()
        if _referenced(field.name, box, entities) is not None:
            marks = (*marks, "FK")
        owner = _identified(field.name, box, entities)
        yield Attribute(_type(field.kind), field.stored, marks, owner.name if owner else "")


def _type(kind: Any) -> str:
    """Return a type as a person writes it: `dict[str, int]`."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(_type(member) for member in get_args(kind))
    if origin is not None and isinstance(origin, type):
        inside = [_type(part) for part in get_args(kind) if part is not ...]
        return f"{origin.__name__}[{', '.join(inside)}]" if inside else origin.__name__
    return kind.__name__ if isinstance(kind, type) else "any"


# -- embedded models -----------------------------------------------------------------------------


def _embedded(entities: list[_Box]) -> list[type]:
    """Return the models that the entities embed, and those that these embed."""
    found: dict[type, None] = {}
    waiting = list(entities)
    for box in waiting:  # grows
        for field in box.fields:
            for model, _ in _models(field.kind):
                if model not in found:
                    found[model] = None
                    waiting.append(_box_of_model(model))
    return list(found)


def _models(kind: Any, *, many: bool = False) -> Iterator[tuple[type, bool]]:
    """Return the models in a type, and whether a value can contain many of them."""
    if fields_of(kind):
        yield kind, many
    many = many or get_origin(kind) not in (None, Union, UnionType)
    for part in get_args(kind):
        yield from _models(part, many=many)


def _embeddings(boxes: list[_Box]) -> Iterator[Relation]:
    for box in boxes:
        for field in box.fields:
            for model, many in _models(field.kind):
                yield Relation(box.name, _name(model.__name__), many, field.stored)


# -- relations -----------------------------------------------------------------------------------


def _relations(entities: list[EntityMap], boxes: list[_Box]) -> Iterator[Relation]:
    declared = [_declared(link) for entity in entities for link in entity.links]
    pairs = {(each.source, each.target) for each in declared}
    yield from declared
    for each in _guessed(entities, boxes):
        if (each.source, each.target) not in pairs:
            yield each


def _declared(link: LinkMap) -> Relation:
    """Return the relation of a declared reference or cascade."""
    source, target = link.target, link.entity
    return Relation(
        _name(source.name),
        _name(target.name),
        True,
        link.name.partition(".")[2],
        link.sources.get(source.primary.parameters[-1].attribute, ""),
        any(each.entity is target for each in followers(source)),
    )


def _guessed(entities: list[EntityMap], boxes: list[_Box]) -> Iterator[Relation]:
    """Yield the relations that keys and names show."""
    children = {each: [member.entity for member in followers(each)] for each in entities}
    for parent, found in children.items():
        for child in found:
            others = {third for third in found if third not in (parent, child)}
            is_direct = not any(child in children.get(third, ()) for third in others)
            if child in children and is_direct:
                key = parent.attributes.get(parent.primary.parameters[-1].attribute)
                label = "key" if key is None else key.stored
                yield Relation(_name(parent.name), _name(child.name), True, label, is_below=True)
    for entity, box in zip(entities, boxes, strict=True):
        parents = [_name(other.name) for other, found in children.items() if entity in found]
        yield from _references(box, [other for other in boxes if other.name not in parents])


def _references(box: _Box, entities: list[_Box]) -> Iterator[Relation]:
    for field in box.fields:
        target = _referenced(field.name, box, entities)
        if target is not None:
            yield Relation(target.name, box.name, True, field.stored, field.name)


def _referenced(field: str, box: _Box, entities: list[_Box]) -> _Box | None:
    """Return the entity that a field refers to: of the same name, or with this field as its id."""
    others = [other for other in entities if other.name != box.name]
    if field in box.targets:
        return next((other for other in others if other.name == box.targets[field]), None)
    if not field.endswith("_id"):  # `menu` in the key of a Section
        named = (other for other in others if other.name == field.upper() and field in box.key)
        return next(named, None)
    wanted = field.removesuffix("_id").replace("_", "").upper()
    by_name = (other for other in others if other.name.replace("_", "") == wanted)
    by_id = (other for other in others if other.own_id == field != box.own_id)
    return next(by_name, None) or next(by_id, None)
