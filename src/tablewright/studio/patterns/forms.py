"""Forms: the parameters of a pattern as fields with a type.

    fields_of(pattern)      ──▶ Field("customer_id", text), Field("status", choice), …

An entity, a model or a dataclass is a group of fields: `order.status`. A list is a text with a
line, or a JSON value, for each member; a dict is JSON. `form_values` makes texts of values, and
values of texts. This module must not know markup.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pydantic
from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.variants import VariantsMap
from tablewright.model.pattern import AccessPattern

Widget: TypeAlias = Literal[
    "text", "integer", "decimal", "choice", "check", "date", "moment", "time", "lines", "json",
    "group",
]  # fmt: skip


#: How deep groups are nested; what is below is JSON, so a type may contain itself.
DEPTH = 3


class Field(Struct, frozen=True, eq=False):
    """One input of a form, or a group of them."""

    #: The path of the value: `order.status`.
    name: str
    label: str
    #: The type, without None.
    hint: Any
    widget: Widget
    #: Whether it may be None.
    is_optional: bool = False
    #: Returns the value that it has if nothing is given; None if something must be given.
    default: Callable[[], Any] | None = None
    choices: tuple[tuple[str, Any], ...] = ()
    fields: tuple[Field, ...] = ()
    #: Whether the library sets it, if nothing is given.
    is_stamp: bool = False

    @property
    def type_name(self) -> str:
        """The type as a person reads it."""
        name = _type_name(self.hint)
        return f"{name} | None" if self.is_optional else name


# --- fields -------------------------------------------------------------------------------------


def fields_of(pattern: AccessPattern) -> tuple[Field, ...]:
    """Return the fields of the parameters of a pattern."""
    found = []
    for name, parameter in inspect.signature(pattern.function).parameters.items():
        if name not in pattern.types:
            continue
        hint, default = pattern.types[name], parameter.default
        if parameter.kind is parameter.VAR_POSITIONAL:
            found.append(field(name, list[hint], list))  # type: ignore[valid-type]
        else:
            is_required = default is inspect.Parameter.empty
            found.append(field(name, hint, None if is_required else partial(_same, default)))
    return tuple(found)


def _same(value: Any) -> Any:
    return value


def call(pattern: AccessPattern, values: dict[str, Any]) -> Any:
    """Return the plan of a pattern for these arguments; those that are left out have defaults."""
    bound = inspect.signature(pattern.function).bind_partial()
    bound.arguments.update(values)
    bound.apply_defaults()
    return pattern.function(*bound.args, **bound.kwargs)


def field(
    name: str, hint: Any, default: Callable[[], Any] | None = None, *, is_stamp: bool = False
) -> Field:
    """Return the field for a value of a type."""
    kind, is_optional = _without_none(hint)
    widget, choices, fields = _widget(name, kind)
    return Field(
        name=name,
        label=name.rpartition(".")[2],
        hint=kind,
        widget=widget,
        is_optional=is_optional,
        default=default,
        choices=choices,
        fields=fields,
        is_stamp=is_stamp,
    )


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None was part of it."""
    if hint is inspect.Parameter.empty:
        return Any, False
    if isinstance(hint, TypeVar):
        hint = hint.__bound__ or str
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(kinds) < len(get_args(hint)):
            return (kinds[0] if len(kinds) == 1 else Union[tuple(kinds)]), True  # noqa: UP007
    return hint, False


def _plain(kind: Any) -> Any:
    """Return a type without its constraints and other names."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif hasattr(kind, "__supertype__"):  # a NewType
            kind = kind.__supertype__
        else:
            return kind


def _widget(name: str, kind: Any) -> tuple[Widget, tuple[tuple[str, Any], ...], tuple[Field, ...]]:
    plain = _plain(kind)
    if get_origin(plain) is Literal:
        return "choice", tuple((str(value), value) for value in get_args(plain)), ()
    if get_origin(plain) is not None:
        members = [_plain(each) for each in get_args(plain) if each is not Ellipsis]
        is_list = len(members) == 1 and plain_widget(members[0]) not in ("json", "group")
        return ("lines" if is_list and get_origin(plain) is not dict else "json"), (), ()
    if isinstance(plain, type):
        if issubclass(plain, Enum):
            return "choice", tuple((member.name, member) for member in plain), ()
        members = _members(name, plain) if name.count(".") < DEPTH else []
        if members:
            return "group", (), tuple(members)
    widget = plain_widget(plain)
    return ("json" if widget == "group" else widget), (), ()


def plain_widget(kind: Any) -> Widget:
    """Return the widget of a type that is not made of others."""
    widgets: dict[Any, Widget] = {
        bool: "check",
        int: "integer",
        float: "decimal",
        Decimal: "decimal",
        datetime: "moment",
        pydantic.AwareDatetime: "moment",
        date: "date",
        time: "time",
    }
    if kind in widgets:
        return widgets[kind]
    if not isinstance(kind, type) or kind in (dict, list, tuple, set, frozenset):
        return "json"
    return "group" if _is_composed(kind) else "text"


def _is_composed(kind: type) -> bool:
    return (
        isinstance(getattr(kind, "__entity__", None), EntityMap)
        or issubclass(kind, pydantic.BaseModel)
        or dataclasses.is_dataclass(kind)
    )


def _members(name: str, kind: type) -> list[Field]:
    """Return the fields of an entity, a model or a dataclass; none for another type."""
    entity, stamps = getattr(kind, "__entity__", None), set[str]()
    if isinstance(entity, EntityMap):
        if isinstance(entity, VariantsMap):
            return []  # a base of variants is given as JSON
        stamps = {stamp.name for stamp in entity.stamps}
        kind = kind.__model__  # type: ignore[attr-defined]
    if issubclass(kind, pydantic.BaseModel):
        return [
            field(f"{name}.{member}", info.annotation, _default(info), is_stamp=member in stamps)
            for member, info in kind.model_fields.items()
        ]
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return [
            field(f"{name}.{each.name}", hints[each.name], _dataclass_default(each))
            for each in dataclasses.fields(kind)
        ]
    return []


def _default(info: pydantic.fields.FieldInfo) -> Callable[[], Any] | None:
    if info.is_required():
        return None
    return lambda: info.get_default(call_default_factory=True, validated_data={})


def _dataclass_default(each: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if each.default_factory is not dataclasses.MISSING:
        return each.default_factory
    return None if each.default is dataclasses.MISSING else lambda: each.default


def _type_name(kind: Any) -> str:
    plain = _plain(kind)
    if plain is pydantic.AwareDatetime:
        return "datetime"
    if get_origin(plain) is None:
        return getattr(plain, "__name__", str(plain))
    inner = ", ".join(
        repr(each) if get_origin(plain) is Literal else _type_name(each) for each in get_args(plain)
    )
    name = getattr(get_origin(plain), "__name__", str(get_origin(plain)))
    return f"{name}[{inner}]"
