"""Symbols: arguments of a pattern that are not known yet.

A pattern is traced once, when it is defined: its body runs with a symbol for each argument, and
what it returns is the shape of the pattern. A symbol may be passed on, read attributes of, called
and calculated with; whatever would decide something by its value is an error, for then the shape
would depend on the arguments.

    >>> order = Symbol("order")
    >>> Symbol.text(order.total + 1)
    '{order.total + 1}'
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any, NoReturn

from tablewright.errors import DeclarationError


class Symbol:
    """An argument that is not known yet, or something calculated from one."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        self._expression = expression

    @staticmethod
    def text(symbol: Symbol) -> str:
        """How a symbol is shown inside a key or a value."""
        return f"{{{symbol._expression}}}"

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(f"{self._expression}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Symbol:
        shown = [_shown(argument) for argument in arguments]
        shown += [f"{name}={_shown(argument)}" for name, argument in named.items()]
        return Symbol(f"{self._expression}({', '.join(shown)})")

    def __getitem__(self, key: Any) -> Symbol:
        return Symbol(f"{self._expression}[{_shown(key)}]")

    def _with(self, operator: str, other: Any) -> Symbol:
        return Symbol(f"{self._expression} {operator} {_shown(other)}")

    def _behind(self, other: Any, operator: str) -> Symbol:
        return Symbol(f"{_shown(other)} {operator} {self._expression}")

    __add__ = partialmethod(_with, "+")
    __sub__ = partialmethod(_with, "-")
    __mul__ = partialmethod(_with, "*")
    __truediv__ = partialmethod(_with, "/")
    __floordiv__ = partialmethod(_with, "//")
    __mod__ = partialmethod(_with, "%")

    def __radd__(self, other: Any) -> Symbol:
        return self._behind(other, "+")

    def __rsub__(self, other: Any) -> Symbol:
        return self._behind(other, "-")

    def __rmul__(self, other: Any) -> Symbol:
        return self._behind(other, "*")

    def __neg__(self) -> Symbol:
        return Symbol(f"-{self._expression}")

    def __repr__(self) -> str:
        return Symbol.text(self)

    def _decides(self, *_: Any) -> NoReturn:
        raise DeclarationError(
            f"the value of {self._expression!r} is not known while the pattern is traced, and "
            "something depends on it; compute it before the call, or write one pattern for each "
            "shape"
        )

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _decides
    __len__ = __iter__ = __contains__ = __str__ = __format__ = __int__ = __index__ = _decides
    __hash__ = _decides  # as a key of a dict it would decide, too


def _shown(value: Any) -> str:
    return value._expression if isinstance(value, Symbol) else repr(value)
