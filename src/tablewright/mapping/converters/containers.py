"""Values with parts: lists, tuples, sets, dicts, models, dataclasses and typed dicts."""

from __future__ import annotations

import dataclasses
import operator
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, get_args, get_origin

import pydantic
from pydantic import BaseModel
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

from tablewright.errors import InvalidValue
from tablewright.mapping.converters.conversion import (
    Build,
    Converter,
    incomplete,
    name_of,
    refused,
    stored_as,
    through,
    unsuitable,
)
from tablewright.values import SET_MEMBER, Value, sorted_members

#: The tag of a set, by that of its members.
SETS = {member: tag for tag, member in SET_MEMBER.items()}


def set_of(member_tag: str, contents: AbstractSet[str]) -> Value:
    tag = SETS[member_tag]
    return {tag: sorted_members(tag, contents)}


def _sequence(annotation: Any, where: str, build: Build) -> Converter:
    shape, args = get_origin(annotation) or annotation, get_args(annotation)
    if shape is tuple and args[1:] != (...,) and annotation is not tuple:
        return _fixed_tuple(annotation, where, build)
    member = build(args[0] if args else Any, f"{where}[]")
    accepted = list | tuple if shape is Sequence else shape
    make = tuple if shape is tuple else list

    def encode(value: Any) -> Value:
        if isinstance(value, accepted):
            return {"L": [member.encode(each) for each in value]}
        raise refused(where, value, annotation)

    def read(content: list[Value]) -> Any:
        return make([member.decode(each) for each in content])

    return stored_as("L", where, annotation, encode, read)


def _fixed_tuple(annotation: Any, where: str, build: Build) -> Converter:
    members = [build(arg, f"{where}[{n}]") for n, arg in enumerate(get_args(annotation))]

    def encode(value: Any) -> Value:
        if isinstance(value, tuple) and len(value) == len(members):
            pairs = zip(members, value, strict=True)
            return {"L": [member.encode(each) for member, each in pairs]}
        raise refused(where, value, annotation)

    def read(content: list[Value]) -> Any:
        if len(content) != len(members):
            raise ValueError(f"it has {len(content)} members")
        return tuple(member.decode(each) for member, each in zip(members, content, strict=True))

    return stored_as("L", where, annotation, encode, read)


def _set(annotation: Any, where: str, build: Build) -> Converter:
    shape, args = get_origin(annotation) or annotation, get_args(annotation)
    member = build(args[0] if args else Any, f"{where}[]")
    tag = member.tag or ""
    if tag not in SETS or member.optional:
        use = f"list[{name_of(args[0])}]" if args else "set[str], say"
        why = f"a DynamoDB set holds strings, numbers or binaries: use {use}"
        raise unsuitable(where, annotation, why)
    accepted = set | frozenset if shape is AbstractSet else shape
    make = frozenset if shape is frozenset else set
    is_text = member.kind is str  # which is stored as it is

    def encode(value: Any) -> Value:
        if not isinstance(value, accepted):
            raise refused(where, value, annotation)
        if not value:
            raise InvalidValue(f"{where}: DynamoDB has no empty set; use None")
        if is_text and set(map(type, value)) == {str} and "".join(value).isascii():
            return {"SS": sorted(value)}  # as `set_of` returns, in half of the time
        return set_of(tag, {member.encode(each)[tag] for each in value})

    def read(content: list[str]) -> Any:
        return make([member.decode({tag: each}) for each in content])

    reads = make if is_text else read
    return dataclasses.replace(stored_as(SETS[tag], where, annotation, encode, reads), empty=make)


def _dict(annotation: Any, where: str, build: Build) -> Converter:
    shape = get_origin(annotation) or annotation
    key_type, member_type = get_args(annotation) or (str, Any)
    key = build(key_type, f"{where} (key)")
    member = build(member_type, f"{where}[]")
    tag = key.tag or ""
    if tag not in ("S", "N") or key.optional:
        why = "its keys are stored as text: use str, int, UUID or an Enum of strings"
        raise unsuitable(where, annotation, why)

    def encode(value: Any) -> Value:
        if isinstance(value, shape):
            return {"M": {key.encode(k)[tag]: member.encode(each) for k, each in value.items()}}
        raise refused(where, value, annotation)

    def read(content: dict[str, Value]) -> Any:
        return {key.decode({tag: k}): member.decode(each) for k, each in content.items()}

    return stored_as("M", where, annotation, encode, read)


CONTAINERS: dict[Any, Callable[[Any, str, Build], Converter]] = {
    list: _sequence,
    tuple: _sequence,
    Sequence: _sequence,
    set: _set,
    frozenset: _set,
    AbstractSet: _set,
    dict: _dict,
    Mapping: _dict,
}


class _StructureField(NamedTuple):
    attribute: str  # its name in Python
    name: str  # its name in the stored map
    given: str  # its name for whatever makes the object
    annotation: Any
    default: Any  # or _REQUIRED; or _ABSENT: a dict that may lack it


_REQUIRED, _ABSENT, _FROM_FACTORY = object(), object(), object()


def root_model(kind: Any, where: str, build: Build) -> Converter:
    root = build(kind.model_fields["root"].annotation, where)
    return through(root, kind, operator.attrgetter("root"), kind)


def model(kind: type[BaseModel], where: str, build: Build) -> Converter:
    try:
        kind.model_rebuild()
    except (PydanticUndefinedAnnotation, PydanticUserError) as failure:
        raise incomplete(where, kind, failure) from None
    fields = []
    for attribute, field in kind.model_fields.items():
        given = field.validation_alias or attribute
        if isinstance(given, pydantic.AliasChoices):
            given = given.choices[0]
        if not isinstance(given, str):
            why = f"{attribute!r} is validated from {given!r}: give it a plain alias"
            raise unsuitable(where, kind, why)
        default = _REQUIRED if field.is_required() else field.default
        if field.default_factory is not None:
            default = _FROM_FACTORY
        name = field.alias or attribute
        fields.append(_StructureField(attribute, name, given, field.annotation, default))
    return _structure(kind, where, build, fields, _is_exactly(kind), getattr, kind.model_validate)


def data_class(kind: type, where: str, build: Build) -> Converter:
    hints = _hints(kind, where)
    fields = []
    for field in dataclasses.fields(kind):
        default = _REQUIRED if field.default is dataclasses.MISSING else field.default
        if field.default_factory is not dataclasses.MISSING:
            default = _FROM_FACTORY
        if field.init:  # the others are made of these
            fields.append(
                _StructureField(field.name, field.name, field.name, hints[field.name], default)
            )

    def make(given: dict[str, Any]) -> Any:
        return kind(**given)

    return _structure(kind, where, build, fields, _is_exactly(kind), getattr, make)


def typed_dict(kind: Any, where: str, build: Build) -> Converter:
    fields = []
    for name, hint in _hints(kind, where).items():
        # `__required_keys__` does not evaluate annotations that are strings.
        needed = name in kind.__required_keys__ and get_origin(hint) is not typing.NotRequired
        needed = needed or get_origin(hint) is typing.Required
        fields.append(_StructureField(name, name, name, hint, _REQUIRED if needed else _ABSENT))
    names = {field.name for field in fields}
    required = {field.name for field in fields if field.default is _REQUIRED}

    def fits(value: Any) -> bool:
        return isinstance(value, dict) and required <= value.keys() <= names

    return _structure(kind, where, build, fields, fits, dict.get, dict)


def _hints(kind: type, where: str) -> dict[str, Any]:
    try:
        # Its own name, for a class that is not in its module's namespace.
        own = {kind.__name__: kind}
        return typing.get_type_hints(kind, localns=own, include_extras=True)
    except NameError as failure:
        raise incomplete(where, kind, failure) from None


def _is_exactly(kind: type) -> Callable[[Any], bool]:
    """Return a check of the exact type: further fields of a subclass would be lost."""
    return lambda value: type(value) is kind


def _structure(
    kind: type,
    where: str,
    build: Build,
    fields: Iterable[_StructureField],
    fits: Callable[[Any], bool],
    take: Callable[[Any, str, Any], Any],
    make: Callable[[dict[str, Any]], Any],
) -> Converter:
    writes: list[tuple[str, str, Callable[[Any], Value | None]]] = []
    reads: list[tuple[str, str, bool, Converter]] = []

    def encode(value: Any) -> Value:
        if not fits(value):
            raise refused(where, value, kind)
        content = {}
        for attribute, name, store in writes:
            given = take(value, attribute, _ABSENT)
            if given is not _ABSENT:
                stored = store(given)
                if stored is not None:
                    content[name] = stored
        return {"M": content}

    def read(content: dict[str, Value]) -> Any:
        values = {}
        for name, given, has_default, part in reads:
            if name in content:
                values[given] = part.decode(content[name])
            elif not has_default:
                values[given] = part.read(content, name)
        return make(values)

    made = stored_as("M", where, kind, encode, read)
    inner = build.inside(kind, made)
    converters: dict[str, Converter | None] = {}
    for attribute, name, given, annotation, default in fields:
        part = inner(annotation, f"{where}.{attribute}")
        # An absent set is read as empty, whatever its default: DynamoDB cannot store empty sets.
        has_default = default is _ABSENT or (default is not _REQUIRED and part.empty is None)
        # An absent field has its default; if that is not None, None is stored as NULL.
        left_out = not has_default or default is None
        writes.append((attribute, name, part.writer if left_out else part.encode))
        reads.append((name, given, has_default, part))
        converters[attribute] = None if has_default else part
    return dataclasses.replace(made, fields=converters)
