"""Description: from a compiled table to the description of what it stores.

    key("ORDER" / order_id, day(created_at))          PK=ORDER#{order_id}, SK={day(createdAt)}
    index(Shop.gsi1, "OPEN" / number, when=...)       GSI1PK=OPEN#{padded(number, 6)} when ...
    key(..., delimiter=":"), escape=False             PK={email} (delimiter ':', not escaped)

An attribute that is stored only in keys has no stored name, so it is numbered: `USER#{1}`. The text
of one key (`describe_keys`, for the index record) numbers the attributes of the primary key and of
this key; the description of an entity numbers those of all its keys. The values of conditions are
described as they are stored, and their members sorted where the order has no meaning.

This module must not know where descriptions are kept, or what follows from a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from tablewright.design_description import (
    AttributeDescription,
    ConditionDescription,
    CounterDescription,
    EntityDescription,
    HistoryDescription,
    KeyDescription,
    PartDescription,
    TemplateDescription,
    UniqueDescription,
    describe_former,
    show_condition,
    show_key,
    show_places,
)
from tablewright.errors import InvalidValue
from tablewright.expression import tree
from tablewright.expression.printing import EXPRESSION
from tablewright.mapping.attributes import STAMPS, AttributeMap, HistoryMap
from tablewright.mapping.counters import CounterMap, counters_of
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
from tablewright.mapping.stored_type import choices_of, show_stored, stored_default, stored_type
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
    names = _names_in_keys(entity, _all_keys(entity))
    return EntityDescription(
        key=_describe_key(entity, entity.primary, names),
        attributes={
            each.stored: _describe_attribute(each)
            for each in entity.attributes.values()
            if not each.is_key_only
        },
        places={
            each.index.name: _describe_places(entity, each, names)
            for each in entity.index_keys
            if each.index is not None
        },
        uniques={
            each.type_name: UniqueDescription(
                _describe_key(entity, each.key, names),
                tuple(sorted(kept.stored for kept in each.keeps)),
            )
            for each in entity.uniques
        },
        histories=_describe_histories(entity),
        counters={each.attribute.stored: _describe_counter(each) for each in counters_of(entity)},
        in_keys={
            names[each.name]: stored_type(each.converter.kind)
            for each in entity.attributes.values()
            if each.is_key_only
        },
        renamed_from=describe_former(entity.renamed_from),
    )


def describe_keys(entity: EntityMap, keys: IndexKeys) -> str:
    """Return what a key is made of: the primary key, a place in an index, or a unique value."""
    places = [
        _describe_key(entity, key, _names_in_keys(entity, (entity.primary, key)))
        for key in places_of([keys])
    ]
    return show_places(places)


def _describe_places(
    entity: EntityMap, keys: IndexKeys, names: Mapping[str, str]
) -> tuple[KeyDescription, ...]:
    """Return the alternatives of a place; they exclude each other, so they have no order."""
    found = (_describe_key(entity, key, names) for key in places_of([keys]))
    return tuple(sorted(found, key=show_key))


def _describe_key(entity: EntityMap, key: KeyMap, names: Mapping[str, str]) -> KeyDescription:
    templates = tuple(_describe_template(name, each, names) for name, each in key.templates.items())
    if not isinstance(key.when, Condition):
        return KeyDescription(templates)
    leaves = _StoredLeaves(entity, names)
    return KeyDescription(templates, _describe_condition(key.when.to_tree(leaves)))


def _all_keys(entity: EntityMap) -> list[KeyMap]:
    """Return the keys of an entity in an order that is not that of the source."""
    unnamed = {
        each.name: "" if each.is_key_only else each.stored for each in entity.attributes.values()
    }
    places = sorted(
        places_of(entity.index_keys),
        key=lambda key: (key.index.name, show_key(_describe_key(entity, key, unnamed))),  # type: ignore[union-attr]  # it is in one
    )
    return [entity.primary, *places, *(each.key for each in entity.uniques)]


def _names_in_keys(entity: EntityMap, keys: Iterable[KeyMap]) -> dict[str, str]:
    """Return the name of each attribute in keys: its stored name, or its number in these keys."""
    names = {each.name: each.stored for each in entity.attributes.values()}
    parts = [part for key in keys for each in key.templates.values() for part in each.parts]
    in_keys = dict.fromkeys(
        part.attribute for part in parts if entity.attributes[part.attribute].is_key_only
    )
    return names | {name: str(number) for number, name in enumerate(in_keys, start=1)}


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
    kind, codec = attribute.converter.kind, attribute.converter.codec
    is_encrypted = attribute.converter.cipher is not None  # what it encodes has no stored form
    choices = None if is_encrypted else choices_of(kind, attribute.converter.encode)
    default = _stored_default(attribute)
    name = "choice" if choices else codec.format(stored_type(kind)) if codec else stored_type(kind)
    return AttributeDescription(
        type=f"{name} | None" if attribute.has_value_if_absent else name,
        stored=attribute.converter.tag or "",
        choices=choices or (),
        is_required=not attribute.may_be_absent,
        default=None if default == "computed" else default,
        computes_default=default == "computed",
        role=attribute.role,
        renamed_from=describe_former(attribute.renamed_from),
    )


def _stored_default(attribute: AttributeMap) -> Value | Literal["computed"] | None:
    if attribute.default is None or attribute.role in STAMPS:
        return None
    if attribute.converter.cipher is not None:
        return "computed"
    return stored_default(attribute.default, attribute.converter.stored)


def _describe_histories(entity: EntityMap) -> dict[str, tuple[HistoryDescription, ...]]:
    found: dict[str, list[HistoryDescription]] = {}
    for each in entity.histories:
        stored = entity.attributes[each.attribute].stored
        found.setdefault(stored, []).append(_describe_history(entity, each))
    return {name: tuple(sorted(each, key=str)) for name, each in found.items()}


def _describe_history(entity: EntityMap, history: HistoryMap) -> HistoryDescription:
    """Return a history with the stored names of what it records; `:old` and the like are roles."""
    event = history.event
    names = _names_in_keys(entity, _all_keys(entity))
    of_event = _names_in_keys(event, _all_keys(event))
    sources = {
        of_event[name]: source if source.startswith(":") else names[source]
        for name, source in history.sources.items()
    }
    return HistoryDescription(event.type_name, dict(sorted(sources.items())), history.always)


def _describe_counter(counter: CounterMap) -> CounterDescription:
    parent, child = counter.parent, counter.child
    names = _names_in_keys(parent, _all_keys(parent))
    of_child = _names_in_keys(child, _all_keys(child))
    when = counter.when
    return CounterDescription(
        tuple(sorted(child.type_names)),
        {names[theirs]: of_child[ours] for theirs, ours in sorted(counter.by.items())},
        "" if counter.summed is None else of_child[counter.summed.name],
        _describe_condition(when.to_tree(_StoredLeaves(child, of_child)))
        if isinstance(when, Condition)
        else None,
    )


#: Around a name in the text of a test; the texts of values do not contain it.
_MARK = "\0"


class _StoredLeaves(ShownLeaves):
    """Leaves with the stored names, which are marked, and the stored values of an entity."""

    __slots__ = ("_entity",)

    def __init__(self, entity: EntityMap, names: Mapping[str, str]) -> None:
        super().__init__(lambda operand: f"{_MARK}{names[operand.name]}{_MARK}")
        self._entity = entity

    def value(self, operand: Operand, encode: Encode, value: Any) -> tree.Value:
        ref: Ref[Any, Any] = Ref(operand.name, self._entity.attributes[operand.name])
        exact = ref.encode_member if encode == "encode_member" else ref.encode_bound
        return tree.Value(_stored(exact, value))


def _describe_condition(node: tree.Condition) -> ConditionDescription:
    """Return the description of a condition, sorted where the order has no meaning."""
    match node:
        case tree.And(members):
            return _join("AND", *members)
        case tree.Or(members):
            return _join("OR", *members)
        case tree.Not(negated):
            return _join("NOT", negated)
        case tree.In(operand, options):
            node = tree.In(operand, tuple(sorted(options, key=EXPRESSION.operand)))
    pieces = enumerate(show(node).split(_MARK))
    return ConditionDescription(
        tuple(PartDescription(each) if number % 2 else each for number, each in pieces if each)
    )


def _join(joined: Literal["AND", "OR", "NOT"], *members: tree.Condition) -> ConditionDescription:
    described = sorted(map(_describe_condition, members), key=show_condition)
    return ConditionDescription((), joined, tuple(described))


def _stored(encode: Callable[[Any], Value], value: Any) -> str:
    """Return the stored form of a value, which all its spellings in Python share."""
    try:
        return show_stored(encode(value))
    except InvalidValue:  # no stored item has it
        return show_value(value)
