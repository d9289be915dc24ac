"""Exclusion: a proof that two places in one index never hold for the same entity.

    index(Repos.by_name, "REPO" / name, …, when=parent.not_exists())
    index(Repos.by_name, "REPO" / parent, …)                          # only with a parent

A place holds if all its parts have values and its condition is true. The conditions compare
attributes with constants, so it is enough to try the constants, one value between each two of
them, one below and one above, and None: if both places hold for no combination, they hold
together for no entity. Conditions of another kind (`contains`, `begins_with`, a path inside of a
document) cannot be decided this way, and are not accepted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from tablewright.mapping.entity import AttributeMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.condition import All, Call, Compare, Condition, IsNull, Not

#: The functions whose truth depends only on how a value compares with constants.
DECIDABLE = frozenset({"attribute_exists", "attribute_not_exists", "BETWEEN", "IN"})
MAX_COMBINATIONS = 10_000


def exclude_each_other(one: KeyMap, other: KeyMap, attributes: Mapping[str, AttributeMap]) -> bool:
    """Return whether it is proved that two places of an entity never hold together."""
    conditions = [key.when for key in (one, other) if isinstance(key.when, Condition)]
    leaves = [leaf for condition in conditions for leaf in _leaves(condition)]
    if not all(_is_decidable(leaf) for leaf in leaves):
        return False
    names = sorted(one.depends_on | other.depends_on)
    samples = [_samples(attributes[name], _constants(leaves, name)) for name in names]
    if math.prod(map(len, samples)) > MAX_COMBINATIONS:
        return False
    for combination in itertools.product(*samples):
        values = dict(zip(names, combination, strict=True))
        try:
            if _holds(one, values) and _holds(other, values):
                return False
        except TypeError:  # values that cannot be compared
            return False
    return True


def _holds(key: KeyMap, values: Mapping[str, Any]) -> bool:
    parts = [part.attribute for template in key.templates.values() for part in template.parts]
    return all(values[name] is not None for name in parts) and (
        key.when is None or key.when.holds(values)
    )


def _leaves(condition: Condition[Any]) -> Iterable[Condition[Any]]:
    if isinstance(condition, All):
        for each in condition.conditions:
            yield from _leaves(each)
    elif isinstance(condition, Not):
        yield from _leaves(condition.condition)
    else:
        yield condition


def _is_decidable(leaf: Condition[Any]) -> bool:
    if isinstance(leaf, Call):
        return leaf.function in DECIDABLE
    return isinstance(leaf, (Compare, IsNull))


def _constants(leaves: Iterable[Condition[Any]], name: str) -> list[Any]:
    """Return the values that conditions compare an attribute with."""
    found: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, Compare) and leaf.operand.name == name:
            found.append(leaf.value)
        elif isinstance(leaf, Call) and leaf.operand.name == name:
            found += leaf.values
    return found


def _samples(attribute: AttributeMap, constants: list[Any]) -> list[Any]:
    """Return None, the constants, and values between and around them."""
    absent = [None] if attribute.converter.optional else []
    kind = attribute.converter.kind
    if get_origin(kind) is Literal:
        return [*absent, *get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [*absent, *kind]
    if kind is bool:
        return [*absent, False, True]
    return [*absent, *_around(kind, constants)]


def _around(kind: Any, constants: list[Any]) -> list[Any]:
    if not constants:
        return [object()]  # any value: nothing is compared with it
    if kind is str:
        return ["", *constants, *(f"{text}\0" for text in constants)]
    step: Any = {int: 1, datetime: timedelta.resolution, date: timedelta(days=1)}.get(kind)
    if step is not None:
        return [value for each in constants for value in (each - step, each, each + step)]
    if kind in (Decimal, float):
        ordered = sorted(constants)
        between = [(low + high) / 2 for low, high in itertools.pairwise(ordered)]
        return [ordered[0] - 1, *ordered, *between, ordered[-1] + 1]
    return [*constants, object()]
