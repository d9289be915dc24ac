"""Building converters: each type has one."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any, get_args, get_origin

import pydantic
from pydantic import BaseModel, RootModel

from tablewright.mapping.converters.choices import enum, literal, union
from tablewright.mapping.converters.containers import CONTAINERS
from tablewright.mapping.converters.conversion import Build, Converter, through
from tablewright.mapping.converters.dynamic import anything, through_pydantic
from tablewright.mapping.converters.scalars import SCALARS, integer, text
from tablewright.mapping.converters.structures import data_class, model, root_model, typed_dict
from tablewright.mapping.converters.times import TIMES

_SIMPLE: dict[Any, Callable[[str], Converter]] = {
    **SCALARS,
    **TIMES,
    Any: anything,
    object: anything,
    pydantic.JsonValue: anything,
}


def converter(annotation: Any, where: str) -> Converter:
    """Return the converter of a type; `where`, e.g. "Order.total", begins every message.

    >>> converter(list[int], "Order.counts").encode([1, 2])
    {'L': [{'N': '1'}, {'N': '2'}]}
    >>> converter(set[bool], "Order.flags")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tablewright.errors.DeclarationError: Order.flags: set[bool] cannot be stored; ...
    """
    return _make(annotation, where, Build(_make, {}))


def _make(annotation: Any, where: str, build: Build) -> Converter:
    origin = get_origin(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return build(get_args(annotation)[0], where)
    if isinstance(annotation, typing.NewType):
        return build(annotation.__supertype__, where)
    if origin is None and annotation in _SIMPLE:
        return _SIMPLE[annotation](where)
    if origin in (typing.Union, types.UnionType):
        return union(annotation, where, build)
    if origin is typing.Literal:
        return literal(annotation, where)
    if (origin or annotation) in CONTAINERS:
        return CONTAINERS[origin or annotation](annotation, where, build)
    # By name: typing_extensions has a class of its own, even where typing has one.
    if type(origin or annotation).__name__ == "TypeAliasType":
        return build.outer.get(annotation) or _alias(annotation, where, build)
    if isinstance(annotation, type):
        return build.outer.get(annotation) or _class(annotation, where, build)
    return through_pydantic(annotation, where)


def _alias(annotation: Any, where: str, build: Build) -> Converter:
    """Return the converter of an alias, which may refer to itself: `type Tree = list[Tree]`."""
    later = Converter(
        where, annotation, None, lambda value: made.encode(value), lambda value: made.decode(value)
    )
    origin = get_origin(annotation)
    named = origin.__value__[get_args(annotation)] if origin else annotation.__value__
    made = build.inside(annotation, later)(named, where)
    return made


def _class(kind: type, where: str, build: Build) -> Converter:
    if issubclass(kind, Enum):
        return enum(kind, where)
    if issubclass(kind, str):
        return through(text(where), kind, str.__str__, kind)
    if issubclass(kind, int):
        return through(integer(where), kind, int, kind)
    if issubclass(kind, RootModel):
        return root_model(kind, where, build)
    if issubclass(kind, BaseModel):
        return model(kind, where, build)
    if dataclasses.is_dataclass(kind):
        return data_class(kind, where, build)
    if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):
        return typed_dict(kind, where, build)
    return through_pydantic(kind, where)
