"""Key conditions as pages show them: one line for each key attribute, its values coloured.

PK="CUST#{customer_id}" AND begins_with(SK, "ORDER#")

PK  = CUST#customer_id
SK  begins_with ORDER#
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tablewright.mapping.entity import EntityMap
from tablewright.plan.explanation import parts_text
from tablewright.plan.facts import ShapeKey, WholeScan
from tablewright.plan.shape import Shape
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.hues import attribute_hue
from tablewright.symbol import Argument, AttributeOf, Expression, MemberOf, parts_of
from tablewright.values import Value


def condition_lines(shape: Shape, entities: Sequence[EntityMap]) -> Markup:
    """Return the key conditions of a shape, with a line for each key attribute of each.

    Those of a transaction are those of its first write.
    """
    keys = shape.keys or next((step.keys for step in shape.steps), ())
    steps = [join(_lines(key, entities)) for key in keys]
    if shape.parts is not None:
        steps[-1] = join([steps[-1], _line("", "", parts_text(shape))])
    return join(steps, element("div", "then", class_="then"))


def _lines(key: ShapeKey, entities: Sequence[EntityMap]) -> Iterator[Markup]:
    if isinstance(key, WholeScan):
        yield _line("", "", key.reason)
        return
    for name, value in key.equal.items():
        yield _line(name, "=", operands([value], entities))
    if key.sort is not None:
        yield _line(key.sort.attribute, key.sort.comparison, operands(key.sort.values, entities))


def _line(attribute: str, operator: str, shown: Markup | str) -> Markup:
    return element(
        "div", element("i", attribute), element("span", f"{operator} ", shown), class_="kt"
    )


def operands(values: Sequence[Value], entities: Sequence[EntityMap]) -> Markup:
    """Return the operands of a comparison; an argument has the hue of what it identifies."""
    pieces = []
    for position, value in enumerate(values):
        (text,) = value.values()
        pieces += [element("span", " and ", class_="l")] if position else []
        for part in parts_of(text):
            if isinstance(part, Expression):
                name = _name(part)
                hue = next(filter(None, (attribute_hue(each, name) for each in entities)), "")
                pieces.append(element("span", str(part), class_=f"v {hue}".strip()))
            else:
                pieces.append(element("span", part, class_="l"))
    return element("span", join(pieces, element("wbr")), class_="key tpl wrap")


def _name(expression: Expression) -> str:
    """Return the name of the attribute or argument that an expression is; "" for a computed one."""
    while isinstance(expression, MemberOf):
        expression = expression.of
    return expression.name if isinstance(expression, Argument | AttributeOf) else ""
