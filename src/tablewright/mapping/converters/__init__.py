"""Converters between Python values and the values that DynamoDB stores.

    str, UUID, KSUID, date, time          S      Decimal, int, float, timedelta        N
    datetime, in UTC and of fixed width   S      bytes                                 B
    Enum, Literal                         as their values                              bool  BOOL
    list, tuple, Sequence                 L      dict, Mapping, models, TypedDict      M
    set, frozenset                        SS, NS or BS, as their members
    Any                                   as the value at hand
    what only pydantic knows (HttpUrl)    as its JSON

Invariants:

- `decode(encode(value)) == value`. A value that would not be read back equal is refused: nothing is
  rounded, truncated or guessed. There are two exceptions: `Any` reads every fraction as a Decimal,
  and a union reads a value as its first matching member, so `str` should be the last.
- `encode` accepts only the declared type, else it raises InvalidValue; "5" is not an int.
- `decode` accepts the output of `encode` and other spellings of it, else it raises UnreadableItem.
- `converter` raises DeclarationError for a type that cannot be stored.

`converter` decides everything about a type; the functions it returns only convert. The package must
not know entities, keys or tables. Each module imports only those before it:

    conversion     what a converter is, how most of them are made, and their messages
    scalars        texts, numbers, bools, binaries and times
    containers     lists, sets and dicts; models, dataclasses and typed dicts
    dynamic        types whose values are stored in several ways: Any, unions, Literal, Enum
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Generator, Iterable, Iterator
from enum import Enum
from typing import Any, get_args, get_origin

import pydantic
from pydantic import BaseModel

from tablewright.mapping.converters.containers import (
    CONTAINERS,
    data_class,
    model,
    root_model,
    typed_dict,
)
from tablewright.mapping.converters.conversion import (
    Build,
    Converter,
    name_of,
    through,
    unsuitable,
)
from tablewright.mapping.converters.dynamic import anything, enum, literal, through_pydantic, union
from tablewright.mapping.converters.scalars import SCALARS, integer, text

__all__ = ["Converter", "converter"]

_SIMPLE: dict[Any, Callable[[str], Converter]] = {
    **SCALARS,
    Any: anything,
    object: anything,
    pydantic.JsonValue: anything,
}

_SECRET = "it hides its value, also from what is stored: use str, or declare a codec"
_CODE = "it is code, and not a value: store a name for it"
_ONCE = "it can be read only once: use a list"


def _of_text(added: Any) -> str:
    return (
        f"{name_of(added)} converts each text to another value, which would not be valid when it "
        "is read: use the type that is read, and a codec for the stored form, as "
        "attr(codec=json_text())"
    )


#: Types whose values do not come back from what pydantic makes of them, with what to do.
_REFUSED: dict[Any, str] = {
    pydantic.Json: _of_text(pydantic.Json),
    pydantic.SecretStr: _SECRET,
    pydantic.SecretBytes: _SECRET,
    pydantic.Secret: _SECRET,
    Callable: _CODE,
    type: _CODE,
    Iterable: _ONCE,
    Iterator: _ONCE,
    Generator: _ONCE,
}
_ENCODED: tuple[Any, ...] = (pydantic.Json, pydantic.EncodedBytes, pydantic.EncodedStr)


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
        kind, *added = get_args(annotation)
        for each in added:
            if isinstance(each, (pydantic.PlainSerializer, pydantic.WrapSerializer)):
                raise unsuitable(
                    where,
                    kind,
                    f"{type(each).__name__} would change its JSON, and not what is stored: write "
                    "attr(codec=…) for the stored form, or @field_serializer for the JSON",
                )
            if isinstance(each, _ENCODED):
                raise unsuitable(where, kind, _of_text(type(each)))
        return build(kind, where)
    if (origin or annotation) in _REFUSED:
        raise unsuitable(where, annotation, _REFUSED[origin or annotation])
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
    if issubclass(kind, BaseModel):
        # Not `issubclass(kind, RootModel)`, which takes 15 ms to import.
        make = root_model if kind.__pydantic_root_model__ else model
        return make(kind, where, build)
    if dataclasses.is_dataclass(kind):
        return data_class(kind, where, build)
    if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):
        return typed_dict(kind, where, build)
    return through_pydantic(kind, where)
