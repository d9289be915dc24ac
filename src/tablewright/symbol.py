"""Symbols: the arguments of a pattern while it is traced.

A pattern is traced once, when it is defined: its body runs with a symbol for each argument, and the
plan that it returns has the shape of the pattern. A symbol can be passed on, called and used in
arithmetic, its attributes can be read, and it can be a member of a list, a set or a dict that is
written. An operation whose result depends on the value (a comparison, `if`, `len`, a look-up in a
dict) raises DeclarationError, because the shape would depend on the arguments.

    >>> order = Symbol("order")
    >>> Symbol.text(order.total + 1)
    '{order.total + 1}'
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import partialmethod
from opcode import opmap
from typing import Any, NoReturn

from tablewright.errors import DeclarationError

#: The instructions of `{a, b}`, `{*tags}`, `{tag for tag in tags}` and the same for dicts.
_DISPLAYS = {
    opmap[name]
    for name in ("BUILD_SET", "SET_ADD", "SET_UPDATE", "BUILD_MAP", "MAP_ADD")
    if name in opmap
}


class Symbol:
    """An argument without a value, or an expression of such arguments."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        self._expression = expression

    @staticmethod
    def text(symbol: Symbol) -> str:
        """Return the text of a symbol inside a key or a value."""
        return f"{{{symbol._expression}}}"

    @staticmethod
    def expression(symbol: Symbol) -> str:
        """Return the expression that a symbol stands for."""
        return symbol._expression

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(f"{self._expression}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Symbol:
        shown = [_expression_of(argument) for argument in arguments]
        shown += [f"{name}={_expression_of(argument)}" for name, argument in named.items()]
        return Symbol(f"{self._expression}({', '.join(shown)})")

    def __getitem__(self, key: Any) -> Symbol:
        return Symbol(f"{self._expression}[{_expression_of(key)}]")

    def _left_of(self, operator: str, other: Any) -> Symbol:
        return Symbol(f"{self._expression} {operator} {_expression_of(other)}")

    def _right_of(self, other: Any, operator: str) -> Symbol:
        return Symbol(f"{_expression_of(other)} {operator} {self._expression}")

    __add__ = partialmethod(_left_of, "+")
    __sub__ = partialmethod(_left_of, "-")
    __mul__ = partialmethod(_left_of, "*")
    __truediv__ = partialmethod(_left_of, "/")
    __floordiv__ = partialmethod(_left_of, "//")
    __mod__ = partialmethod(_left_of, "%")

    def __radd__(self, other: Any) -> Symbol:
        return self._right_of(other, "+")

    def __rsub__(self, other: Any) -> Symbol:
        return self._right_of(other, "-")

    def __rmul__(self, other: Any) -> Symbol:
        return self._right_of(other, "*")

    def __neg__(self) -> Symbol:
        return Symbol(f"-{self._expression}")

    def __repr__(self) -> str:
        return Symbol.text(self)

    def _refuse(self, *_: Any) -> NoReturn:
        raise DeclarationError(
            f"the code depends on the value of {self._expression!r}, which is not known while the "
            "pattern is traced; compute it before the call, or write one pattern for each case"
        )

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __len__ = __iter__ = __contains__ = __str__ = __format__ = __int__ = __index__ = _refuse

    def __hash__(self) -> int:
        """Return a hash where a set or a dict is written down; refuse a look-up by value."""
        code = sys._getframe(1)
        if code.f_code.co_code[code.f_lasti] in _DISPLAYS:
            return object.__hash__(self)
        raise DeclarationError(
            f"the code looks up {self._expression!r} by its value, which is not known while the "
            "pattern is traced; write one pattern for each case. Write a set of arguments as "
            "{a, b} or {*tags}"
        )


#: The names of the patterns that are being traced: without any, there is no Parameter to look for.
TRACES: list[str] = []


class Parameter(Symbol):
    """A parameter of the pattern itself, whose name says which part of a key it is for."""

    __slots__ = ()


def contains_symbol(value: Any) -> bool:
    """Return whether a value, or one inside of it, is known only when a traced pattern runs."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(contains_symbol, value))
    if isinstance(value, Mapping):
        return any(contains_symbol(each) for pair in value.items() for each in pair)
    return isinstance(value, Symbol)


def member_of_list(values: Iterable[Any]) -> str:
    """Return `orders[].` if one of the values is of a member of the argument `orders`, else ""."""
    for value in values:
        found = re.match(r"\w+\[\]", value._expression) if isinstance(value, Symbol) else None
        if found is not None:
            return f"{found[0]}."
    return ""


def _expression_of(value: Any) -> str:
    return value._expression if isinstance(value, Symbol) else repr(value)
