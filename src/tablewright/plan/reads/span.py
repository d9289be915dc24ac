"""Spans: the part of a partition in which the rows of an aggregate lie.

    SK   ISSUE#00001 … ISSUE#00009    its children
         PR#1 …                       inside the span, but of another entity
         REPO#tw                      its root
         STAR#ann …                   outside of the span

The literal with which a sort key begins bounds its rows. The span reaches from the lowest to the
highest row of the members. Where rows of other entities lie outside of it, the query is bounded:
here `SK <= "REPO#tw"`. Rows inside of the span that belong to other entities are read and left
out, so how many rows a page needs is not bounded: a limit is then an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from msgspec import Struct

from tablewright.mapping.key_condition import HIGHEST, SortCondition, after
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Template


class Span(Struct, frozen=True):
    """All texts from `low` to `high`, both included."""

    low: str
    high: str

    def overlaps(self, other: Span) -> bool:
        return self.low <= other.high and other.low <= self.high


EVERYTHING = Span("", HIGHEST)


def span_of(template: Template | None) -> Span:
    """Return the span of the texts of a sort key, by the literal with which it begins."""
    if template is None or template.tag != "S" or template.natural is not None:
        return EVERYTHING
    first = template.pieces[0]
    if not isinstance(first, str):
        return EVERYTHING
    return Span(first, first) if len(template.pieces) == 1 else Span(first, after(first))


def literal_behind(longer: Template, shorter: Template) -> str:
    """Return the literal that follows another sort key in a longer one.

    It is `#ITEM#` for `ORDER#{order_id}#ITEM#{item_id}` and `ORDER#{order_id}`.
    """
    last = len(shorter.pieces) - 1
    ours, theirs = shorter.pieces[last], longer.pieces[last]
    text = theirs[len(ours) :] if isinstance(ours, str) and isinstance(theirs, str) else ""
    behind = takewhile(lambda piece: isinstance(piece, str), longer.pieces[last + 1 :])
    return "".join([text, *map(str, behind)])


def hull(spans: Iterable[Span]) -> Span:
    """Return the smallest span that contains all of these."""
    found = list(spans)
    return Span(min(each.low for each in found), max(each.high for each in found))


def bound(
    key: KeyMap,
    arguments: tuple[Any, ...],
    whole: Span,
    others: list[Span],
    *,
    root_is_last: bool,
) -> SortCondition | None:
    """Return the condition that keeps a query inside of a span; None if nothing is outside.

    `key` and `arguments` are those of the root. Where they say exactly which it is, and it is at an
    end of the span, its key is the bound; `root_is_last`: no member's key extends the root's.
    """
    below = any(other.low < whole.low for other in others)
    above = any(other.high > whole.high for other in others)
    if not below and not above:
        return None
    low, high = whole.low, whole.high
    root = span_of(key.sort)
    (sort,) = key.sort_attributes
    if len(arguments) == len(key.parameters):
        text = key.encode(arguments)[sort]["S"]
        low = text if root.low == whole.low else low
        high = text if root.high == whole.high and root_is_last else high
    if below and above:
        return SortCondition(sort, "between", ({"S": low}, {"S": high}))
    if below:
        return SortCondition(sort, ">=", ({"S": low},))
    return SortCondition(sort, "<=", ({"S": high},))
