"""Key conditions: what a query asks of the key of a table or an index.

DynamoDB takes an equality for each partition key attribute, equalities for the sort key attributes
from left to right, and one comparison of the next attribute. A composed sort key has one attribute
for several parts, so that the bound parts and the comparison of the next part become one condition.
Every prefix ends with `#`, so order 1 never matches order 10; `$` sorts right after `#`:

    nothing bound                       begins_with(SK, "ORDER#")
    .eq(day)                            begins_with(SK, "ORDER#day#")
    .eq(day, id)                        SK = "ORDER#day#id"
    .gte(day)                           SK BETWEEN "ORDER#day" AND "ORDER$"
    .gt(day)                            SK BETWEEN "ORDER#day$" AND "ORDER$"
    .lte(day)                           SK BETWEEN "ORDER#" AND "ORDER#day$"

If no other entity can be in the partition, the bounds that exclude other entities are left out:
`PK = "USER"`, `SK >= "AT#1719473962"`.

This module must not know entities or requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.template import Template, natural_bound
from tablewright.symbol import SymbolicText
from tablewright.values import Item, Value

#: How a query compares the next part; `begins_with` takes a prefix.
Comparison: TypeAlias = Literal["=", "<", "<=", ">", ">=", "between", "begins_with"]
FLIPPED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class SortCondition(Struct, frozen=True):
    """A comparison of one sort key attribute, as DynamoDB takes it."""

    attribute: str
    comparison: Comparison
    values: tuple[Value, ...]
    #: A key that matches the condition but not the comparison: it must be filtered out.
    excluded: Value | None = None


class KeyCondition(Struct, frozen=True):
    """The condition that a query puts on the key of a table or an index."""

    #: The key attributes that must equal a value; those of the partition key first.
    equal: Item
    #: The comparison of the next sort key attribute.
    sort: SortCondition | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The key attributes that it compares."""
        return (*self.equal, *(() if self.sort is None else (self.sort.attribute,)))

    def fixed(self) -> Item:
        """Return the key attributes that must equal one value, each with that value."""
        if self.sort is None or self.sort.comparison != "=":
            return self.equal
        return self.equal | {self.sort.attribute: self.sort.values[0]}


def compare_value(
    attribute: str,
    template: Template,
    part: KeyPart,
    comparison: Comparison,
    operands: Sequence[Any],
) -> SortCondition:
    """Return the condition on a key attribute that is not a composed text."""
    if part.is_descending:
        comparison, operands = FLIPPED.get(comparison, comparison), operands[::-1]
    if template.natural is None:
        values: list[Value] = [{template.tag: part.text_or_symbol(operand)} for operand in operands]
    else:
        values = [natural_bound(template.natural, operand) for operand in operands]
    return SortCondition(attribute, comparison, tuple(values))


#: Sorts after every text that can follow a part, if no literal follows it.
HIGHEST = "\U0010ffff"


def after(text: str) -> str:
    """Return the lowest text that sorts after every text which begins with this one.

    >>> after("ORDER#")
    'ORDER$'
    """
    if isinstance(text, SymbolicText):
        *before, last = text.parts
        behind = (after(last),) if isinstance(last, str) else (last, HIGHEST)
        return SymbolicText(*before, *behind)
    return text[:-1] + chr(ord(text[-1]) + 1) if ord(text[-1]) < 0xD7FF else text + HIGHEST


def _text(text: str) -> Value:
    return {"S": text}


def compare_text(
    attribute: str,
    prefix: str,
    comparison: Comparison,
    bounds: list[str],
    *,
    following: str | None,
    is_exclusive: bool,
    may_end: bool = False,
) -> SortCondition:
    """Return the condition on a composed sort key; `following` is the text that ends the part.

    With `may_end`, the key may also end behind the part.
    """
    if comparison == "begins_with":
        return SortCondition(attribute, "begins_with", (_text(bounds[0]),))
    # A key `bound#…` equals the bound in this part; `bound$` sorts after all such keys.
    end = "" if following is None else after(following) if following else HIGHEST
    if comparison == "=":
        if following is None:
            return SortCondition(attribute, "=", (_text(bounds[0]),))
        return SortCondition(attribute, "begins_with", (_text(bounds[0] + following),))
    if comparison == "between":
        return SortCondition(attribute, "between", (_text(bounds[0]), _text(bounds[1] + end)))
    bound = bounds[0] + end if comparison in (">", "<=") else bounds[0]
    if is_exclusive or not prefix:
        return SortCondition(attribute, comparison, (_text(bound),))
    # BETWEEN includes both of its limits.
    is_reached = comparison in (">", "<") if following is None else comparison == "<" and may_end
    excluded = _text(bound) if is_reached else None
    limits = (bound, after(prefix)) if comparison in (">", ">=") else (prefix, bound)
    return SortCondition(attribute, "between", tuple(map(_text, limits)), excluded)
