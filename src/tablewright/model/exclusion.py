"""Exclusion: prove that an entity is never in two places of one index at once.

    index(Repos.by_name, "REPO" / name, …, when=parent.not_exists())
    index(Repos.by_name, "REPO" / parent, …)                          # only with a parent

An entity is in a place if all its parts have values and its condition is true. The conditions
compare attributes with constants. So it is enough to try each constant, a value between each two
of them, one below and one above all, and None: if no combination is in both places, no entity is.
`begins_with` is a range from its prefix to the next one. A condition of another kind (`contains`,
`size`, two attributes) may be true or false for any value, and is false for a missing one: so it
excludes its own negation, and the absence of its attribute.

Places of different indexes may share a key attribute if they compose it in the same way.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from tablewright.errors import DeclarationError
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Template
from tablewright.model.declaration import EntityDeclaration
from tablewright.plan.condition import (
    All,
    Compare,
    CompareAttributes,
    Condition,
    Either,
    IsNull,
    Negation,
    Predicate,
    leaves_of,
)

#: The functions whose result depends only on how a value compares with constants.
DECIDABLE = frozenset({"attribute_exists", "attribute_not_exists", "begins_with", "BETWEEN", "IN"})
MAX_COMBINATIONS = 10_000


def exclude_each_other(one: KeyMap, other: KeyMap, attributes: Mapping[str, AttributeMap]) -> bool:
    """Return whether an entity is provably never in both places."""
    conditions = [key.when for key in (one, other) if isinstance(key.when, Condition)]
    leaves = [leaf for condition in conditions for leaf in leaves_of(condition)]
    decided = [leaf for leaf in leaves if _is_decidable(leaf)]
    opaque = sorted({repr(leaf) for leaf in leaves if leaf not in decided})
    names = sorted(one.depends_on | other.depends_on)
    samples = [_samples(attributes[name], _constants(decided, name)) for name in names]
    if math.prod(map(len, samples)) << len(opaque) > MAX_COMBINATIONS:
        return False
    truths = itertools.product((False, True), repeat=len(opaque))
    for combination, chosen in itertools.product(itertools.product(*samples), truths):
        values = dict(zip(names, combination, strict=True))
        opaque_truths = dict(zip(opaque, chosen, strict=True))
        try:
            if _holds(one, values, opaque_truths) and _holds(other, values, opaque_truths):
                return False
        except TypeError:  # values that cannot be compared
            return False
    return True


def _holds(key: KeyMap, values: Mapping[str, Any], truths: Mapping[str, bool]) -> bool:
    parts = [part for template in key.templates.values() for part in template.parts]
    return all(values[part.attribute] is not None or part.can_be_absent for part in parts) and (
        not isinstance(key.when, Condition) or _is_true(key.when, values, truths)
    )


def _is_true(
    condition: Condition[Any], values: Mapping[str, Any], truths: Mapping[str, bool]
) -> bool:
    """Return whether a condition is true; `truths` has the assumed results of undecidable ones."""
    if isinstance(condition, All):
        found = (_is_true(each, values, truths) for each in condition.conditions)
        return any(found) if isinstance(condition, Either) else all(found)
    if isinstance(condition, Negation):
        return not _is_true(condition.condition, values, truths)
    if _is_decidable(condition):
        return condition.holds(values)
    if any(values[name] is None for name in condition.attributes):
        return isinstance(condition, CompareAttributes) and condition.comparator == "<>"
    return truths[repr(condition)]


def _is_decidable(leaf: Condition[Any]) -> bool:
    if isinstance(leaf, Predicate):
        return leaf.function in DECIDABLE
    return isinstance(leaf, (Compare, IsNull))


def _constants(leaves: Iterable[Condition[Any]], name: str) -> list[Any]:
    """Return the values that conditions compare an attribute with."""
    found: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, Compare) and leaf.operand.name == name:
            found.append(leaf.value)
        elif isinstance(leaf, Predicate) and leaf.operand.name == name:
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
        return ["", *constants, *(f"{text}\0" for text in constants), *map(_next, constants)]
    step: Any = {int: 1, datetime: timedelta.resolution, date: timedelta(days=1)}.get(kind)
    if step is not None:
        return [value for each in constants for value in (each - step, each, each + step)]
    if kind in (Decimal, float):
        ordered = sorted(constants)
        between = [(low + high) / 2 for low, high in itertools.pairwise(ordered)]
        return [ordered[0] - 1, *ordered, *between, ordered[-1] + 1]
    return [*constants, object()]


def _next(prefix: str) -> str:
    """Return the first text after all texts with a prefix; if there is none, one with it."""
    last = ord(prefix[-1]) if prefix else sys.maxunicode
    return prefix[:-1] + chr(last + 1) if last < sys.maxunicode else prefix + chr(last)


# -- the attributes that places share --------------------------------------------------------------


def refuse_shared_attributes(
    declared: EntityDeclaration, primary: KeyMap, indexes: tuple[KeyMap, ...]
) -> None:
    """Raise DeclarationError for two places that write different values to one attribute."""
    for position, key in enumerate(indexes):
        for other in indexes[:position]:
            shared = [name for name in key.composed if name in other.composed]
            if not shared:
                continue
            if key.index != other.index:
                for name in shared:
                    _check_same_template(name, key, other)
                _check_own_attribute(key, other)
                _check_own_attribute(other, key)
                continue
            if not exclude_each_other(key, other, declared.maps):
                raise DeclarationError(
                    f"{key.name} and {other.name} can both apply to one item, which has one place "
                    "in an index; give them conditions that exclude each other: when=…"
                )
            _check_distinguishable(declared, primary, key, other)


def _check_same_template(name: str, key: KeyMap, other: KeyMap) -> None:
    """Raise DeclarationError if two indexes compose one attribute in different ways."""
    one, two = key.templates[name], other.templates[name]
    if _identity(one) != _identity(two):
        raise DeclarationError(
            f"{key.name}: {name!r} is {one.show()} here and {two.show()} in {other.name}, and an "
            "item has it once; write the same path, or use another attribute for one of the indexes"
        )


def _identity(template: Template) -> tuple[Any, ...]:
    """Return a value that is equal for templates that always compose the same text."""
    codecs = [part.notation.codec for part in template.parts]
    states = [(type(each), getattr(each, "__dict__", each)) for each in codecs]
    return template.show(), template.delimiter, template.tag, states


def _check_own_attribute(key: KeyMap, other: KeyMap) -> None:
    """Raise DeclarationError if another index writes a key even if its `when=` is false."""
    if key.when is None or set(key.composed) - set(other.composed):
        return
    if repr(key.when) != repr(other.when):
        raise DeclarationError(
            f"{key.name}: all its key attributes are also those of {other.name}, so when= cannot "
            "keep the item out of the index; write the same when= there, or use another attribute"
        )


def _check_distinguishable(
    declared: EntityDeclaration, primary: KeyMap, key: KeyMap, other: KeyMap
) -> None:
    """Raise DeclarationError if an item's key does not show which of two places it is in.

    A query of one place must leave out the items of the other, and a value that only one place
    contains must be parsed from the right key.
    """
    index = key.index
    assert index is not None
    if not key.can_equal(key.attributes, other.templates):
        return
    for name in sorted((key.depends_on ^ other.depends_on) - primary.depends_on):
        if declared.maps[name].is_key_only:
            raise DeclarationError(
                f"{key.name} and {other.name} can have the same key in {index.name}, so it does "
                f"not say whether it contains {name!r}, which is key_only; begin each sort key "
                "with its own literal, or store the attribute"
            )
    if index.projection == "ALL":
        return
    held = {*declared.table.attributes, *index.attributes}.union(
        () if index.projection == "KEYS_ONLY" else index.projection
    )
    in_key = {part.attribute for part in primary.parameters if part.notation.derive is None}
    needed = [declared.maps[name] for name in sorted(key.depends_on | other.depends_on)]
    missing = [
        each.stored
        for each in needed
        if each.stored not in held and each.name not in in_key and not each.is_key_only
    ]
    if missing:
        raise DeclarationError(
            f"{key.name} and {other.name} can have the same key in {index.name}, which does not "
            f"contain {', '.join(missing)}, so a query cannot tell them apart; add it to the "
            "projection of the index, or begin each sort key with its own literal"
        )
