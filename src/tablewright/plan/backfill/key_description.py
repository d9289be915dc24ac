"""Key descriptions: what the stored keys of an entity are made of, as one text for each key.

    key("ORDER" / order_id, day(created_at))          PK=ORDER#{order_id}, SK={day(createdAt)}
    index(Shop.gsi1, "OPEN" / number, when=...)       GSI1PK=OPEN#{padded(number, 6)} when ...
    key(..., delimiter=":"), escape=False             PK={email} (delimiter ':', not escaped)

Two designs whose descriptions are equal write the same keys for the same stored values. A
description has the names under which attributes are stored, and neither the names in Python nor
the order of the source, so renaming and moving code does not change it; the values of conditions
are described as they are stored. An attribute that is stored only in keys has no name there, so it
is numbered: `USER#{1}`. The code of a codec is not described, only the name of its class.

This module must not know where descriptions are kept, or what follows from a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from tablewright.errors import InvalidValue
from tablewright.expression import tree
from tablewright.expression.printing import EXPRESSION
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
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


def describe_keys(entity: EntityMap, keys: IndexKeys) -> str:
    """Return what a key is made of: the primary key, a place in an index, or a unique value.

    Alternatives exclude each other, so their order has no meaning.
    """
    return " | ".join(sorted(_describe(entity, key) for key in places_of([keys])))


def _describe(entity: EntityMap, key: KeyMap) -> str:
    names = _stored_names(entity, key)
    text = ", ".join(f"{name}={_template(each, names)}" for name, each in key.templates.items())
    if not isinstance(key.when, Condition):
        return text
    stored = {name: each.stored for name, each in entity.attributes.items()} | names
    return f"{text} when {show(_sorted(key.when.to_tree(_StoredLeaves(entity, stored))))}"


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


def _template(template: Template, names: Mapping[str, str]) -> str:
    text = "".join(
        piece if isinstance(piece, str) else f"{{{piece.form.format(names[piece.attribute])}}}"
        for piece in template.pieces
    )
    delimiter = template.delimiter
    if delimiter == delimiter.DEFAULT or not any(part.is_escaped for part in template.parts):
        return text
    escaping = "" if delimiter.escapes else ", not escaped"
    return f"{text} (delimiter {delimiter.text!r}{escaping})"


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
        ((tag, content),) = encode(value).items()
    except InvalidValue:  # no stored item has it
        return show_value(value)
    if tag == "N":
        return str(content)
    return repr(content if tag in ("S", "BOOL") else {tag: content})
