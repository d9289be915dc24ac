"""Description: from a compiled table to the description of what it stores.

    key("ORDER" / order_id, day(created_at))          PK=ORDER#{order_id}, SK={day(createdAt)}
    index(Shop.gsi1, "OPEN" / number, when=...)       GSI1PK=OPEN#{padded(number, 6)} when ...
    key(..., delimiter=":"), escape=False             PK={email} (delimiter ':', not escaped)

An attribute that is stored only in keys has no stored name, so it is numbered: `USER#{1}`. The
values of conditions are described as they are stored, and their members sorted where the order has
no meaning.

This module must not know where descriptions are kept, or what follows from a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from tablewright.design_description import (
    AttributeDescription,
    EntityDescription,
    HistoryDescription,
    KeyDescription,
    PartDescription,
    TemplateDescription,
    UniqueDescription,
    show_places,
)
from tablewright.errors import InvalidValue
from tablewright.expression import tree
from tablewright.expression.printing import EXPRESSION
from tablewright.mapping.attributes import AttributeMap, HistoryMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
from tablewright.mapping.stored_type import choices_of, show_stored, stored_type
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.plan.condition import (
    Condition,
    Encode,
    Operand,
    ShownLeaves,
    show,
    show_value,
)
from tablewright.plan.reference import Ref
from tablewright.values import Value


def describe_entities(table: TableMap) -> dict[str, EntityDescription]:
    """Return the descriptions of all entities of a table, by the types of their items."""
    return {entity.type_name: describe_entity(entity) for entity in table.entities}


def describe_entity(entity: EntityMap) -> EntityDescription:
    """Return everything of an entity that decides what is stored."""
    return EntityDescription(
        key=_describe_key(entity, entity.primary),
        attributes={
            each.stored: _describe_attribute(each)
            for each in entity.attributes.values()
            if not each.is_key_only
        },
        places={
            each.index.name: _describe_places(entity, each)
            for each in entity.index_keys
            if each.index is not None
        },
        uniques={
            each.type_name: UniqueDescription(
                _describe_key(entity, each.key), tuple(sorted(kept.stored for kept in each.keeps))
            )
            for each in entity.uniques
        },
        histories=_describe_histories(entity),
        renamed_from=entity.renamed_from,
    )


def describe_keys(entity: EntityMap, keys: IndexKeys) -> str:
    """Return what a key is made of: the primary key, a place in an index, or a unique value."""
    return show_places(_describe_places(entity, keys))


def _describe_places(entity: EntityMap, keys: IndexKeys) -> tuple[KeyDescription, ...]:
    """Return the alternatives of a place; they exclude each other, so they have no order."""
    found = (_describe_key(entity, key) for key in places_of([keys]))
    return tuple(sorted(found, key=lambda each: show_places([each])))


def _describe_key(entity: EntityMap, key: KeyMap) -> KeyDescription:
    names = _stored_names(entity, key)
    templates = tuple(_describe_template(name, each, names) for name, each in key.templates.items())
    if not isinstance(key.when, Condition):
        return KeyDescription(templates)
    stored = {name: each.stored for name, each in entity.attributes.items()} | names
    condition = key.when.to_tree(_StoredLeaves(entity, stored))
    return KeyDescription(templates, show(_sorted(condition)))


def _stored_names(entity: EntityMap, key: KeyMap) -> dict[str, str]:
    """Return the stored name of each attribute; one that is only in keys has a number instead."""
    names: dict[str, str] = {}
    numbers = count(1)
    for template in (*entity.primary.templates.values(), *key.templates.values()):
        for part in template.parts:
            if part.attribute not in names:
                attribute = entity.attributes[part.attribute]
                stored = str(next(numbers)) if attribute.is_key_only else attribute.stored
                names[part.attribute] = stored
    return names


def _describe_template(
    name: str, template: Template, names: Mapping[str, str]
) -> TemplateDescription:
    pieces = tuple(
        piece if isinstance(piece, str) else PartDescription(names[piece.attribute], piece.form)
        for piece in template.pieces
    )
    delimiter = template.delimiter
    if delimiter == delimiter.DEFAULT or not any(part.is_escaped for part in template.parts):
        return TemplateDescription(name, pieces, template.stored_tag)
    return TemplateDescription(name, pieces, template.stored_tag, delimiter.text, delimiter.escapes)


def _describe_attribute(attribute: AttributeMap) -> AttributeDescription:
    kind = attribute.converter.kind
    choices = choices_of(kind)
    return AttributeDescription(
        type="choice" if choices else stored_type(kind),
        stored=attribute.converter.tag or "",
        choices=choices or (),
        is_required=not attribute.may_be_absent,
        default=_stored_default(attribute),
        role=attribute.role,
        renamed_from=attribute.renamed_from,
    )


def _stored_default(attribute: AttributeMap) -> Value | None:
    """Return the stored form of a default; None if it is nothing, or another one at each call."""
    if attribute.default is None or attribute.role:
        return None
    value = attribute.default()
    if value is None or attribute.default() != value:
        return None
    try:
        return attribute.converter.stored(value)
    except InvalidValue:  # a default that cannot be stored is only ever read
        return None


def _describe_histories(entity: EntityMap) -> dict[str, tuple[HistoryDescription, ...]]:
    found: dict[str, list[HistoryDescription]] = {}
    for each in entity.histories:
        stored = entity.attributes[each.attribute].stored
        found.setdefault(stored, []).append(_describe_history(entity, each))
    return {name: tuple(each) for name, each in found.items()}


def _describe_history(entity: EntityMap, history: HistoryMap) -> HistoryDescription:
    """Return a history with the stored names of what it records; `:old` and the like are roles."""
    event = history.event
    return HistoryDescription(
        event.type_name,
        {
            event.attributes[name].stored: source
            if source.startswith(":")
            else entity.attributes[source].stored
            for name, source in history.sources.items()
            if not event.attributes[name].is_key_only
        },
        history.always,
    )


class _StoredLeaves(ShownLeaves):
    """Leaves with the stored names and values of an entity."""

    __slots__ = ("_entity",)

    def __init__(self, entity: EntityMap, names: Mapping[str, str]) -> None:
        super().__init__(lambda operand: names[operand.name])
        self._entity = entity

    def value(self, operand: Operand, encode: Encode, value: Any) -> tree.Value:
        ref: Ref[Any, Any] = Ref(operand.name, self._entity.attributes[operand.name])
        exact = ref.encode_member if encode == "encode_member" else ref.encode_bound
        return tree.Value(_stored(exact, value))


def _sorted(node: Any) -> Any:
    """Return a condition with its members sorted where their order has no meaning."""
    match node:
        case tree.And(members) | tree.Or(members):
            return type(node)(tuple(sorted(map(_sorted, members), key=show)))
        case tree.Not(negated):
            return tree.Not(_sorted(negated))
        case tree.In(operand, options):
            return tree.In(operand, tuple(sorted(options, key=EXPRESSION.operand)))
    return node


def _stored(encode: Callable[[Any], Value], value: Any) -> str:
    """Return the stored form of a value, which all its spellings in Python share."""
    try:
        return show_stored(encode(value))
    except InvalidValue:  # no stored item has it
        return show_value(value)
