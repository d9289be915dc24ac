"""Conditions: what distinguishes the items in an index, or in one of its places, from the others.

    items 1 and 2 in the index, 3 not; 3 alone has a parent     parent.not_exists()
    items 1 and 2 with one form of key, 3 with another          status == "open", status == "paid"

The conditions of several places are on one attribute, so the model can prove that they exclude
each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from tablewright.infer.declaration import Attribute, InferredCondition
from tablewright.infer.names import quoted, snake_case

#: Attributes of these names say in which state an item is.
_STATES = frozenset({"active", "kind", "stage", "state", "status", "type"})
_TAGS = {"str": "S", "bool": "BOOL"}


def find_condition(
    attributes: Iterable[Attribute], inside: Sequence[int], outside: Sequence[int]
) -> InferredCondition | None:
    """Return what is true of all items inside of an index, and of none of the others."""
    found = find_alternatives(attributes, [inside], outside)
    return found[0] if found else None


def find_alternatives(
    attributes: Iterable[Attribute], groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return a condition for each group that is true of its items alone; none if there are none."""
    known = list(attributes)
    ranked = sorted(known, key=lambda each: snake_case(each.stored) not in _STATES)
    present = (_presence(each, groups, outside) for each in known)
    equal = (_equality(each, groups, outside) for each in ranked)
    return next(filter(None, chain(present, equal)), [])


def _presence(
    attribute: Attribute, groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return the conditions that an attribute exists, and that it does not."""
    if len(groups) > 2 or any("NULL" in value for value in attribute.values.values()):
        return []
    sides = [set(group) for group in groups]
    if len(groups) == 1:
        sides.append(set(outside))
    elif outside:
        return []
    present = set(attribute.values)
    for first, second in (sides, sides[::-1]):
        if first <= present and not second & present:
            made = {
                id(first): InferredCondition(attribute, "{}.exists()"),
                id(second): InferredCondition(attribute, "{}.not_exists()"),
            }
            return [made[id(side)] for side in sides[: len(groups)]]
    return []


def _equality(
    attribute: Attribute, groups: Sequence[Sequence[int]], outside: Sequence[int]
) -> list[InferredCondition]:
    """Return the conditions that an attribute has the value of each group."""
    tag = _TAGS.get(attribute.kind.source)
    if tag is None:
        return []
    contents = [{_content(attribute, n, tag) for n in group} for group in groups]
    others = {_content(attribute, n, tag) for n in outside}
    values = [content for each in contents for content in each]
    is_clear = all(len(each) == 1 for each in contents) and len(set(values)) == len(groups)
    if not is_clear or None in values or not others.isdisjoint(values):
        return []
    if tag == "S" and not _is_choice(attribute, [*groups, outside], {*values, *others}):
        return []
    return [InferredCondition(attribute, _equals(content)) for content in values]


def _content(attribute: Attribute, number: int, tag: str) -> Any:
    return attribute.values.get(number, {}).get(tag)


def _is_choice(
    attribute: Attribute, groups: Sequence[Sequence[int]], contents: Collection[Any]
) -> bool:
    """Whether a text is one of few, not an id or a title that happens to differ."""
    count = sum(map(len, groups))
    is_state = snake_case(attribute.stored) in _STATES and len(contents) < count
    return is_state or len(contents) <= count / 2


def _equals(content: Any) -> str:
    return f"{{}} == {quoted(content)}" if isinstance(content, str) else f"{{}}.in_([{content}])"
