"""Patterns: access patterns as typed functions that return plans.

    @access_pattern
    def customer_timeline(customer_id: str) -> Query[Order]:
        '''Customer timeline, newest first.'''
        return Order.timeline(customer_id).desc()

When it is defined, a pattern runs once with symbols for its arguments. The plan that it returns has
the shape of the pattern: `explain(customer_timeline)` shows it, `access_patterns(Commerce)` lists
all patterns of a table. A pattern that would need an undeclared scan, whose shape depends on its
arguments, or which passes them to a key in the wrong order raises DeclarationError at that point. A
call runs the function unchanged.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, overload

import pydantic
from msgspec import Struct

from tablewright.errors import (
    DeclarationError,
    InvalidValue,
    TablewrightError,
    is_internal,
    location_of,
)
from tablewright.hints import did_you_mean
from tablewright.mapping.entity import EntityMap
from tablewright.model.annotations import namespace, resolve
from tablewright.model.entity import Entity
from tablewright.model.idempotency import once_shape, read_idempotency
from tablewright.model.route import Route, read_route
from tablewright.model.table import Table
from tablewright.model.where import WouldScan
from tablewright.plan.plan import Plan
from tablewright.plan.shape import Shape
from tablewright.symbol import TRACES, Argument, Expression, MemberOf, Parameter, Symbol

#: Matches the messages of Python for a call with wrong arguments.
_is_wrong_call = re.compile(r"\S+\(\) (takes |missing \d|got an unexpected |got multiple )").match

Ps = ParamSpec("Ps")
T = TypeVar("T", bound=Plan[Any])


class AccessPattern(Struct, frozen=True):
    """A traced pattern."""

    name: str
    doc: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    #: The types of the parameters.
    types: Mapping[str, Any]
    plan: Plan[Any]
    #: The role of programs that run it, for which a policy is published; "" if none is named.
    role: str = ""
    #: How many times it is called in a second, on average; None if that is not declared.
    rate: float | None = None
    #: The route in an HTTP API that it declares.
    route: Route | None = None
    #: The record of each request with an Idempotency-Key in an HTTP API; None if it takes none.
    idempotency: EntityMap | None = None

    @property
    def label(self) -> str:
        """The name with its module: `shop.patterns.orders_by_status`."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    @property
    def location(self) -> str:
        """Where it is defined, as `file:line`."""
        return _line_of(self.function)

    @property
    def shape(self) -> Shape:
        """The shape, given all entities that its table has so far."""
        return self.plan._shape()

    @property
    def api_shape(self) -> Shape:
        """The shape of its operation in an HTTP API: with the record of an Idempotency-Key."""
        record = self.idempotency
        return self.shape if record is None else once_shape(self.plan, record)

    @property
    def entities(self) -> tuple[EntityMap, ...]:
        """Every entity that its plan reads or writes."""
        return self.plan._entities()


@overload
def access_pattern(function: Callable[Ps, T], /) -> Callable[Ps, T]: ...
@overload
def access_pattern(
    *,
    rebinds: tuple[str, ...] = (),
    role: str = "",
    rate: float | None = None,
    route: str | None = None,
    idempotency: type[Entity] | None = None,
) -> Callable[[Callable[Ps, T]], Callable[Ps, T]]: ...
def access_pattern(
    function: Callable[Ps, T] | None = None,
    /,
    *,
    rebinds: tuple[str, ...] = (),
    role: str = "",
    rate: float | None = None,
    route: str | None = None,
    idempotency: type[Entity] | None = None,
) -> Callable[Ps, T] | Callable[[Callable[Ps, T]], Callable[Ps, T]]:
    """Declare an access pattern: trace the function once; calls run it unchanged.

    A parameter with the name of one part of a key must not be passed for another part, except those
    in `rebinds`. `role` names the programs that run the pattern: `tablewright publish iam` writes a
    policy for each role. `rate` is the average number of calls in a second, for `tablewright cost`.
    `route`, such as `"GET /orders/{order_id}"`, exposes it in the HTTP API of the design. There, a
    request of a pattern with `idempotency` needs an Idempotency-Key, and is applied once: the
    entity is the record of its response, which is written in the same transaction.
    """
    if function is not None:
        return _declare(function, (), "", None, None, None, sys._getframe(1).f_locals)
    return lambda decorated: _declare(
        decorated, rebinds, role, rate, route, idempotency, sys._getframe(1).f_locals
    )


def _declare(
    function: Callable[Ps, T],
    rebinds: tuple[str, ...],
    role: str,
    rate: float | None,
    route: str | None,
    idempotency: type[Entity] | None,
    local: Mapping[str, Any],
) -> Callable[Ps, T]:
    name = function.__name__
    if rate is not None and not 0 <= rate < math.inf:
        raise DeclarationError(
            f"pattern {name}: rate={rate!r} must be the number of calls in a second, 0 or more"
        )
    if inspect.iscoroutinefunction(function):
        raise DeclarationError(
            f"pattern {name} is async; a pattern only makes a plan: define it without async"
        )
    if not isinstance(rebinds, tuple):
        raise DeclarationError(
            f"pattern {name}: rebinds={rebinds!r} must be a tuple of names, such as ('owner',)"
        )
    hints = _hints(function, local)
    for rebound in rebinds:
        if rebound not in hints:
            raise DeclarationError(
                f"pattern {name}: rebinds={rebinds!r} names {rebound!r}, which is not a parameter"
                f"{did_you_mean(rebound, hints)}"
            )
    plan, shape = _trace(function, _symbols(hints, rebinds))
    for parameter, hint in hints.items():
        for value in alternatives(parameter, hint):
            arguments = _symbols(hints, rebinds) | {parameter: value}
            _refuse_dependence(function, arguments, parameter, shape)
    label = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def call(*arguments: Ps.args, **named: Ps.kwargs) -> T:
        return function(*arguments, **named)._replace(_pattern=label)  # cursors are bound to it

    traced = AccessPattern(
        name=name,
        doc=inspect.getdoc(function) or "",
        function=call,
        parameters=tuple(hints),
        types=hints,
        plan=plan,
        role=role,
        rate=rate,
        route=None if route is None else read_route(route, name, hints, plan),
        idempotency=None
        if idempotency is None
        else read_idempotency(idempotency, name, hints, plan),
    )
    call.__pattern__ = traced  # type: ignore[attr-defined]
    for table in {entity.table for entity in plan._entities()}:
        table.patterns[label] = traced
    return call


def explain(function: Callable[..., Any] | AccessPattern | Plan[Any]) -> Shape:
    """Return the shape of a pattern or a plan: operation, index, key condition, order, …"""
    if isinstance(function, Plan):
        return function._shape()
    return traced_pattern(function).shape


def traced_pattern(function: Callable[..., Any] | AccessPattern) -> AccessPattern:
    """Return the traced pattern of a function; raise DeclarationError if it is none."""
    traced = getattr(function, "__pattern__", function)
    if not isinstance(traced, AccessPattern):
        name = getattr(function, "__name__", repr(function))
        raise DeclarationError(f"{name} is not a pattern; decorate it with @access_pattern")
    return traced


def access_patterns(table: type[Table]) -> list[AccessPattern]:
    """Return every access pattern of a table, in the order of definition."""
    return list(table.__table__.patterns.values())


def why_scan(function: Callable[..., Any]) -> WouldScan:
    """Return the error of a query that would be a scan; raise DeclarationError if it is not."""
    hints = _hints(function, {})
    try:
        function(**{name: symbolic(Argument(name), hint) for name, hint in hints.items()})
    except WouldScan as refusal:
        return refusal
    raise DeclarationError(
        f"{function.__name__} is not inefficient: a key serves it; declare it with @access_pattern"
    )


def refuses(pattern: AccessPattern, name: str, value: object) -> bool:
    """Return whether a pattern takes no such argument, whatever its other arguments are."""
    arguments = {each: symbolic(Argument(each), hint) for each, hint in pattern.types.items()}
    try:
        _trace(inspect.unwrap(pattern.function), arguments | {name: value})
    except DeclarationError as error:
        return isinstance(error.__cause__, InvalidValue)
    return False


# -- tracing -------------------------------------------------------------------------------------


def _trace(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Plan[Any], Shape]:
    """Return the plan of a function for these arguments, and its shape."""
    name = function.__name__
    positional, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = arguments[parameter.name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            positional += arguments[parameter.name]
        elif parameter.kind is not parameter.VAR_KEYWORD:
            positional.append(arguments[parameter.name])
    TRACES.append(name)
    try:
        plan = function(*positional, **named)
        if not isinstance(plan, Plan):
            hint = "; is a return statement missing?" if plan is None else ""
            raise DeclarationError(f"it returns {plan!r}, not a plan{hint}")
        return plan, plan._shape()
    except DeclarationError as error:
        raise DeclarationError(
            f"pattern {name}: {error.message}", location=error.location
        ) from None
    except TablewrightError as error:
        place = location_of(error) or _line_of(function)
        raise DeclarationError(f"pattern {name}: {error}", location=place) from error
    except Exception as error:
        message = f"pattern {name}: {type(error).__name__}: {error}{_hint(error)}"
        raise DeclarationError(message, location=location_of(error)) from error
    finally:
        TRACES.pop()


def _line_of(function: Callable[..., Any]) -> str:
    """Return `file:line` of a function, for an error in the plan that it has returned."""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _hint(error: Exception) -> str:
    """Return the end of a message: how to fix an exception in the code of a pattern."""
    if isinstance(error, AttributeError):  # symbols have every attribute
        return did_you_mean(error.name or "", dir(error.obj)) if error.obj is not None else ""
    if isinstance(error, NameError) or _is_wrong_call(str(error)) or _is_ours(error):
        return ""
    return (
        ". While a pattern is traced, its arguments have no values; compute with them before the "
        "call, and pass the result"
    )


def _is_ours(error: Exception) -> bool:
    """Return whether this package raised the exception; then its message names the fix."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and is_internal(traceback.tb_frame)


def alternatives(name: str, hint: Any) -> list[Any]:
    """Return further arguments to trace: None, flags, enum members, lists of other lengths."""
    if get_origin(hint) in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        inside = [value for kind in kinds for value in alternatives(name, kind)]
        return inside + ([None] if type(None) in get_args(hint) else [])
    if hint is bool:
        return [True, False]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)
    if _is_collection(get_origin(hint)) and get_args(hint):
        member = functools.partial(symbolic, MemberOf(Argument(name)), get_args(hint)[0])
        return [[], [member(), member()]]
    return []


def _refuse_dependence(
    function: Callable[..., Any], arguments: dict[str, Any], parameter: str, shape: Shape
) -> None:
    """Raise DeclarationError if these arguments give the pattern another shape."""
    try:
        _, other = _trace(function, arguments)
    except Exception:
        return  # the function does not accept that value, although its annotation does
    is_empty = arguments[parameter] == []  # an empty list may need fewer requests
    is_same = (shape.operation, shape.order) == (other.operation, other.order) and all(
        part == whole or (is_empty and part < whole)
        for part, whole in zip(_parts(other), _parts(shape), strict=True)
    )
    if not is_same:
        one, two = (
            " ".join(filter(None, [each.operation, each.index, each.order]))
            for each in (shape, other)
        )
        raise DeclarationError(
            f"pattern {function.__name__}: its shape depends on {parameter!r}: {one}, or {two} for "
            f"{arguments[parameter]!r}; write one pattern for each"
        )


def _parts(shape: Shape) -> list[set[int]]:
    """Return the tables, the entities and the indexes of a shape, by identity."""
    return [set(map(id, each)) for each in (shape.tables, shape.targets, shape.indexes)]


def _hints(function: Callable[..., Any], local: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types of the parameters; `local` has the variables of the code around it."""
    names = namespace(function.__module__, local)
    hints = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            where = f"pattern {function.__name__}: {parameter.name}"
            hint = resolve(parameter.annotation, names, where)
            is_several = parameter.kind is parameter.VAR_POSITIONAL
            hints[parameter.name] = tuple[hint, ...] if is_several else hint  # type: ignore[valid-type]
    return hints


def _symbols(hints: dict[str, Any], rebinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the symbolic argument for each parameter."""
    symbols = {name: symbolic(Argument(name), hint) for name, hint in hints.items()}
    return {
        name: Parameter(name) if type(each) is Symbol and name not in rebinds else each
        for name, each in symbols.items()
    }


def symbolic(expression: Expression, hint: Any) -> Any:
    """Return the symbol, or entity or list of symbols, for an argument of this type."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return symbolic(expression, kinds[0]) if len(kinds) == 1 else Symbol(expression)
    if isinstance(hint, type) and isinstance(getattr(hint, "__entity__", None), EntityMap):
        entity: EntityMap = hint.__entity__  # type: ignore[attr-defined]
        return entity.symbolic(expression)
    if isinstance(hint, type) and hasattr(hint, "__entity_type__"):  # an Input or a Patch
        return hint._symbolic(expression)  # type: ignore[attr-defined]
    if _is_collection(origin) and get_args(hint):
        return [symbolic(MemberOf(expression), get_args(hint)[0])]
    return Symbol(expression)


def _is_collection(origin: Any) -> bool:
    return (
        isinstance(origin, type)
        and issubclass(origin, collections.abc.Iterable)
        and not issubclass(origin, collections.abc.Mapping)
    )


# -- arguments as texts ---------------------------------------------------------------------------
#
# Those of a command line or a form. Pydantic validates each text with the type of its parameter: a
# text as it is; numbers, times and enums from their usual spelling; entities, lists and anything
# else from JSON. A parameter whose type allows None may be left out, even without a default.

#: The number of problems of one value that a message lists.
MAX_PROBLEMS = 3


def signature_of(pattern: AccessPattern) -> str:
    """Return the name and the parameters as the source has them: `orders(status: str)`."""
    parameters = []
    for parameter in _parameters(pattern):
        annotation = parameter.annotation
        kind = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parameters.append(f"{parameter.name}: {kind}{default}")
    return f"{pattern.name}({', '.join(parameters)})"


def plan_of(pattern: AccessPattern, texts: Mapping[str, str]) -> Plan[Any]:
    """Return the plan of a pattern for these arguments; raise InvalidValue if they do not fit."""
    parameters = {parameter.name: parameter for parameter in _parameters(pattern)}
    for name in texts:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f": {signature_of(pattern)}"
            raise InvalidValue(f"{pattern.name} has no argument {name!r}{hint}")
    values: dict[str, Any] = {}
    missing = []
    for name, parameter in parameters.items():
        if name in texts:
            values[name] = parse_argument(pattern, name, texts[name])
        elif parameter.default is parameter.empty:
            if NoneType in get_args(pattern.types[name]):
                values[name] = None
            else:
                missing.append(name)
    if missing:
        raise InvalidValue(
            f"{pattern.name} needs {' and '.join(f'{name}=…' for name in missing)}: "
            f"{signature_of(pattern)}"
        )
    plan: Plan[Any] = pattern.function(**values)
    return plan


def parse_argument(pattern: AccessPattern, name: str, text: str) -> Any:
    """Return the value of a text; raise InvalidValue if it does not fit the parameter's type."""
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(pattern.types[name])
    try:
        return adapter.validate_python(text)
    except pydantic.ValidationError as error:
        failure = error
    try:
        return adapter.validate_json(text)
    except pydantic.ValidationError as error:
        is_json = error.errors(include_url=False)[0]["type"] != "json_invalid"
        if is_json or text.lstrip().startswith(("{", "[")):
            failure = error
    found = failure.errors(include_url=False)
    problems = []
    for problem in found[:MAX_PROBLEMS]:
        where = ".".join(map(str, problem["loc"]))
        problems.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    if len(found) > MAX_PROBLEMS:
        problems.append(f"and {len(found) - MAX_PROBLEMS} more")
    raise InvalidValue(f"{pattern.name}: {name}={text}: {'; '.join(problems)}")


def _parameters(pattern: AccessPattern) -> list[inspect.Parameter]:
    signature = inspect.signature(pattern.function)
    return [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
