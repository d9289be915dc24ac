"""Stored types: the type of an attribute as a text without names of Python classes.

    str, int, datetime, UUID        str, int, datetime, UUID
    list[Decimal], set[str]         list[Decimal], set[str]
    tuple[int, ...], Sequence[int]  list[int]                    as they are stored
    a model, a dataclass            {city: str, zip?: str}       by the stored names of its fields
    a field with a default          {count?: int = 0}            unless it is another one each time
    Enum, Literal                   choice['NEW', 'PAID']        by the stored values
    a class that contains itself    {label: str, parts: list[^1]}   ^1: the innermost open structure

Two types with equal texts store equal values in the same way, and read each other's values. A
subclass of str or int, or a NewType, is described as its base; a subclass that makes its instances
itself has the name of its class, because it may refuse texts (KSUID does), and so has a type that
only pydantic knows. Constraints (`Field(ge=1)`), validators and `__post_init__` are not described.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from typing import Any, Literal, NamedTuple, get_args, get_origin

import pydantic
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tablewright.errors import InvalidValue
from tablewright.mapping.converters import converter
from tablewright.mapping.converters.conversion import name_of
from tablewright.mapping.converters.scalars import SCALARS
from tablewright.values import Value

#: Types that are stored like another one.
_ALIKE: dict[Any, Any] = {
    Sequence: list,
    AbstractSet: set,
    frozenset: set,
    Mapping: dict,
    object: Any,
    pydantic.JsonValue: Any,
    pydantic.AwareDatetime: datetime,
    pydantic.PastDatetime: datetime,
    pydantic.FutureDatetime: datetime,
    pydantic.PastDate: date,
    pydantic.FutureDate: date,
}
#: The types of values of which a constant default returns the same object each time.
_SCALARS = (str, int, float, Decimal, date, time, timedelta)
#: The types of the members of a container that does not say them.
_MEMBERS: dict[Any, str] = {list: "Any", tuple: "Any", set: "Any", dict: "str, Any"}


def stored_type(annotation: Any) -> str:
    """Return the type of stored values as text.

    >>> stored_type(list[int])
    'list[int]'
    """
    return _describe(annotation, ())


def choices_of(
    annotation: Any, encode: Callable[[Any], Value] | None = None
) -> tuple[str, ...] | None:
    """Return the stored values of an Enum or a Literal, as sorted texts; None for other types.

    `encode` is that of a codec.
    """
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        if issubclass(annotation, Flag):
            return None  # it also stores combinations
        options: tuple[Any, ...] = tuple(annotation)
    elif get_origin(annotation) is typing.Literal:
        options = tuple(each for each in get_args(annotation) if each is not None)
    else:
        return None
    encode = encode or converter(annotation, "").encode
    return tuple(sorted(show_stored(encode(option)) for option in options))


def stored_default(
    make: Callable[[], Any], store: Callable[[Any], Value | None]
) -> Value | Literal["computed"] | None:
    """Return the stored form of a default: None if nothing is stored for it.

    One that differs from call to call, or cannot be stored, is "computed".
    """
    value, again = make(), make()
    if value is None:
        return None
    # Two readings of a clock may be equal, but are two objects; so are two empty lists.
    if again != value or (again is not value and isinstance(value, _SCALARS)):
        return "computed"
    try:
        return store(value)
    except InvalidValue:
        return "computed"


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
    if origin is None and annotation in _ALIKE:
        return _describe(_ALIKE[annotation], open_types)
    if type(origin or annotation).__name__ == "TypeAliasType":
        named = origin.__value__[get_args(annotation)] if origin else annotation.__value__
        return _describe(named, (*open_types, annotation))
    choices = choices_of(annotation)
    if choices is not None:
        return f"choice[{', '.join(choices)}]"
    if origin in (typing.Union, types.UnionType):
        return _describe_union(annotation, open_types)
    if origin is not None:
        return _describe_container(origin, get_args(annotation), open_types)
    if annotation in _MEMBERS:
        return f"{'list' if annotation is tuple else name_of(annotation)}[{_MEMBERS[annotation]}]"
    return _describe_class(annotation, open_types)


def _describe_union(annotation: Any, open_types: tuple[Any, ...]) -> str:
    """Return the members of a union; their order matters only where they are stored alike."""
    members = [each for each in get_args(annotation) if each is not types.NoneType]
    if all(converter(each, "").tag for each in members):
        members.sort(key=lambda each: str(converter(each, "").tag))
    texts = dict.fromkeys(_describe(each, open_types) for each in members)
    optional = ["None"] if len(members) < len(get_args(annotation)) else []
    return " | ".join([*texts, *optional])


def _describe_container(origin: Any, members: tuple[Any, ...], open_types: tuple[Any, ...]) -> str:
    kind = _ALIKE.get(origin, origin)
    if kind is tuple and members[1:] == (...,):
        kind, members = list, members[:1]
    inner = ", ".join(_describe(each, open_types) for each in members)
    return f"{name_of(kind)}[{inner}]"


def _describe_class(kind: Any, open_types: tuple[Any, ...]) -> str:
    if not isinstance(kind, type) or kind in SCALARS:
        return name_of(kind)
    if issubclass(kind, Flag):
        return f"flags[{', '.join(str(member.value) for member in kind)}]"
    if issubclass(kind, BaseModel) and kind.__pydantic_root_model__:
        return _describe(kind.model_fields["root"].annotation, open_types)
    fields = _fields(kind)
    if fields is None:
        return name_of(next(filter(None, (_plain_base(kind, each) for each in (str, int))), kind))
    inside = (*open_types, kind)
    return f"{{{', '.join(sorted(_show_field(each, inside) for each in fields))}}}"


def _plain_base(kind: type, base: type) -> type | None:
    """Return the base of a class that takes all its values; None if it may refuse some."""
    if not issubclass(kind, base):
        return None
    made_by = [getattr(kind, name) is getattr(base, name) for name in ("__new__", "__init__")]
    return base if all(made_by) else None


class _Field(NamedTuple):
    """A field of a structure, with its stored name."""

    name: str
    annotation: Any
    is_required: bool
    #: Returns its default; None if it has none.
    default: Callable[[], Any] | None = None


def _show_field(field: _Field, open_types: tuple[Any, ...]) -> str:
    text = f"{field.name}{'' if field.is_required else '?'}"
    text = f"{text}: {_describe(field.annotation, open_types)}"
    if field.default is None:
        return text
    default = stored_default(field.default, converter(field.annotation, "").stored)
    if default is None:
        return text
    return f"{text} = {default if isinstance(default, str) else show_stored(default)}"


def _fields(kind: type) -> Iterator[_Field] | None:
    """Yield the fields of a structure; None for another class."""
    if issubclass(kind, BaseModel):
        return (
            _Field(
                field.alias or name,
                field.annotation,
                field.is_required(),
                None if field.is_required() else _maker(field.default, _factory(field)),
            )
            for name, field in kind.model_fields.items()
        )
    if dataclasses.is_dataclass(kind):
        return _data_class_fields(kind)
    required = getattr(kind, "__required_keys__", None)
    if issubclass(kind, dict) and required is not None:
        return (
            _Field(
                name,
                hint,
                get_origin(hint) is typing.Required
                or (name in required and get_origin(hint) is not typing.NotRequired),
            )
            for name, hint in _hints(kind).items()
        )
    return None


def _data_class_fields(kind: type) -> Iterator[_Field]:
    missing = dataclasses.MISSING
    hints = _hints(kind)
    for field in dataclasses.fields(kind):
        if field.init:
            factory = None if field.default_factory is missing else field.default_factory
            is_required = field.default is missing and factory is None
            default = None if is_required else _maker(field.default, factory)
            yield _Field(field.name, hints[field.name], is_required, default)


def _factory(field: FieldInfo) -> Callable[[], Any] | None:
    """Return the function that makes a default; one that needs other fields makes unequal ones."""
    return object if field.default_factory_takes_validated_data else field.default_factory  # type: ignore[return-value]  # it takes nothing


def _maker(default: Any, factory: Callable[..., Any] | None) -> Callable[[], Any]:
    return (lambda: default) if factory is None else factory


def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, localns={kind.__name__: kind}, include_extras=True)
