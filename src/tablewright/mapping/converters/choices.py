"""Choices of values (Enum, Literal) and of types (unions)."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Sequence
from enum import Enum
from typing import Any, get_args

from tablewright.errors import InvalidValue, TablewrightError, UnreadableItem
from tablewright.mapping.converters.conversion import Build, Converter, only, optional, through
from tablewright.mapping.converters.dynamic import anything
from tablewright.mapping.converters.messages import refused, unreadable, unsuitable
from tablewright.mapping.converters.scalars import SCALARS
from tablewright.mapping.converters.times import TIMES
from tablewright.values import Value, tag_of


def enum(kind: type[Enum], where: str) -> Converter:
    inner = (SCALARS | TIMES).get(only(type(member.value) for member in kind), anything)(where)
    values = ", ".join(repr(member.value) for member in kind)
    made = through(inner, kind, operator.attrgetter("value"), kind, f"its values are {values}")
    for member in kind:
        try:
            if made.decode(made.encode(member)) is member:
                continue
        except TablewrightError:
            pass
        why = f"{member} does not come back from its value {member.value!r}: use strings or ints"
        raise unsuitable(where, kind, why)
    return made


def literal(annotation: Any, where: str) -> Converter:
    options = get_args(annotation)
    inner = anything(where)
    stored = {
        (type(option), option): inner.encode(option.value if isinstance(option, Enum) else option)
        for option in options
        if option is not None
    }
    # A value is a dict of one entry, (tag, content); the option is found by that.
    back = {entry: option for (_, option), value in stored.items() for entry in value.items()}

    def encode(value: Any) -> Value:
        try:
            return dict(stored[type(value), value])
        except (KeyError, TypeError):
            raise refused(where, value, annotation) from None

    def decode(value: Value) -> Any:
        try:
            (entry,) = value.items()
            return back[entry]
        except (KeyError, TypeError):
            raise unreadable(where, value, annotation) from None

    made = Converter(where, annotation, only(tag for tag, _ in back), encode, decode)
    return optional(made) if None in options else made


def union(annotation: Any, where: str, build: Build) -> Converter:
    args = get_args(annotation)
    members = [build(arg, where) for arg in args if arg is not types.NoneType]
    made = members[0] if len(members) == 1 else _either(members, where)
    return optional(made) if types.NoneType in args else made


def _either(members: Sequence[Converter], where: str) -> Converter:
    by_class = {member.kind: member for member in members if isinstance(member.kind, type)}
    kind = functools.reduce(operator.or_, (member.kind for member in members))

    def encode(value: Any) -> Value:
        exact = by_class.get(type(value))
        if exact is not None:
            return exact.encode(value)
        for member in members:
            try:
                return member.encode(value)
            except InvalidValue:
                continue
        raise refused(where, value, kind)

    def decode(value: Value) -> Any:
        # Of two models, one may read the other's items and ignore some of their fields; so one
        # that accounts for all that is stored goes before the first that can read it.
        read = []
        tag = tag_of(value)
        for member in members:
            if member.tag in (tag, None):
                try:
                    read.append(member.decode(value))
                    if member.encode(read[-1]) == value:
                        return read[-1]
                except (UnreadableItem, InvalidValue):
                    continue
        if read:
            return read[0]
        raise unreadable(where, value, kind)

    return Converter(where, kind, only(member.tag for member in members), encode, decode)
