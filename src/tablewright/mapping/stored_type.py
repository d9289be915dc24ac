"""Stored types: the type of an attribute as a text without names of Python classes.

    str, int, datetime, UUID        str, int, datetime, UUID
    list[Decimal], set[str]         list[Decimal], set[str]
    a model, a dataclass            {city: str, zip?: str}       by the stored names of its fields
    Enum, Literal                   choice['NEW', 'PAID']        by the stored values
    a class that contains itself    {label: str, parts: list[^1]}   ^1: the innermost open structure

Two types with equal texts store equal values in the same way. A subclass of str or int, or a
NewType, is described as its base. A type that only pydantic knows has the name of its class.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_origin

from pydantic import BaseModel, RootModel

from tablewright.mapping.converters import converter
from tablewright.mapping.converters.conversion import name_of
from tablewright.mapping.converters.scalars import SCALARS
from tablewright.values import Value


def stored_type(annotation: Any) -> str:
    """Return the type of stored values as text.

    >>> stored_type(list[int])
    'list[int]'
    """
    return _describe(annotation, ())


def choices_of(annotation: Any) -> tuple[str, ...] | None:
    """Return the stored values of an Enum or a Literal, as sorted texts; None for other types."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        options: tuple[Any, ...] = tuple(annotation)
    elif get_origin(annotation) is typing.Literal:
        options = tuple(each for each in get_args(annotation) if each is not None)
    else:
        return None
    encode = converter(annotation, "").encode
    return tuple(sorted(show_stored(encode(option)) for option in options))


def show_stored(value: Value) -> str:
    """Return a stored value as text: a number as it is, a text in quotes."""
    ((tag, content),) = value.items()
    if tag == "N":
        return str(content)
    return repr(content if tag in ("S", "BOOL") else {tag: content})


def _describe(annotation: Any, open_types: tuple[Any, ...]) -> str:
    origin = get_origin(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return _describe(get_args(annotation)[0], open_types)
    if isinstance(annotation, typing.NewType):
        return _describe(annotation.__supertype__, open_types)
    if annotation in open_types:
        return f"^{len(open_types) - open_types.index(annotation)}"
    if type(origin or annotation).__name__ == "TypeAliasType":
        named = origin.__value__[get_args(annotation)] if origin else annotation.__value__
        return _describe(named, (*open_types, annotation))
    choices = choices_of(annotation)
    if choices is not None:
        return f"choice[{', '.join(choices)}]"
    if origin in (typing.Union, types.UnionType):
        members = [each for each in get_args(annotation) if each is not types.NoneType]
        texts = sorted({_describe(each, open_types) for each in members})
        optional = ["None"] if len(members) < len(get_args(annotation)) else []
        return " | ".join(texts + optional)
    if origin is not None:
        inner = ", ".join(
            "..." if each is Ellipsis else _describe(each, open_types)
            for each in get_args(annotation)
        )
        return f"{name_of(origin)}[{inner}]"
    return _describe_class(annotation, open_types)


def _describe_class(kind: Any, open_types: tuple[Any, ...]) -> str:
    if not isinstance(kind, type) or kind in SCALARS:
        return name_of(kind)
    if issubclass(kind, RootModel):
        return _describe(kind.model_fields["root"].annotation, open_types)
    fields = _fields(kind)
    if fields is None:
        base = next((each for each in (str, int) if issubclass(kind, each)), kind)
        return name_of(base)
    inside = (*open_types, kind)
    members = sorted(
        f"{name}{'' if is_required else '?'}: {_describe(annotation, inside)}"
        for name, annotation, is_required in fields
    )
    return f"{{{', '.join(members)}}}"


def _fields(kind: type) -> Iterator[tuple[str, Any, bool]] | None:
    """Yield the stored names and types of the fields of a structure, and whether it needs them."""
    if issubclass(kind, BaseModel):
        return (
            (field.alias or name, field.annotation, field.is_required())
            for name, field in kind.model_fields.items()
        )
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns={kind.__name__: kind}, include_extras=True)
        return (
            (
                field.name,
                hints[field.name],
                field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING,
            )
            for field in dataclasses.fields(kind)
            if field.init
        )
    required = getattr(kind, "__required_keys__", None)
    if issubclass(kind, dict) and required is not None:
        hints = typing.get_type_hints(kind, localns={kind.__name__: kind}, include_extras=True)
        return (
            (name, hint, name in required and get_origin(hint) is not typing.NotRequired)
            for name, hint in hints.items()
        )
    return None
