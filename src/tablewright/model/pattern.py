"""Patterns: access patterns as typed functions that return plans.

    @pattern
    def customer_timeline(customer_id: str) -> Many[Order]:
        '''Customer timeline, newest first.'''
        return Order.timeline(customer_id).newest_first()

When it is defined, a pattern runs once with symbols for its arguments. What it returns then is
its shape: `explain(customer_timeline)` shows it, `patterns(Commerce)` lists all of a table. A
pattern that would need an undeclared scan, or whose shape depends on its arguments, is an error
there and then. A call runs the function as it is written.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from tablewright.errors import ModelError
from tablewright.mapping.entity import EntityMap
from tablewright.model.table import Table
from tablewright.plan.plan import Plan
from tablewright.plan.shape import Shape
from tablewright.symbol import Symbol

Ps = ParamSpec("Ps")
T = TypeVar("T", bound=Plan[Any])


class Pattern(Struct, frozen=True):
    """A traced pattern."""

    name: str
    doc: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    plan: Plan[Any]
    shape: Shape


_PATTERNS: dict[str, Pattern] = {}


def pattern(function: Callable[Ps, T]) -> Callable[Ps, T]:
    """Declare an access pattern: trace it now, and let it be called as it is."""
    name = function.__name__
    hints = _hints(function, sys._getframe(1).f_locals)
    plan, shape = _traced(function, {name: symbolic(name, hint) for name, hint in hints.items()})
    for parameter, hint in hints.items():
        if type(None) in get_args(hint):
            _refuse_dependence_on_none(function, hints, parameter, shape)
    label = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def call(*arguments: Ps.args, **named: Ps.kwargs) -> T:
        made = function(*arguments, **named)
        made.pattern = label  # what cursors are bound to
        return made

    call.__pattern__ = _PATTERNS[label] = Pattern(  # type: ignore[attr-defined]
        name=name,
        doc=inspect.getdoc(function) or "",
        function=call,
        parameters=tuple(hints),
        plan=plan,
        shape=shape,
    )
    return call


def explain(function: Callable[..., Any]) -> Shape:
    """What a pattern asks of DynamoDB: operation, index, key condition, order, page, units."""
    traced = getattr(function, "__pattern__", None)
    if not isinstance(traced, Pattern):
        name = getattr(function, "__name__", repr(function))
        raise ModelError(f"{name} is not a pattern; decorate it with @pattern")
    return traced.shape


def patterns(table: type[Table]) -> list[Pattern]:
    """Every pattern of a table, in the order they were defined."""
    return [
        traced
        for traced in _PATTERNS.values()
        if any(entity.table is table.__table__ for entity in traced.plan.entities())
    ]


# -- tracing -------------------------------------------------------------------------------------


def _traced(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Plan[Any], Shape]:
    """What a function returns for these arguments, and the shape of that."""
    name = function.__name__
    positional, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = arguments[parameter.name]
        elif parameter.kind is not parameter.VAR_KEYWORD:
            positional.append(arguments[parameter.name])
    try:
        plan = function(*positional, **named)
        if not isinstance(plan, Plan):
            raise ModelError(f"it returns {plan!r}, not a plan")
        return plan, plan.shape()
    except ModelError as error:
        raise ModelError(f"pattern {name}: {error}") from None
    except TypeError as error:
        told = f"pattern {name}: {error}; is every argument passed on as it is?"
        raise ModelError(told) from error


def _refuse_dependence_on_none(
    function: Callable[..., Any], hints: dict[str, Any], parameter: str, shape: Shape
) -> None:
    """`None` is no symbol, and can be looked at; so what it leads to is looked at here."""
    arguments = {name: symbolic(name, hint) for name, hint in hints.items()}
    try:
        _, other = _traced(function, arguments | {parameter: None})
    except Exception:
        return  # it does not take None, whatever its annotation says
    if (other.operation, other.index, other.order) != (shape.operation, shape.index, shape.order):
        raise ModelError(
            f"pattern {function.__name__}: its shape depends on whether {parameter!r} is None: "
            f"{shape.operation} or {other.operation}; write one pattern for each"
        )


def _hints(function: Callable[..., Any], local: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a function, and their types."""
    module = sys.modules.get(function.__module__)
    names = {**vars(builtins), **(vars(module) if module else {}), **local}
    hints: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = parameter.annotation
        if isinstance(hint, str):
            try:
                hint = eval(hint, names)
            except Exception as error:
                raise ModelError(
                    f"pattern {function.__name__}: the annotation {hint!r} cannot be evaluated: "
                    f"{error}"
                ) from None
        if parameter.kind is not parameter.VAR_KEYWORD:
            hints[parameter.name] = hint
    return hints


def symbolic(name: str, hint: Any) -> Any:
    """What stands for an argument of this type while a pattern is traced."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return symbolic(name, kinds[0]) if len(kinds) == 1 else Symbol(name)
    if isinstance(hint, type) and isinstance(getattr(hint, "__entity__", None), EntityMap):
        entity: EntityMap = hint.__entity__  # type: ignore[attr-defined]
        return entity.symbolic(name)
    if _is_collection(origin) and get_args(hint):
        return [symbolic(f"{name}[]", get_args(hint)[0])]
    return Symbol(name)


def _is_collection(origin: Any) -> bool:
    return (
        isinstance(origin, type)
        and issubclass(origin, collections.abc.Iterable)
        and not issubclass(origin, collections.abc.Mapping)
    )
