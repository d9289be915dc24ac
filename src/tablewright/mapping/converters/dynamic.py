"""Types whose values are stored in several ways.

Any, unions, Literal, Enum, and types that only pydantic can convert.
"""

from __future__ import annotations

import binascii
import functools
import operator
import types
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from enum import Enum
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)

from tablewright.errors import InvalidValue, TablewrightError, UnreadableItem
from tablewright.mapping.converters.containers import SETS, set_of
from tablewright.mapping.converters.conversion import (
    FAILURES,
    Build,
    Converter,
    Encode,
    only,
    optional,
    refused,
    through,
    unreadable,
    unsuitable,
)
from tablewright.mapping.converters.scalars import SCALARS, plain_number
from tablewright.values import Value, tag_of


def anything(where: str) -> Converter:
    """Return the converter of Any, which stores a value by its class or by a base class."""

    def encode(value: Any) -> Value:
        for kind in type(value).__mro__:
            if kind in encoders:
                return encoders[kind](value)
        raise refused(where, value, "value of one of DynamoDB's types")

    def entries(value: dict[Any, Any]) -> Value:
        return {"M": {text(key)["S"]: encode(each) for key, each in value.items()}}

    def members(value: AbstractSet[Any]) -> Value:
        stored = [encode(each) for each in value]
        tag = only(map(tag_of, stored))
        if tag not in SETS:
            why = "DynamoDB has no other, and no empty one"
            raise refused(where, value, "set of strings, numbers or binaries", why)
        return set_of(tag, {each[tag] for each in stored})

    text = SCALARS[str](where).encode
    binary = SCALARS[bytes](where).encode
    encoders: dict[type, Encode] = {
        str: text,
        int: SCALARS[int](where).encode,
        Decimal: SCALARS[Decimal](where).encode,
        float: SCALARS[float](where).encode,
        bool: SCALARS[bool](where).encode,
        bytes: binary,
        bytearray: binary,
        types.NoneType: lambda _: {"NULL": True},
        list: lambda value: {"L": [encode(each) for each in value]},
        dict: entries,
        set: members,
        frozenset: members,
    }
    return Converter(where, Any, None, encode, _plain)


def _plain(value: Value) -> Any:
    ((tag, content),) = value.items()
    return _PLAIN[tag](content)


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "S": lambda content: content,
    "N": plain_number,
    "B": binascii.a2b_base64,
    "BOOL": lambda content: content,
    "NULL": lambda content: None,
    "L": lambda content: [_plain(each) for each in content],
    "M": lambda content: {name: _plain(each) for name, each in content.items()},
    "SS": set,
    "NS": lambda content: {plain_number(each) for each in content},
    "BS": lambda content: {binascii.a2b_base64(each) for each in content},
}


def through_pydantic(annotation: Any, where: str) -> Converter:
    """Return the converter of a type that pydantic converts to JSON; it is stored as that JSON."""
    try:
        adapter = TypeAdapter[Any](annotation)
        tag = _json_tag(adapter)
    except (PydanticUndefinedAnnotation, PydanticUserError, ImportError, TypeError) as failure:
        says = str(failure).splitlines()[0].partition(". ")[0]
        why = f"use a dataclass, a pydantic model or Any (pydantic says: {says})"
        raise unsuitable(where, annotation, why) from None
    inner = anything(where)

    def encode(value: Any) -> Value:
        try:
            plain = adapter.dump_python(value, mode="json", warnings="error")
            same = adapter.validate_python(plain) == value
        except FAILURES as failure:
            raise refused(where, value, annotation) from failure
        if not same:  # a SecretStr, for one, would be stored as asterisks
            raise refused(where, value, annotation, "it would not come back as it is")
        return inner.encode(plain)

    def decode(value: Value) -> Any:
        plain = inner.decode(value)
        try:
            return adapter.validate_python(plain)
        except FAILURES as failure:
            raise unreadable(where, plain, annotation, failure) from failure

    return Converter(where, annotation, tag, encode, decode)


def _json_tag(adapter: TypeAdapter[Any]) -> str | None:
    tags = {"string": "S", "integer": "N", "number": "N", "boolean": "BOOL"}
    try:
        return tags.get(adapter.json_schema(mode="serialization").get("type", ""))
    except PydanticInvalidForJsonSchema:
        return None


def enum(kind: type[Enum], where: str) -> Converter:
    inner = SCALARS.get(only(type(member.value) for member in kind), anything)(where)
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
    # A value is a dict with one entry, (tag, content), which identifies the option.
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
        # A model may also read values of another one, and ignore some fields. So a member that
        # explains the whole value takes precedence over the first that can read it.
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
