"""Symbols: the arguments of a pattern while it is traced.

A pattern is traced when it is defined: its body runs with a symbol for each argument (and again for
values such as None or an empty list), and the plan that it returns has the shape of the pattern. A
symbol can be passed on, called and used in arithmetic, its attributes can be read, and it can be a
member of a list, a set or a dict that is written. An operation whose result depends on the value,
such as a comparison, `if`, `len` or a look-up in a dict, raises DeclarationError, because the shape
would depend on the arguments.

    >>> order = Symbol("order")
    >>> Symbol.text(order.total + 1)
    '{order.total + 1}'

What a symbol stands for is an `Expression`, a value that can be compared. A text that is composed
of symbols, such as a key, is a `SymbolicText`: it reads `ORDER#{order_id}`, and keeps its parts.

    >>> ("ORDER#" + Symbol.text(order.id)).parts
    ('ORDER#', AttributeOf(owner=Argument(name='order'), name='id'))

Nothing reads the text of an expression back.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partialmethod
from opcode import opmap
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import astuple

from tablewright.errors import DeclarationError

#: The instructions of `{a, b}`, `{*tags}`, `{tag for tag in tags}` and the same for dicts.
_DISPLAYS = {
    opmap[name]
    for name in ("BUILD_SET", "SET_ADD", "SET_UPDATE", "BUILD_MAP", "MAP_ADD")
    if name in opmap
}


class Expression(Struct, frozen=True):
    """What a symbol stands for."""

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The expressions that it is made of."""
        return tuple(value for value in astuple(self) if isinstance(value, Expression))

    def walk(self) -> Iterator[Expression]:
        """Yield the expression and, recursively, its operands."""
        yield self
        for operand in self.operands:
            yield from operand.walk()


class Argument(Expression, frozen=True):
    """An argument of a pattern, or an item that an earlier request returned: `order`."""

    name: str

    def __str__(self) -> str:
        return self.name


class AttributeOf(Expression, frozen=True):
    """An attribute: `order.total`."""

    owner: Expression
    name: str

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


class MemberOf(Expression, frozen=True):
    """Any member of a list: `orders[]`."""

    of: Expression

    def __str__(self) -> str:
        return f"{self.of}[]"


class Computed(Expression, frozen=True):
    """The result of a call, an operator or a format: `day({})` of `order.created_at`."""

    #: With {} for each value.
    form: str
    #: Expressions, and the texts of values that are known.
    values: tuple[Expression | str, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        return tuple(value for value in self.values if isinstance(value, Expression))

    def __str__(self) -> str:
        return self.form.format(*self.values)


class SymbolicText(str):
    """A text with unknown parts: `ORDER#{order_id}`."""

    __slots__ = ("parts",)
    #: Non-empty literals and expressions; no two literals are adjacent.
    parts: tuple[str | Expression, ...]

    def __new__(cls, *parts: str | Expression) -> SymbolicText:
        joined: list[str | Expression] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part != "":
                joined.append(part)
        shown = [part if isinstance(part, str) else f"{{{part}}}" for part in joined]
        made = super().__new__(cls, "".join(shown))
        made.parts = tuple(joined)
        return made

    def __add__(self, other: str) -> SymbolicText:
        return SymbolicText(*self.parts, *parts_of(other))

    def __radd__(self, other: str) -> SymbolicText:
        return SymbolicText(*parts_of(other), *self.parts)


def parts_of(text: str) -> tuple[str | Expression, ...]:
    """Return the parts of a text; a plain text is one part."""
    return text.parts if isinstance(text, SymbolicText) else (text,)


class UnknownValue(Exception):
    """The text of a value is needed, but the value is a symbol."""

    def __init__(self, expression: Expression) -> None:
        self.expression = expression


class Symbol:
    """An argument without a value, or an expression of such arguments."""

    __slots__ = ("_expression",)

    def __init__(self, expression: Expression | str) -> None:
        self._expression = Argument(expression) if isinstance(expression, str) else expression

    @staticmethod
    def text(symbol: Symbol) -> SymbolicText:
        """Return the text of a symbol inside a key or a value."""
        return SymbolicText(symbol._expression)

    @staticmethod
    def expression(symbol: Symbol) -> Expression:
        """Return the expression that a symbol stands for."""
        return symbol._expression

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(AttributeOf(self._expression, name))

    def __call__(self, *arguments: Any, **named: Any) -> Symbol:
        marks = ["{}" for _ in arguments] + [f"{name}={{}}" for name in named]
        return _computed(f"{{}}({', '.join(marks)})", self, *arguments, *named.values())

    def __getitem__(self, key: Any) -> Symbol:
        return _computed("{}[{}]", self, key)

    def _left_of(self, operator: str, other: Any) -> Symbol:
        return _computed(f"{{}} {operator} {{}}", self, other)

    def _right_of(self, operator: str, other: Any) -> Symbol:
        return _computed(f"{{}} {operator} {{}}", other, self)

    __add__ = partialmethod(_left_of, "+")
    __sub__ = partialmethod(_left_of, "-")
    __mul__ = partialmethod(_left_of, "*")
    __truediv__ = partialmethod(_left_of, "/")
    __floordiv__ = partialmethod(_left_of, "//")
    __mod__ = partialmethod(_left_of, "%")
    __radd__ = partialmethod(_right_of, "+")
    __rsub__ = partialmethod(_right_of, "-")
    __rmul__ = partialmethod(_right_of, "*")
    __rtruediv__ = partialmethod(_right_of, "/")
    __rfloordiv__ = partialmethod(_right_of, "//")
    __rmod__ = partialmethod(_right_of, "%")

    def __neg__(self) -> Symbol:
        return _computed("-{}", self)

    def __repr__(self) -> str:
        return Symbol.text(self)

    def _refuse(self, *_: Any) -> NoReturn:
        raise DeclarationError(
            f"the code depends on the value of {str(self._expression)!r}, which is not known while "
            "the pattern is traced; compute it before the call, or write one pattern for each case"
        )

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __len__ = __iter__ = __contains__ = __str__ = __format__ = __int__ = __index__ = _refuse

    def __hash__(self) -> int:
        """Return a hash in a set or dict display; refuse a look-up by value."""
        code = sys._getframe(1)
        if code.f_code.co_code[code.f_lasti] in _DISPLAYS:
            return object.__hash__(self)
        raise DeclarationError(
            f"the code looks up {str(self._expression)!r} by its value, which is not known while "
            "the pattern is traced; write one pattern for each case. Write a set of arguments as "
            "{a, b} or {*tags}"
        )


#: The patterns that are being traced. If it is empty, there are no Parameters to check.
TRACES: list[str] = []


class Parameter(Symbol):
    """A parameter of the traced pattern; its name must match the part of a key it is passed for."""

    __slots__ = ()


def contains_symbol(value: Any) -> bool:
    """Return whether a value is or contains a symbol."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(contains_symbol, value))
    if isinstance(value, Mapping):
        return any(contains_symbol(each) for pair in value.items() for each in pair)
    return isinstance(value, Symbol)


def expressions_in(value: Any) -> Iterator[Expression]:
    """Yield all expressions in a value, with their operands."""
    if isinstance(value, (Symbol, Expression)):
        yield from (value._expression if isinstance(value, Symbol) else value).walk()
    elif isinstance(value, SymbolicText):
        for part in value.parts:
            yield from expressions_in(part)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for each in value:
            yield from expressions_in(each)
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from expressions_in(pair)


def expressed(value: Any) -> Any:
    """Return the expression of a symbol; any other value unchanged."""
    return value._expression if isinstance(value, Symbol) else value


def member_of_list(values: Iterable[Any]) -> MemberOf | None:
    """Return the first list member in the expressions of some values; None if there is none."""
    found = (each for value in values for each in expressions_in(value))
    return next((each for each in found if isinstance(each, MemberOf)), None)


def _computed(form: str, *values: Any) -> Symbol:
    shown = [each._expression if isinstance(each, Symbol) else repr(each) for each in values]
    return Symbol(Computed(form, tuple(shown)))
