"""Stored forms: how a reader gets the values of the most common types.

    a type         as msgspec decodes it            the expression for its value
    int            a struct with `N: str`           int(f0.N)
    datetime       a struct with `S: str`           moment(f1.S)
    a dataclass    a struct for each of its maps    Address(street=f2.M.street.S)

The same expressions, with `['N']` in place of `.N`, read items whose values are dicts. A struct is
decoded in less time than a dict, and msgspec checks its tag: a page of 20 orders of ten attributes
takes a sixth less time.

Invariant: an expression gives what the converter's `decode` gives, or raises. Values that it cannot
read, also readable ones in unusual spellings, are left to the converter. This module must not know
entities, items or keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct, defstruct

from tablewright.mapping.converters import Converter

#: Returns the access to a member of a map: `.name` or `['name']`.
Member: TypeAlias = Callable[[str], str]


def of_struct(name: str) -> str:
    return f".{name}"


def of_dict(name: str) -> str:
    return f"[{name!r}]"


# gc=False: values contain no cycles.


class TextValue(Struct, gc=False):
    S: str


class NumberValue(Struct, gc=False):
    N: str


class BoolValue(Struct, gc=False):
    BOOL: bool


class TextSetValue(Struct, gc=False):
    SS: list[str]


class _Scalar(Struct, frozen=True):
    """The form of values without parts."""

    #: What msgspec decodes a stored value as.
    type: Any
    tag: str
    #: Takes the content.
    expression: str
    #: The function in the expression; None if it is a builtin.
    function: Any = None

    def value(self, stored: str, member: Member, names: dict[str, Any]) -> str:
        """Return the expression that decodes a stored value; add the names that it uses."""
        function = ""
        if self.function is not None:
            function = f"function{len(names)}"
            names[function] = self.function
        return self.expression.format(function=function, content=stored + member(self.tag))


class _Dataclass(Struct, frozen=True):
    """The form of dataclasses, which are stored as maps."""

    type: Any
    kind: Any
    #: The form of each field, by its name.
    fields: dict[str, StoredForm]

    def value(self, stored: str, member: Member, names: dict[str, Any]) -> str:
        kind = f"type{len(names)}"
        names[kind] = self.kind
        content = stored + member("M")
        values = [
            f"{name}={form.value(content + member(name), member, names)}"
            for name, form in self.fields.items()
        ]
        return f"{kind}({', '.join(values)})"


#: How values of one type are decoded and read.
StoredForm: TypeAlias = _Scalar | _Dataclass


def _moment(text: str) -> datetime:
    """Return the moment; raise ValueError if it is not written in UTC."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not UTC:
        raise ValueError(text)
    return moment


#: Not a dict by type: some types cannot be hashed, such as `list[Annotated[int, []]]`.
_SCALARS: tuple[tuple[Any, _Scalar], ...] = (
    (str, _Scalar(TextValue, "S", "{content}")),
    (bool, _Scalar(BoolValue, "BOOL", "{content}")),
    (int, _Scalar(NumberValue, "N", "int({content})")),
    (Decimal, _Scalar(NumberValue, "N", "{function}({content})", Decimal)),
    (set[str], _Scalar(TextSetValue, "SS", "set({content})")),
    (datetime, _Scalar(TextValue, "S", "{function}({content})", _moment)),
)


def stored_form(converter: Converter) -> StoredForm | None:
    """Return the form of the values of a converter; None if only the converter can read them."""
    if converter.optional or converter.codec:
        return None
    kind = converter.kind
    for scalar, form in _SCALARS:
        if kind == scalar and converter.tag == form.tag:
            return form
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Enum):
        return _enum(kind)
    return _dataclass(converter) if dataclasses.is_dataclass(kind) else None


def _enum(kind: type[Enum]) -> StoredForm | None:
    members = {member.value: member for member in kind}
    if not all(type(value) is str for value in members):
        return None
    return _Scalar(TextValue, "S", "{function}[{content}]", members)


def _dataclass(converter: Converter) -> StoredForm | None:
    fields: dict[str, StoredForm] = {}
    for name, part in (converter.fields or {}).items():
        form = None if part is None or part.empty is not None else stored_form(part)
        if form is None:
            return None
        fields[name] = form
    if not fields:
        return None
    content = defstruct("Map", [(name, form.type) for name, form in fields.items()], gc=False)
    return _Dataclass(defstruct("MapValue", [("M", content)], gc=False), converter.kind, fields)
