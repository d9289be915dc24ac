"""Converters: Python values as DynamoDB stores them, and back.

    str, UUID, KSUID, date, time          S      Decimal, int, float, timedelta        N
    datetime, in UTC and of fixed width   S      bytes                                 B
    Enum, Literal                         as their values                              bool  BOOL
    list, tuple, Sequence                 L      dict, Mapping, models, TypedDict      M
    set, frozenset                        SS, NS or BS, as their members
    Any                                   as the value at hand
    what only pydantic knows (HttpUrl)    as its JSON

Laws:

- `decode(encode(value)) == value`. What would not come back equal is refused: nothing is rounded,
  cut or guessed. There are two exceptions: `Any` reads every fraction as a Decimal, and a union
  reads a value as the first member that can, so that `str` is best its last.
- `encode` takes the declared type only, or raises InvalidValue; "5" is not an int.
- `decode` takes what `encode` gives, and other spellings of the same, or raises UnreadableItem.
- What is wrong with a type is said once, by `converter`, as a ModelError.

Everything about a type is decided by `converter`; the functions it returns only convert. This
module knows nothing of entities, keys or tables.
"""

from __future__ import annotations

import binascii
import dataclasses
import functools
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin
from uuid import UUID

import pydantic
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)

from tablewright.encoding.numbers import canonical_number
from tablewright.errors import (
    InvalidValue,
    ModelError,
    TablewrightError,
    UnreadableItem,
    ValidationException,
)
from tablewright.values import EXACT, Value, sorted_members, tag_of

Encode: TypeAlias = Callable[[Any], Value]
Decode: TypeAlias = Callable[[Value], Any]

#: Converters of the types further out, for types that contain themselves.
Outer: TypeAlias = Mapping[Any, "Converter"]

#: How constructors, parsers and validators say no.
_FAILURES = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)

#: Ints between these need no further check: they have at most 38 digits.
_LARGEST = 10**38 - 1
_SMALLEST = -_LARGEST


@dataclass(frozen=True, slots=True)
class Converter:
    """How values of one attribute are stored.

    >>> total = converter(Decimal, "Order.total")
    >>> total.encode(Decimal("12.50"))
    {'N': '12.5'}
    >>> total.decode({"N": "12.5"})
    Decimal('12.5')
    >>> total.encode("12.50")
    Traceback (most recent call last):
    tablewright.errors.InvalidValue: Order.total: '12.50' (str) is not a Decimal
    """

    where: str
    #: The Python type, without Optional and Annotated.
    kind: Any
    #: The one type tag that it is stored as; None where that varies.
    tag: str | None
    encode: Encode
    decode: Decode
    #: None is a value, for which nothing is stored (in a list or a dict: NULL).
    optional: bool = False
    #: What an absent attribute means, for sets: DynamoDB has no empty ones.
    empty: Callable[[], Any] | None = None

    def stored(self, value: Any) -> Value | None:
        """The value to store, or None where the attribute is to be left out.

        >>> converter(str | None, "Order.note").stored(None)
        >>> converter(set[str], "Order.tags").stored({"b", "a"})
        {'SS': ['a', 'b']}
        >>> converter(set[str], "Order.tags").stored(set())
        """
        if value is None:
            if self.optional:
                return None
        elif self.empty is not None and not value and isinstance(value, AbstractSet):
            return None
        return self.encode(value)

    def read(self, item: Mapping[str, Value], name: str) -> Any:
        """The value of a stored attribute, or what its absence means."""
        stored = item.get(name)
        if stored is not None:
            return self.decode(stored)
        if self.optional:
            return None
        if self.empty is not None:
            return self.empty()
        raise UnreadableItem(f"{self.where}: the stored item has no {name!r}")


def converter(annotation: Any, where: str) -> Converter:
    """The converter of a type; `where`, e.g. "Order.total", begins every message.

    >>> converter(list[int], "Order.counts").encode([1, 2])
    {'L': [{'N': '1'}, {'N': '2'}]}
    >>> converter(set[bool], "Order.flags")
    Traceback (most recent call last):
    tablewright.errors.ModelError: Order.flags: set[bool] cannot be stored; \
a DynamoDB set holds strings, numbers or binaries: use list[bool]
    """
    return _build(annotation, where, {})


def _build(annotation: Any, where: str, outer: Outer) -> Converter:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return _build(args[0], where, outer)
    if isinstance(annotation, typing.NewType):
        return _build(annotation.__supertype__, where, outer)
    if origin is None and annotation in _SCALARS:
        return _SCALARS[annotation](where)
    if origin in (typing.Union, types.UnionType):
        return _union(args, where, outer)
    if origin is typing.Literal:
        return _literal(annotation, args, where)
    if (origin or annotation) in _CONTAINERS:
        return _CONTAINERS[origin or annotation](annotation, args, where, outer)
    # By name: typing_extensions has a class of its own, even where typing has one.
    if type(origin or annotation).__name__ == "TypeAliasType":
        return _alias(annotation, origin, args, where, outer)
    if isinstance(annotation, type):
        return outer.get(annotation) or _class(annotation, where, outer)
    return _through_pydantic(annotation, where)


def _class(kind: type, where: str, outer: Outer) -> Converter:
    if issubclass(kind, Enum):
        return _enum(kind, where)
    if issubclass(kind, str):
        return _through(_str(where), kind, str.__str__, kind)
    if issubclass(kind, int):
        return _through(_int(where), kind, int, kind)
    if issubclass(kind, pydantic.RootModel):
        root = _build(kind.model_fields["root"].annotation, where, outer)
        return _through(root, kind, operator.attrgetter("root"), kind)
    if issubclass(kind, BaseModel):
        return _model(kind, where, outer)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, where, outer)
    if issubclass(kind, dict) and hasattr(kind, "__required_keys__"):
        return _typed_dict(kind, where, outer)
    return _through_pydantic(kind, where)


# Messages


def _refused(where: str, value: Any, kind: Any, why: str = "") -> InvalidValue:
    shown = f"{_shown(value)} ({type(value).__name__})"
    return InvalidValue(f"{where}: {shown} is not {_a(kind)}{why and f'; {why}'}")


def _unreadable(where: str, content: Any, kind: Any, why: object = "") -> UnreadableItem:
    reason = f": {_reason(why)}" if why else ""
    return UnreadableItem(f"{where}: {_shown(content)} cannot be read as {_a(kind)}{reason}")


def _mistyped(where: str, value: Value, tag: str, kind: Any) -> UnreadableItem:
    found = tag_of(value)
    shown = _shown(value[found])
    return UnreadableItem(f"{where}: stored as {found} ({shown}), expected {tag} for {_a(kind)}")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print ints of more than 4300 digits
        return "a number"
    return text if len(text) <= 80 else text[:79] + "…"


def _reason(why: object) -> str:
    if isinstance(why, pydantic.ValidationError):
        return "; ".join(
            ": ".join([*map(str, error["loc"]), error["msg"]]) for error in why.errors()
        )
    return str(why)


def _name(kind: Any) -> str:
    if isinstance(kind, type):
        return kind.__name__
    return str(kind).replace("typing.", "")


def _a(kind: Any) -> str:
    name = _name(kind)
    return f"an {name}" if name[0] in "aeioAEIO" else f"a {name}"


# Scalars. Those that most attributes are have a quick path: the exact type, nothing to look at.


def _str(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if type(value) is str and value.isascii():
            return {"S": value}
        if not isinstance(value, str):
            raise _refused(where, value, str)
        try:
            value.encode()
        except UnicodeEncodeError:
            why = "it has half of a surrogate pair, which UTF-8 cannot hold"
            raise InvalidValue(f"{where}: {_shown(value)} cannot be stored: {why}") from None
        return {"S": str.__str__(value)}

    def decode(value: Value) -> Any:
        try:
            return value["S"]
        except KeyError:
            raise _mistyped(where, value, "S", str) from None

    return Converter(where, str, "S", encode, decode)


def _int(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if type(value) is int and _SMALLEST <= value <= _LARGEST:
            return {"N": str(value)}
        if isinstance(value, int) and not isinstance(value, bool):
            return _number(Decimal(value), where, value)
        raise _refused(where, value, int)

    def decode(value: Value) -> int:
        try:
            return int(value["N"])
        except KeyError:
            raise _mistyped(where, value, "N", int) from None
        except ValueError:  # "1.5"; "1E+3" as somebody may spell it; "x" as a key of a dict
            with suppress(*_FAILURES):
                whole = _plain_number(value["N"])
                if isinstance(whole, int):
                    return whole
            raise _unreadable(where, value["N"], int) from None

    return Converter(where, int, "N", encode, decode)


def _bool(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if value is True or value is False:
            return {"BOOL": value}
        raise _refused(where, value, bool)

    def decode(value: Value) -> Any:
        try:
            return value["BOOL"]
        except KeyError:
            raise _mistyped(where, value, "BOOL", bool) from None

    return Converter(where, bool, "BOOL", encode, decode)


def _datetime(where: str) -> Converter:
    """In UTC and always with six digits of a second, so that texts sort as the moments do."""

    def encode(value: Any) -> Value:
        if type(value) is not datetime or value.tzinfo is not UTC:
            value = in_utc(value)
        return {"S": value.isoformat("T", "microseconds")[:-6] + "Z"}

    def in_utc(value: Any) -> datetime:
        if not isinstance(value, datetime):
            raise _refused(where, value, datetime)
        if value.utcoffset() is None:
            why = "has no time zone; give it a time zone, e.g. datetime.now(UTC)"
            raise InvalidValue(f"{where}: {_shown(value)} {why}")
        try:
            return value.astimezone(UTC)
        except OverflowError:
            raise InvalidValue(f"{where}: {_shown(value)} is out of range in UTC") from None

    def decode(value: Value) -> datetime:
        try:
            moment = datetime.fromisoformat(value["S"])
            if moment.tzinfo is UTC:
                return moment
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except KeyError:
            raise _mistyped(where, value, "S", datetime) from None
        except (ValueError, OverflowError) as failure:
            raise _unreadable(where, value["S"], datetime, failure) from None
        raise _unreadable(where, value["S"], datetime, "it has no time zone")

    return Converter(where, datetime, "S", encode, decode)


def _stored_as(
    tag: str, where: str, kind: Any, encode: Encode, read: Callable[[Any], Any]
) -> Converter:
    """A type with a tag of its own; `read` makes the value of the content, or raises a failure."""

    def decode(value: Value) -> Any:
        try:
            content = value[tag]
        except KeyError:
            raise _mistyped(where, value, tag, kind) from None
        try:
            return read(content)
        except _FAILURES as failure:
            raise _unreadable(where, content, kind, failure) from failure

    return Converter(where, kind, tag, encode, decode)


def _decimal(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if isinstance(value, Decimal):
            return _number(value, where, value)
        if isinstance(value, int) and not isinstance(value, bool):
            return _number(Decimal(value), where, value)
        raise _refused(where, value, Decimal)

    return _stored_as("N", where, Decimal, encode, Decimal)


def _float(where: str) -> Converter:
    """A float stands for the number that it is printed as, or for the one that it is exactly."""

    def encode(value: Any) -> Value:
        if isinstance(value, float):
            return _number(Decimal(float.__repr__(value)), where, value)
        if isinstance(value, int) and not isinstance(value, bool):
            if _is_float(value):
                return _number(Decimal(value), where, value)
            raise _refused(where, value, float, "it would be rounded: use int or Decimal")
        raise _refused(where, value, float)

    def read(text: str) -> float:
        number, exact = float(text), Decimal(text)
        if exact not in (Decimal(repr(number)), Decimal(number)):
            raise ValueError("it would be rounded")
        return number

    return _stored_as("N", where, float, encode, read)


def _is_float(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def _number(number: Decimal, where: str, value: Any) -> Value:
    if not number.is_finite():
        raise InvalidValue(f"{where}: {_shown(value)} cannot be stored: it is not finite")
    try:
        return {"N": canonical_number(number)}
    except ValidationException as fault:
        raise InvalidValue(f"{where}: {_shown(value)} cannot be stored: {fault.message}") from None


def _bytes(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if isinstance(value, bytes | bytearray | memoryview):
            return {"B": binascii.b2a_base64(bytes(value), newline=False).decode()}
        raise _refused(where, value, bytes)

    return _stored_as("B", where, bytes, encode, binascii.a2b_base64)


def _through(
    inner: Converter,
    kind: type,
    there: Callable[[Any], Any],
    back: Callable[[Any], Any],
    hint: str = "",
) -> Converter:
    """A class that is stored as another type: `there` makes that type of it, `back` undoes it."""
    where = inner.where

    def encode(value: Any) -> Value:
        if isinstance(value, kind):
            return inner.encode(there(value))
        raise _refused(where, value, kind, hint)

    def decode(value: Value) -> Any:
        plain = inner.decode(value)
        try:
            return back(plain)
        except _FAILURES as failure:
            raise _unreadable(where, plain, kind, hint or failure) from failure

    return Converter(where, kind, inner.tag, encode, decode)


def _date(where: str) -> Converter:
    def iso(value: date) -> str:
        if isinstance(value, datetime):
            raise _refused(where, value, date, "use its .date()")
        return value.isoformat()

    return _through(_str(where), date, iso, date.fromisoformat)


def _time(where: str) -> Converter:
    def iso(value: time) -> str:
        if value.tzinfo is not None and value.utcoffset() is None:
            raise _refused(where, value, time, "its offset is known only together with a date")
        return value.isoformat()

    return _through(_str(where), time, iso, time.fromisoformat)


def _timedelta(where: str) -> Converter:
    """Exact seconds; timedelta counts whole microseconds."""

    def seconds(value: timedelta) -> Decimal:
        return Decimal(value // timedelta(microseconds=1)).scaleb(-6, EXACT)

    def back(number: Decimal) -> timedelta:
        microseconds = number.scaleb(6, EXACT)
        if microseconds != int(microseconds):
            raise ValueError("it would be rounded")
        return timedelta(microseconds=int(microseconds))

    return _through(_decimal(where), timedelta, seconds, back)


def _uuid(where: str) -> Converter:
    return _through(_str(where), UUID, str, UUID)


# Choices: of values, of types


def _enum(kind: type[Enum], where: str) -> Converter:
    inner = _SCALARS.get(_only(type(member.value) for member in kind), _any)(where)
    values = ", ".join(repr(member.value) for member in kind)
    made = _through(inner, kind, operator.attrgetter("value"), kind, f"its values are {values}")
    for member in kind:
        try:
            if made.decode(made.encode(member)) is member:
                continue
        except TablewrightError:
            pass
        why = f"{member} does not come back from its value {member.value!r}: use strings or ints"
        raise ModelError(f"{where}: {_name(kind)} cannot be stored; {why}")
    return made


def _literal(annotation: Any, options: Sequence[Any], where: str) -> Converter:
    inner = _any(where)
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
            raise _refused(where, value, annotation) from None

    def decode(value: Value) -> Any:
        try:
            (entry,) = value.items()
            return back[entry]
        except (KeyError, TypeError):
            raise _unreadable(where, value, annotation) from None

    made = Converter(where, annotation, _only(tag for tag, _ in back), encode, decode)
    return _optional(made) if None in options else made


def _only(things: Iterable[Any]) -> Any:
    """The one thing that they all are, or None."""
    distinct = set(things)
    return distinct.pop() if len(distinct) == 1 else None


def _optional(inner: Converter) -> Converter:
    def encode(value: Any) -> Value:
        return {"NULL": True} if value is None else inner.encode(value)

    def decode(value: Value) -> Any:
        return None if "NULL" in value else inner.decode(value)

    # Not `empty` any more: absence means None, so that an empty set has no place.
    return dataclasses.replace(inner, encode=encode, decode=decode, optional=True, empty=None)


def _union(args: Sequence[Any], where: str, outer: Outer) -> Converter:
    members = [_build(arg, where, outer) for arg in args if arg is not types.NoneType]
    made = members[0] if len(members) == 1 else _either(members, where)
    return _optional(made) if types.NoneType in args else made


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
        raise _refused(where, value, kind)

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
        raise _unreadable(where, value, kind)

    return Converter(where, kind, _only(member.tag for member in members), encode, decode)


def _alias(annotation: Any, origin: Any, args: Any, where: str, outer: Outer) -> Converter:
    """What a `type` statement names; it may name itself: `type Tree = list[Tree] | int`."""
    if annotation in outer:
        return outer[annotation]
    later = Converter(
        where, annotation, None, lambda value: made.encode(value), lambda value: made.decode(value)
    )
    named = origin.__value__[args] if origin else annotation.__value__
    made = _build(named, where, {**outer, annotation: later})
    return made


# Containers


def _sequence(annotation: Any, args: Any, where: str, outer: Outer) -> Converter:
    shape = get_origin(annotation) or annotation
    if shape is tuple and args[1:] != (...,) and annotation is not tuple:
        return _fixed_tuple(annotation, args, where, outer)
    member = _build(args[0] if args else Any, f"{where}[]", outer)
    accepted = list | tuple if shape is Sequence else shape
    make = tuple if shape is tuple else list

    def encode(value: Any) -> Value:
        if isinstance(value, accepted):
            return {"L": [member.encode(each) for each in value]}
        raise _refused(where, value, annotation)

    def read(content: list[Value]) -> Any:
        return make([member.decode(each) for each in content])

    return _stored_as("L", where, annotation, encode, read)


def _fixed_tuple(annotation: Any, args: Any, where: str, outer: Outer) -> Converter:
    members = [_build(arg, f"{where}[{n}]", outer) for n, arg in enumerate(args)]

    def encode(value: Any) -> Value:
        if isinstance(value, tuple) and len(value) == len(members):
            pairs = zip(members, value, strict=True)
            return {"L": [member.encode(each) for member, each in pairs]}
        raise _refused(where, value, annotation)

    def read(content: list[Value]) -> Any:
        if len(content) != len(members):
            raise ValueError(f"it has {len(content)} members")
        return tuple(member.decode(each) for member, each in zip(members, content, strict=True))

    return _stored_as("L", where, annotation, encode, read)


def _set(annotation: Any, args: Any, where: str, outer: Outer) -> Converter:
    shape = get_origin(annotation) or annotation
    member = _build(args[0] if args else Any, f"{where}[]", outer)
    member_tag = member.tag or ""
    if member_tag not in _SETS or member.optional:
        why = "a DynamoDB set holds strings, numbers or binaries"
        use = f"list[{_name(args[0])}]" if args else "set[str], say"
        raise ModelError(f"{where}: {_name(annotation)} cannot be stored; {why}: use {use}")
    tag = _SETS[member_tag]
    accepted = set | frozenset if shape is AbstractSet else shape
    make = frozenset if shape is frozenset else set

    def encode(value: Any) -> Value:
        if not isinstance(value, accepted):
            raise _refused(where, value, annotation)
        if not value:
            raise InvalidValue(f"{where}: DynamoDB has no empty set; use None")
        return {tag: sorted_members(tag, {member.encode(each)[member_tag] for each in value})}

    def read(content: list[str]) -> Any:
        return make([member.decode({member_tag: each}) for each in content])

    return dataclasses.replace(_stored_as(tag, where, annotation, encode, read), empty=make)


def _dict(annotation: Any, args: Any, where: str, outer: Outer) -> Converter:
    shape = get_origin(annotation) or annotation
    key_type, member_type = args or (str, Any)
    key = _build(key_type, f"{where} (key)", outer)
    member = _build(member_type, f"{where}[]", outer)
    tag = key.tag or ""
    if tag not in ("S", "N") or key.optional:
        why = "its keys are stored as text: use str, int, UUID or an Enum of strings"
        raise ModelError(f"{where}: {_name(annotation)} cannot be stored; {why}")

    def encode(value: Any) -> Value:
        if isinstance(value, shape):
            return {"M": {key.encode(k)[tag]: member.encode(each) for k, each in value.items()}}
        raise _refused(where, value, annotation)

    def read(content: dict[str, Value]) -> Any:
        return {key.decode({tag: k}): member.decode(each) for k, each in content.items()}

    return _stored_as("M", where, annotation, encode, read)


# Models, dataclasses and typed dicts: maps, field by field


class _Field(NamedTuple):
    attribute: str  # its name in Python
    name: str  # its name in the stored map
    given: str  # its name for whatever makes the object
    annotation: Any
    default: Any  # or _REQUIRED; or _ABSENT: a dict that may lack it


_REQUIRED, _ABSENT, _FROM_FACTORY = object(), object(), object()


def _model(kind: type[BaseModel], where: str, outer: Outer) -> Converter:
    try:
        kind.model_rebuild()
    except (PydanticUndefinedAnnotation, PydanticUserError) as failure:
        raise ModelError(f"{where}: {_name(kind)} is not complete: {failure}") from None
    fields = []
    for attribute, field in kind.model_fields.items():
        given = field.validation_alias or attribute
        if isinstance(given, pydantic.AliasChoices):
            given = given.choices[0]
        if not isinstance(given, str):
            why = f"{attribute!r} is validated from {given!r}: give it a plain alias"
            raise ModelError(f"{where}: {_name(kind)} cannot be stored; {why}")
        default = _REQUIRED if field.is_required() else field.default
        if field.default_factory is not None:
            default = _FROM_FACTORY
        name = field.alias or attribute
        fields.append(_Field(attribute, name, given, field.annotation, default))
    return _structure(kind, where, outer, fields, _is_exactly(kind), getattr, kind.model_validate)


def _dataclass(kind: type, where: str, outer: Outer) -> Converter:
    hints = _hints(kind, where)
    fields = []
    for field in dataclasses.fields(kind):
        default = _REQUIRED if field.default is dataclasses.MISSING else field.default
        if field.default_factory is not dataclasses.MISSING:
            default = _FROM_FACTORY
        if field.init:  # the others are made of these
            fields.append(_Field(field.name, field.name, field.name, hints[field.name], default))

    def make(given: dict[str, Any]) -> Any:
        return kind(**given)

    return _structure(kind, where, outer, fields, _is_exactly(kind), getattr, make)


def _typed_dict(kind: Any, where: str, outer: Outer) -> Converter:
    fields = []
    for name, hint in _hints(kind, where).items():
        # `__required_keys__` does not see into annotations that are strings.
        needed = name in kind.__required_keys__ and get_origin(hint) is not typing.NotRequired
        needed = needed or get_origin(hint) is typing.Required
        fields.append(_Field(name, name, name, hint, _REQUIRED if needed else _ABSENT))
    names = {field.name for field in fields}
    required = {field.name for field in fields if field.default is _REQUIRED}

    def fits(value: Any) -> bool:
        return isinstance(value, dict) and required <= value.keys() <= names

    return _structure(kind, where, outer, fields, fits, dict.get, dict)


def _hints(kind: type, where: str) -> dict[str, Any]:
    try:
        # Its own name, for a class that is not in its module's namespace.
        own = {kind.__name__: kind}
        return typing.get_type_hints(kind, localns=own, include_extras=True)
    except NameError as failure:
        raise ModelError(f"{where}: {_name(kind)} is not complete: {failure}") from None


def _is_exactly(kind: type) -> Callable[[Any], bool]:
    """Not a subclass of it, whose further fields would be lost."""
    return lambda value: type(value) is kind


def _structure(
    kind: type,
    where: str,
    outer: Outer,
    fields: Iterable[_Field],
    fits: Callable[[Any], bool],
    take: Callable[[Any, str, Any], Any],
    make: Callable[[dict[str, Any]], Any],
) -> Converter:
    writes: list[tuple[str, str, Callable[[Any], Value | None]]] = []
    reads: list[tuple[str, str, bool, Converter]] = []

    def encode(value: Any) -> Value:
        if not fits(value):
            raise _refused(where, value, kind)
        content = {}
        for attribute, name, store in writes:
            given = take(value, attribute, _ABSENT)
            if given is not _ABSENT:
                stored = store(given)
                if stored is not None:
                    content[name] = stored
        return {"M": content}

    def read(content: dict[str, Value]) -> Any:
        return make(
            {
                given: part.read(content, name)
                for name, given, has_default, part in reads
                if name in content or not has_default
            }
        )

    made = _stored_as("M", where, kind, encode, read)
    inner = {**outer, kind: made}
    for attribute, name, given, annotation, default in fields:
        part = _build(annotation, f"{where}.{attribute}", inner)
        # An absent set is the empty one, whatever its default: there is no other way to store it.
        has_default = default is _ABSENT or (default is not _REQUIRED and part.empty is None)
        # Absence means the default; where that is not None, None has to be stored as NULL.
        left_out = not has_default or default is None
        writes.append((attribute, name, part.stored if left_out else part.encode))
        reads.append((name, given, has_default, part))
    return made


# Values of any type


def _any(where: str) -> Converter:
    """Each value as its own type says; of a subclass, as the type that it comes from."""

    def encode(value: Any) -> Value:
        for kind in type(value).__mro__:
            if kind in encoders:
                return encoders[kind](value)
        raise _refused(where, value, "value of one of DynamoDB's types")

    def entries(value: dict[Any, Any]) -> Value:
        return {"M": {text(key)["S"]: encode(each) for key, each in value.items()}}

    def members(value: AbstractSet[Any]) -> Value:
        stored = [encode(each) for each in value]
        member_tag = _only(map(tag_of, stored)) or ""
        if member_tag not in _SETS:
            why = "DynamoDB has no other, and no empty one"
            raise _refused(where, value, "set of strings, numbers or binaries", why)
        tag = _SETS[member_tag]
        return {tag: sorted_members(tag, {each[member_tag] for each in stored})}

    text = _str(where).encode
    encoders: dict[type, Encode] = {
        str: text,
        int: _int(where).encode,
        Decimal: _decimal(where).encode,
        float: _float(where).encode,
        bool: _bool(where).encode,
        bytes: _bytes(where).encode,
        bytearray: _bytes(where).encode,
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


def _plain_number(text: str) -> int | Decimal:
    """An int where the number is whole."""
    number = Decimal(text)
    whole = int(number)
    return whole if whole == number else number


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "S": lambda content: content,
    "N": _plain_number,
    "B": binascii.a2b_base64,
    "BOOL": lambda content: content,
    "NULL": lambda content: None,
    "L": lambda content: [_plain(each) for each in content],
    "M": lambda content: {name: _plain(each) for name, each in content.items()},
    "SS": set,
    "NS": lambda content: {_plain_number(each) for each in content},
    "BS": lambda content: {binascii.a2b_base64(each) for each in content},
}


def _through_pydantic(annotation: Any, where: str) -> Converter:
    """What pydantic can make JSON of, as that JSON."""
    try:
        adapter = TypeAdapter[Any](annotation)
        tag = _json_tag(adapter)
    except (PydanticUndefinedAnnotation, PydanticUserError, ImportError, TypeError) as failure:
        why = f"pydantic says: {str(failure).splitlines()[0].partition('. ')[0]}"
        use = "use a dataclass, a pydantic model or Any"
        raise ModelError(f"{where}: {_name(annotation)} cannot be stored; {use} ({why})") from None
    inner = _any(where)

    def encode(value: Any) -> Value:
        try:
            plain = adapter.dump_python(value, mode="json", warnings="error")
            same = adapter.validate_python(plain) == value
        except _FAILURES as failure:
            raise _refused(where, value, annotation) from failure
        if not same:  # a SecretStr, for one, would be stored as asterisks
            raise _refused(where, value, annotation, "it would not come back as it is")
        return inner.encode(plain)

    def decode(value: Value) -> Any:
        plain = inner.decode(value)
        try:
            return adapter.validate_python(plain)
        except _FAILURES as failure:
            raise _unreadable(where, plain, annotation, failure) from failure

    return Converter(where, annotation, tag, encode, decode)


def _json_tag(adapter: TypeAdapter[Any]) -> str | None:
    tags = {"string": "S", "integer": "N", "number": "N", "boolean": "BOOL"}
    try:
        return tags.get(adapter.json_schema(mode="serialization").get("type", ""))
    except PydanticInvalidForJsonSchema:
        return None


# What is built by which

#: The tag of a set, by that of its members.
_SETS = {"S": "SS", "N": "NS", "B": "BS"}

_SCALARS: dict[Any, Callable[[str], Converter]] = {
    str: _str,
    int: _int,
    Decimal: _decimal,
    float: _float,
    bool: _bool,
    bytes: _bytes,
    datetime: _datetime,
    pydantic.AwareDatetime: _datetime,
    pydantic.PastDatetime: _datetime,
    pydantic.FutureDatetime: _datetime,
    date: _date,
    pydantic.PastDate: _date,
    pydantic.FutureDate: _date,
    time: _time,
    timedelta: _timedelta,
    UUID: _uuid,
    Any: _any,
    object: _any,
    pydantic.JsonValue: _any,
}

_CONTAINERS: dict[Any, Callable[[Any, Any, str, Outer], Converter]] = {
    list: _sequence,
    tuple: _sequence,
    Sequence: _sequence,
    set: _set,
    frozenset: _set,
    AbstractSet: _set,
    dict: _dict,
    Mapping: _dict,
}
