"""Symbols: the arguments of a pattern while it is traced.

A pattern is traced once, when it is defined: its body runs with a symbol for each argument, and the
plan that it returns has the shape of the pattern. A symbol can be passed on, called and used in
arithmetic, and its attributes can be read. An operation whose result depends on the value (a
comparison, `if`, `len`) raises DeclarationError, because the shape would depend on the arguments.

    >>> order = Symbol("order")
    >>> Symbol.text(order.total + 1)
    '{order.total + 1}'
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any, NoReturn

from tablewright.errors import DeclarationError


class Symbol:
    """An argument without a value, or an expression of such arguments."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        self._expression = expression

    @staticmethod
    def text(symbol: Symbol) -> str:
        """Return the text of a symbol inside a key or a value."""
        return f"{{{symbol._expression}}}"

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
    __hash__ = _refuse  # a dict finds a key by its value


def _expression_of(value: Any) -> str:
    return value._expression if isinstance(value, Symbol) else repr(value)
