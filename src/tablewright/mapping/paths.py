"""Paths into documents: which member a function reads, and its type.

    Menu.sections.path(lambda sections: sections["soups"].name)

The function runs once on a recorder, and the attributes and members that it reads are the path.
The stored names and the types follow from the annotations of the document's class.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.hints import did_you_mean
from tablewright.mapping.converters import converter
from tablewright.mapping.notation import Format, Notation, no_notation, notation_of
from tablewright.mapping.pydantic_bridge import unannotated
from tablewright.symbol import Symbol

#: An attribute of an object, or a member of a mapping or a list.
Step: TypeAlias = tuple[Literal["attribute", "member"], Any]


class _Recorder:
    """Records the attributes and members that code reads from it."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        object.__setattr__(self, "_steps", steps)

    def __getattr__(self, name: str) -> _Recorder:
        return _Recorder((*object.__getattribute__(self, "_steps"), ("attribute", name)))

    def __getitem__(self, key: Any) -> _Recorder:
        return _Recorder((*object.__getattribute__(self, "_steps"), ("member", key)))


def recorded_steps(place: Callable[[Any], Any], where: str) -> tuple[Step, ...]:
    """Return the steps of a function from a document to one of its members."""
    recorded = place(_Recorder(()))
    if not isinstance(recorded, _Recorder):
        raise DeclarationError(
            f"{where}.path(…) takes a function that returns a path inside it, such as "
            'lambda sections: sections["soups"].name'
        )
    steps: tuple[Step, ...] = object.__getattribute__(recorded, "_steps")
    return steps


def show_step(step: Step) -> str:
    how, key = step
    return f"[{key!r}]" if how == "member" else f".{key}"


def path_format(place: Callable[[Any], Any], where: str) -> Format:
    """Return the format that writes one member of a document."""
    steps = recorded_steps(place, where)

    def apply(document: Notation) -> Notation:
        kind = document.kind
        reached = ""
        can_be_none = False
        for step in steps:
            _, kind, _ = step_into(kind, step, f"it{reached}")
            reached += show_step(step)
            can_be_none = can_be_none or without_none(kind) != unannotated(kind)
        notation = notation_of(without_none(kind), None)
        if notation is None:
            raise no_notation(kind)
        return replace(
            notation,
            derive=lambda value: _value_at(value, steps),
            is_optional=can_be_none or any(how == "member" for how, _ in steps),
            can_be_none=can_be_none,
        )

    def stored(document: Notation) -> str:
        """Return the path in stored names."""
        kind, reached = document.kind, "{}"
        for step in steps:
            name, kind, _ = step_into(kind, step, "it")
            reached += f"[{name}]" if isinstance(name, int) else f".{name}"
        return reached

    return Format("{}" + "".join(map(show_step, steps)), apply, place=stored)


def _value_at(value: Any, steps: tuple[Step, ...]) -> Any:
    """Return the value at a path; None if it or a document around it is missing."""
    for how, key in steps:
        if how == "attribute":
            value = getattr(value, key, None)
        else:
            try:
                value = value[key]
            except (LookupError, TypeError):
                return None
    return value


cached_converter = lru_cache(maxsize=1024)(converter)


def step_into(kind: Any, step: tuple[str, Any], where: str) -> tuple[str | int, Any, bool]:
    """Return the stored name and the type of a member, and whether it can be removed."""
    how, key = step
    kind = without_none(kind)
    if how == "member":
        origin, arguments = get_origin(kind) or kind, get_args(kind)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            text = Symbol.text(key) if isinstance(key, Symbol) else _key_text(key, arguments, where)
            return text, arguments[1] if arguments else Any, True
        if isinstance(key, int):
            if key < 0:
                raise DeclarationError(
                    f"{where}[{key}]: DynamoDB counts the members of a list from 0"
                )
            return key, arguments[0] if arguments else Any, True
        raise DeclarationError(f"{where} is {kind}, which has no member {key!r}")
    fields = fields_of(kind)
    if key not in fields:
        raise DeclarationError(f"{where} has no field {key!r}{did_you_mean(key, fields)}")
    return fields[key]


def without_none(kind: Any) -> Any:
    kind = unannotated(kind)
    arguments = [unannotated(argument) for argument in get_args(kind) if argument is not type(None)]
    return arguments[0] if len(arguments) == 1 and type(None) in get_args(kind) else kind


def _key_text(key: Any, arguments: tuple[Any, ...], where: str) -> str:
    """Return the stored text of a key of a map."""
    stored = cached_converter(arguments[0] if arguments else str, where).encode(key)
    text = str(next(iter(stored.values())))
    if not text:
        raise InvalidValue(f"{where}['']: DynamoDB takes no empty name in a path; name a member")
    return text


def fields_of(kind: Any) -> dict[str, tuple[str, Any, bool]]:
    """Return the fields of a nested model: stored names, types, and whether they have defaults.

    Any other type has none.
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {
            name: (field.alias or name, field.annotation, not field.is_required())
            for name, field in kind.model_fields.items()
        }
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            field.name: (
                field.name,
                hints[field.name],
                field.default is not MISSING or field.default_factory is not MISSING,
            )
            for field in dataclasses.fields(kind)
        }
    return {}
