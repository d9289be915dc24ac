"""Key conditions as pages show them: one line for each key attribute, its values coloured.

PK="CUST#{customer_id}" AND begins_with(SK, "ORDER#")

PK  = CUST#customer_id
SK  begins_with ORDER#
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.markup.hues import attribute_hue

_OUTSIDE_TEXT = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'
_AND = re.compile(f" AND {_OUTSIDE_TEXT}" + r"(?=begins_with\(|[\w.-]+(?:[=<>]| BETWEEN ))")
_STEP = re.compile(f"; {_OUTSIDE_TEXT}")
_BEGINS = re.compile(r"begins_with\(([\w.-]+), (.*)\)", re.DOTALL)
_COMPARED = re.compile(r"([\w.-]+)( BETWEEN |<=|>=|=|<|>)(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"\{([^{}]*)\}")


class KeyComparison(Struct, frozen=True):
    """What a key condition requires of one key attribute."""

    attribute: str
    operator: str
    operands: str


def comparisons(condition: str) -> list[KeyComparison]:
    """Return the comparisons of a key condition, as `explain` writes it.

    >>> comparisons('PK="A#{id}" AND begins_with(SK, "B#")')[1]
    KeyComparison(attribute='SK', operator='begins_with', operands='"B#"')
    """
    return [_comparison(part) for part in _AND.split(condition) if part]


def _comparison(text: str) -> KeyComparison:
    if (found := _BEGINS.fullmatch(text)) is not None:
        return KeyComparison(found[1], "begins_with", found[2])
    if (found := _COMPARED.fullmatch(text)) is not None:
        return KeyComparison(found[1], found[2].strip().lower(), found[3])
    return KeyComparison("", "", text)


def condition_lines(condition: str, entities: Sequence[EntityMap]) -> Markup:
    """Return a key condition with a line for each key attribute, in each request of a pattern."""
    steps = [
        join(
            element(
                "div",
                element("i", each.attribute),
                element("span", f"{each.operator} ", operands(each.operands, entities)),
                class_="kt",
            )
            for each in comparisons(step)
        )
        for step in _STEP.split(condition)
    ]
    return join(steps, element("div", "then", class_="then"))


def operands(text: str, entities: Sequence[EntityMap]) -> Markup:
    """Return the operands of a comparison; an argument has the hue of what it identifies."""
    pieces = []
    # A text in quotes is shown without them.
    for position, piece in enumerate(
        _ARGUMENT.split(text.replace('" AND "', "\0 and ").strip('"'))
    ):
        if position % 2 == 0:
            pieces.append(element("span", piece.replace("\0", ""), class_="l"))
        else:
            name = piece.replace("[]", "").rpartition(".")[2]
            hue = next(filter(None, (attribute_hue(each, name) for each in entities)), "")
            pieces.append(element("span", piece, class_=f"v {hue}".strip()))
    return element("span", join(pieces, element("wbr")), class_="key tpl wrap")
