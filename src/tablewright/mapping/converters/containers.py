"""Lists, tuples, sets and dicts of values of declared types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, get_args, get_origin

from tablewright.errors import InvalidValue
from tablewright.mapping.converters.conversion import Build, Converter, stored_as
from tablewright.mapping.converters.messages import name, refused, unsuitable
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
        use = f"list[{name(args[0])}]" if args else "set[str], say"
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
