"""Converter, the ways in which most of them are made, and their messages.

The package decides which converter a type has; a type that contains others gets theirs from the
`Build` that is passed to it. Messages name the attribute, the value and its type.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pydantic

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.values import Value, tag_of

if TYPE_CHECKING:
    from tablewright.mapping.formats.encryption import Cipher

Encode: TypeAlias = Callable[[Any], Value]
Decode: TypeAlias = Callable[[Value], Any]

#: What constructors, parsers and validators raise for invalid values.
FAILURES = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Converter:
    """How values of one attribute are stored.

    >>> from decimal import Decimal
    >>> from tablewright.mapping.converters import converter
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
    #: The type tag of stored values; None if it varies.
    tag: str | None
    encode: Encode
    decode: Decode
    #: None is allowed, and nothing is stored for it (in a list or a dict: NULL).
    optional: bool = False
    #: Creates the value of an absent set: DynamoDB cannot store empty ones.
    empty: Callable[[], Any] | None = None
    #: Encodes a value without rounding, if `encode` rounds.
    exact: Encode | None = None
    #: Of a structure: the converter of each field, by its name in Python; None for a field with a
    #: default.
    fields: Mapping[str, Converter | None] | None = None
    #: The codec of the attribute, with {} for its value: `iso({}, 'seconds')`; "" without one.
    codec: str = ""
    #: Returns the value that is kept of one that the codec would round; None if it keeps all.
    cut: Callable[[Any], Any] | None = None
    #: Whether stored values sort as values do.
    is_ordered: bool = True
    #: Why DynamoDB cannot compare stored values: they are `compressed`; "" if it can.
    state: str = ""
    #: Encrypts the values; None if they are stored as they are encoded.
    cipher: Cipher | None = None

    def bound(self, value: Any) -> Value:
        """Return a bound to compare stored values with: never rounded, so the order is exact."""
        return (self.exact or self.encode)(value)

    def stored(self, value: Any) -> Value | None:
        """Return the value to store; None if the attribute is left out.

        >>> from tablewright.mapping.converters import converter
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

    @property
    def writer(self) -> Callable[[Any], Value | None]:
        """Return `stored`, or the faster `encode` for an attribute that is never left out."""
        return self.stored if self.optional or self.empty is not None else self.encode

    def read(self, item: Mapping[str, Value], name: str) -> Any:
        """Return the value of an attribute, which the item may lack."""
        stored = item.get(name)
        if stored is not None:
            return self.decode(stored)
        if self.optional:
            return None
        if self.empty is not None:
            return self.empty()
        problem = f"{self.where}: the stored item has no {name!r}"
        raise UnreadableItem(problem, where=self.where)


@dataclass(frozen=True, slots=True)
class Build:
    """Creates the converters of the types inside a type."""

    make: Callable[[Any, str, Build], Converter]
    #: Converters of the enclosing types, for types that contain themselves.
    outer: Mapping[Any, Converter]

    def __call__(self, annotation: Any, where: str) -> Converter:
        return self.make(annotation, where, self)

    def inside(self, annotation: Any, made: Converter) -> Build:
        return Build(self.make, {**self.outer, annotation: made})


def stored_as(
    tag: str, where: str, kind: Any, encode: Encode, read: Callable[[Any], Any]
) -> Converter:
    """Return the converter of a type with one tag; `read` decodes the content or raises."""

    def decode(value: Value) -> Any:
        try:
            content = value[tag]
        except KeyError:
            raise mistyped(where, value, tag, kind) from None
        try:
            return read(content)
        except FAILURES as failure:
            raise unreadable(where, content, kind, failure) from failure

    return Converter(where, kind, tag, encode, decode)


def through(
    inner: Converter,
    kind: type,
    there: Callable[[Any], Any],
    back: Callable[[Any], Any],
    hint: str = "",
) -> Converter:
    """Return the converter of a class that is stored as another type.

    `there` converts to that type, `back` from it.
    """
    where = inner.where

    def encode(value: Any) -> Value:
        if isinstance(value, kind):
            return inner.encode(there(value))
        raise refused(where, value, kind, hint)

    def decode(value: Value) -> Any:
        plain = inner.decode(value)
        try:
            return back(plain)
        except FAILURES as failure:
            raise unreadable(where, plain, kind, hint or failure) from failure

    return Converter(where, kind, inner.tag, encode, decode)


def optional(inner: Converter) -> Converter:
    def encode(value: Any) -> Value:
        return {"NULL": True} if value is None else inner.encode(value)

    def decode(value: Value) -> Any:
        return None if "NULL" in value else inner.decode(value)

    # Absence now means None, so an empty set cannot be stored.
    return dataclasses.replace(inner, encode=encode, decode=decode, optional=True, empty=None)


def only(things: Iterable[Any]) -> Any:
    """Return the value that all have in common; None if they differ."""
    distinct = set(things)
    return distinct.pop() if len(distinct) == 1 else None


def refused(where: str, value: Any, kind: Any, why: str = "") -> InvalidValue:
    fit = f"{shown(value)} ({type(value).__name__}) is not {_a(kind)}"
    return InvalidValue(f"{where}: {fit}{why and f'; {why}'}")


def not_storable(where: str, value: Any, why: str) -> InvalidValue:
    """Return the error for a value of the right type that DynamoDB cannot store."""
    return InvalidValue(f"{where}: {shown(value)} cannot be stored: {why}")


def unreadable(where: str, content: Any, kind: Any, why: object = "") -> UnreadableItem:
    reason = f": {_reason(why)}" if why else ""
    problem = f"{where}: {shown(content)} cannot be read as {_a(kind)}{reason}"
    return UnreadableItem(problem, where=where)


def mistyped(where: str, value: Value, tag: str, kind: Any) -> UnreadableItem:
    found = tag_of(value)
    content = shown(value[found])
    problem = f"{where}: stored as {found} ({content}), expected {tag} for {_a(kind)}"
    return UnreadableItem(problem, where=where)


def unsuitable(where: str, kind: Any, why: str) -> DeclarationError:
    return DeclarationError(f"{where}: {name_of(kind)} cannot be stored; {why}")


def incomplete(where: str, kind: Any, why: object) -> DeclarationError:
    return DeclarationError(f"{where}: {name_of(kind)} is not complete: {why}")


def shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print ints of more than 4300 digits
        return "a number"
    return text if len(text) <= 80 else text[:79] + "…"


def name_of(kind: Any) -> str:
    if isinstance(kind, type):
        return kind.__name__
    return str(kind).replace("typing.", "")


def _a(kind: Any) -> str:
    noun = name_of(kind)
    return f"an {noun}" if noun[0] in "aeioAEIO" else f"a {noun}"


def _reason(why: object) -> str:
    if isinstance(why, pydantic.ValidationError):
        return "; ".join(
            ": ".join([*map(str, error["loc"]), error["msg"]]) for error in why.errors()
        )
    return str(why)
