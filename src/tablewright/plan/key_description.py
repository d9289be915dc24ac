"""Key descriptions: what the stored keys of an entity are made of, as one text for each key.

    key("ORDER" / order_id, day(created_at))          PK=ORDER#{order_id}, SK={day(createdAt)}
    index(Shop.gsi1, "OPEN" / number, when=...)       GSI1PK=OPEN#{padded(number, 6)} when ...
    key(..., delimiter=":"), escape=False             PK={email} (delimiter ':', not escaped)

Two designs whose descriptions are equal write the same keys for the same stored values. A
description has the names under which attributes are stored, and neither the names in Python nor
the order of the source, so renaming and moving code does not change it. The code of a codec is
not described, only the name of its class.

This module must not know where descriptions are kept, or what follows from a difference.
"""

from __future__ import annotations

from typing import Any

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import IndexKeys, KeyMap, places_of
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Template
from tablewright.plan.condition import All, Call, Condition, Either, Not, Operand, show_value


def describe_keys(entity: EntityMap, keys: IndexKeys) -> str:
    """Return what a key is made of: the primary key, a place in an index, or a unique value.

    Alternatives exclude each other, so their order has no meaning.
    """
    return " | ".join(sorted(_describe(entity, key) for key in places_of([keys])))


def _describe(entity: EntityMap, key: KeyMap) -> str:
    text = ", ".join(
        f"{name}={_template(entity, template)}" for name, template in key.templates.items()
    )
    return f"{text} when {_condition(key.when)}" if isinstance(key.when, Condition) else text


def _template(entity: EntityMap, template: Template) -> str:
    text = "".join(
        piece if isinstance(piece, str) else f"{{{_part(entity, piece)}}}"
        for piece in template.pieces
    )
    delimiter = template.delimiter
    if delimiter == delimiter.DEFAULT or not any(part.is_escaped for part in template.parts):
        return text
    escaping = "" if delimiter.escapes else ", not escaped"
    return f"{text} (delimiter {delimiter.text!r}{escaping})"


def _part(entity: EntityMap, part: KeyPart) -> str:
    return part.form.format(entity.attributes[part.attribute].stored)


def _condition(condition: Condition[Any]) -> str:
    """Return a condition with stored names; operands whose order has no meaning are sorted."""
    match condition:
        case Either(conditions=members):
            return f"({' OR '.join(sorted(map(_condition, members)))})"
        case All(conditions=members):
            return " AND ".join(sorted(map(_condition, members)))
        case Not(condition=negated):
            return f"NOT ({_condition(negated)})"
        case Call(function="IN", operand=operand, check=check, values=values):
            return Call("IN", operand, check, *sorted(values, key=show_value)).show(_name)
    return condition.show(_name)


def _name(operand: Operand) -> str:
    return ".".join(map(str, operand.steps))
