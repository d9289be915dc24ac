"""Offers: values of the sample data that the fields of a pattern may have.

A field that has the name of an attribute is offered the values of that attribute. The form of a
pattern begins with the values of one sample entity, so that they belong together. This module must
not know markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, get_args

from tablewright.model.pattern import AccessPattern
from tablewright.studio.patterns.form_values import texts
from tablewright.studio.patterns.forms import Field, fields_of
from tablewright.verify import Design

#: How many values of an attribute are offered.
OFFERED = 20
#: The number of results that a pattern is asked for, where it takes one.
RESULTS = 10
_COUNTS = frozenset({"limit", "count", "size", "page_size", "number"})


def _sample(design: Design) -> tuple[Any, ...]:
    return () if design.sample is None else _made(design.sample)


@cache
def _made(sample: Callable[[], list[Any]]) -> tuple[Any, ...]:
    return tuple(sample())


def offers(design: Design, pattern: AccessPattern) -> dict[str, list[str]]:
    """Return the values that each field of a pattern may have, by the field's name."""
    found: dict[str, list[str]] = {}
    for field in _leaves(fields_of(pattern)):
        values = dict.fromkeys(
            text
            for entity in _sample(design)
            for value in [vars(entity).get(field.label)]
            if isinstance(value, (str, int)) and not isinstance(value, bool)
            for text in [str(value)]
        )
        if values:
            found[field.name] = list(values)[:OFFERED]
    return found


def first_values(design: Design, pattern: AccessPattern) -> list[tuple[str, str]]:
    """Return the texts that the form of a pattern begins with."""
    chosen = _chosen(design, pattern)
    return [pair for field in fields_of(pattern) for pair in _first(field, design, chosen)]


def _chosen(design: Design, pattern: AccessPattern) -> Any:
    """Return one sample entity that the pattern is about; None if there is none."""
    kinds = [entity.type for entity in pattern.entities]
    found = (each for kind in kinds for each in _sample(design) if type(each) is kind)
    return next(found, None)


def _first(field: Field, design: Design, chosen: Any) -> list[tuple[str, str]]:
    if field.widget == "group":
        return _of_group(field, design)
    if field.default is not None:
        return texts(field, field.default())
    if field.is_optional:
        return texts(field, None)
    if field.widget == "check":
        return []
    value = getattr(chosen, field.label, None)
    if value is None:
        value = _any_value(field.label, design)
    if value is None and field.label == "expected_version":
        value = 1  # that of an item that was written once
    if value is None and field.widget == "integer" and field.label in _COUNTS:
        value = RESULTS
    if value is None and field.widget == "json":
        value = _members(field, design, chosen)
    if value is None and field.widget == "choice":
        value = field.choices[0][1]
    return [] if value is None else _fitting(field, value)


def _of_group(field: Field, design: Design) -> list[tuple[str, str]]:
    """Return the values of a sample entity, with a new id if ids are made by default."""
    sample = next((each for each in _sample(design) if type(each) is field.hint), None)
    pairs: list[tuple[str, str]] = []
    for member in field.fields:
        if member.is_stamp:
            continue
        made = None if member.default is None else member.default()
        is_new = member.default is not None and member.default() != made
        if sample is not None and not is_new:
            pairs += _fitting(member, vars(sample)[member.label])
        elif member.default is not None:
            pairs += _fitting(member, made)
    return pairs


def _members(field: Field, design: Design, chosen: Any) -> list[Any] | None:
    """Return the sample entities of a list that belong to the chosen one; or the first one."""
    kinds = get_args(field.hint)
    found = [each for each in _sample(design) if kinds and type(each) is kinds[0]]
    if not found:
        return None
    parents = [part.attribute for part in type(found[0]).__entity__.primary.parameters][:-1]
    wanted = {name: _of_parent(chosen, name) for name in parents}
    return [
        each
        for each in found
        if all(value in (None, getattr(each, name)) for name, value in wanted.items())
    ] or found[:1]


def _of_parent(chosen: Any, name: str) -> Any:
    """Return what a child has as this attribute: the same of its parent, or the parent's id."""
    if name == type(chosen).__name__.lower():
        parts = type(chosen).__entity__.primary.parameters
        return getattr(chosen, parts[-1].attribute, None) if parts else None
    return getattr(chosen, name, None)


def _fitting(field: Field, value: Any) -> list[tuple[str, str]]:
    """Return the texts of a value; none if it is not of the type of the field."""
    try:
        return texts(field, value)
    except Exception:  # a value of another entity's attribute with the same name
        return []


def _any_value(name: str, design: Design) -> Any:
    values = (vars(entity).get(name) for entity in _sample(design))
    return next((value for value in values if value is not None), None)


def _leaves(fields: tuple[Field, ...]) -> Iterator[Field]:
    for field in fields:
        if field.widget == "group":
            yield from _leaves(field.fields)
        else:
            yield field
