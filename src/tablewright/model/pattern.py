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


_PATTERNS: dict[str, list[Pattern]] = {}


def pattern(function: Callable[Ps, T]) -> Callable[Ps, T]:
    """Declare an access pattern: trace it now, and let it be called as it is."""
    name = function.__name__
    trace: Callable[..., Any] = function
    try:
        plan = trace(*_symbols(function, sys._getframe(1).f_locals))
    except ModelError as error:
        raise ModelError(f"pattern {name}: {error}") from None
    except TypeError as error:
        raise ModelError(
            f"pattern {name}: {error}; is every argument passed on as it is?"
        ) from error
    if not isinstance(plan, Plan):
        raise ModelError(f"pattern {name} returns {plan!r}, not a plan")
    try:
        shape = plan.shape()
    except ModelError as error:
        raise ModelError(f"pattern {name}: {error}") from None
    label = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def call(*arguments: Ps.args, **named: Ps.kwargs) -> T:
        made = function(*arguments, **named)
        made.pattern = label  # what cursors are bound to
        return made

    traced = Pattern(
        name=name,
        doc=inspect.getdoc(function) or "",
        function=call,
        parameters=tuple(inspect.signature(function).parameters),
        plan=plan,
        shape=shape,
    )
    call.__pattern__ = traced  # type: ignore[attr-defined]
    for table in shape.table.split(", "):
        known = _PATTERNS.setdefault(table, [])
        known[:] = [other for other in known if _label(other) != label] + [traced]
    return call


def _label(traced: Pattern) -> str:
    return f"{traced.function.__module__}.{traced.function.__qualname__}"


def explain(function: Callable[..., Any]) -> Shape:
    """What a pattern asks of DynamoDB: operation, index, key condition, order, page, units."""
    traced = getattr(function, "__pattern__", None)
    if not isinstance(traced, Pattern):
        name = getattr(function, "__name__", repr(function))
        raise ModelError(f"{name} is not a pattern; decorate it with @pattern")
    return traced.shape


def patterns(table: type[Table]) -> list[Pattern]:
    """Every pattern of a table, in the order they were defined."""
    return list(_PATTERNS.get(table.__table__.name, ()))


# -- tracing -------------------------------------------------------------------------------------


def _symbols(function: Callable[..., Any], local: Mapping[str, Any]) -> list[Any]:
    """A symbol for each parameter; for an entity, one of its kind with symbols inside."""
    module = sys.modules.get(function.__module__)
    names = {**vars(builtins), **(vars(module) if module else {}), **local}
    symbols = []
    for parameter in inspect.signature(function).parameters.values():
        hint = parameter.annotation
        if isinstance(hint, str):
            try:
                hint = eval(hint, names)
            except Exception as error:
                raise ModelError(f"the annotation {hint!r} cannot be evaluated: {error}") from None
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        symbols.append(symbolic(parameter.name, hint))
    return symbols


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
