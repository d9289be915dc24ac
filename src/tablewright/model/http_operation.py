"""Operations: how the arguments and the result of an access pattern are sent over HTTP.

    @access_pattern
    def finish(task_id: str, by: str, on: date | None = None) -> Update[Task]: ...

    POST /tasks/{task_id}/finish      path: task_id    body: {"by": …, "on": …}    result: Task

A GET or a DELETE sends the other arguments in its query, other requests in their body: as members
of an object, or, if the only one is an object itself, such as an entity, as the whole body. If only
one write of a transaction returns something, that is the whole result. The server and the client of
an API both use this module, so they agree.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.model.annotations import namespace, resolve
from tablewright.model.attribute import Reference
from tablewright.model.pattern import AccessPattern
from tablewright.model.route import Route, is_structured, route_of
from tablewright.plan.inspection import writes_of
from tablewright.plan.plan import Plan
from tablewright.plan.writes.several import Transaction


class HttpOperation(Struct, frozen=True, eq=False):
    """An access pattern as an operation of an HTTP API."""

    pattern: AccessPattern
    route: Route
    #: The names of the parameters in the query, and in the body.
    query: tuple[str, ...]
    body: tuple[str, ...]
    #: Whether the only parameter in the body is the whole body.
    is_whole: bool
    #: The type of what the plan returns, without None; see `only`.
    result: Any
    #: The only write of a transaction that returns something, by its index. The result is its own.
    only: int | None = None

    @property
    def plan(self) -> Plan[Any]:
        """The plan whose result is sent."""
        plan = self.pattern.plan
        if self.only is None or not isinstance(plan, Transaction):
            return plan
        return writes_of(plan)[self.only]

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The default of each parameter; `inspect.Parameter.empty` if it has none."""
        declared = inspect.signature(inspect.unwrap(self.pattern.function)).parameters
        return {name: declared[name].default for name in self.pattern.types}


def operation_of(
    pattern: AccessPattern, route: Route | None = None, *, given: Collection[str] = ()
) -> HttpOperation:
    """Return the operation of a pattern, by its own route unless there is another one.

    The parameters in `given` are not sent. Raise DeclarationError if the route cannot send one.
    """
    route = route_of(pattern) if route is None else route
    others = [name for name in pattern.types if name not in (*route.parameters, *given)]
    if route.method not in ("GET", "DELETE"):
        is_whole = len(others) == 1 and is_structured(pattern.types[others[0]])
        only, result = _only_result(pattern, _result_type(pattern))
        return HttpOperation(pattern, route, (), tuple(others), is_whole, result, only)
    for name in others:
        if is_structured(pattern.types[name]):
            raise DeclarationError(
                f"pattern {pattern.name}: {name} is sent as JSON, which {route} cannot hold in "
                "its path or query; declare a route with POST",
                location=pattern.location,
            )
    only, result = _only_result(pattern, _result_type(pattern))
    return HttpOperation(pattern, route, tuple(others), (), False, result, only)


def _only_result(pattern: AccessPattern, result: Any) -> tuple[int | None, Any]:
    """Return the index and the type of the only result of a transaction that is not None."""
    kinds = get_args(result)
    if isinstance(pattern.plan, Transaction) and get_origin(result) is tuple and ... not in kinds:
        kept = [at for at, kind in enumerate(kinds) if kind not in (None, type(None))]
        if len(kept) == 1 and len(kinds) == len(writes_of(pattern.plan)):
            return kept[0], kinds[kept[0]]
    return None, result


def _result_type(pattern: AccessPattern) -> Any:
    function = inspect.unwrap(pattern.function)
    annotation = inspect.signature(function).return_annotation
    where = f"pattern {pattern.name}: return"
    kind = resolve(annotation, namespace(function.__module__, {}), where)
    bound = _given_to_plan(kind, get_args(kind))
    if bound is None or _is_open(bound):  # such as the entity of a function that makes patterns
        kinds: Any = Union[tuple(entity.type for entity in pattern.entities)]  # noqa: UP007
        return tuple[kinds | None, ...] if isinstance(pattern.plan, Transaction) else kinds
    members = [each for each in get_args(bound) if each is not type(None)]
    is_optional = get_origin(bound) in (Union, UnionType) and len(members) == 1
    return _with_absent_paths(pattern, members[0] if is_optional else bound)


def _with_absent_paths(pattern: AccessPattern, result: Any) -> Any:
    """Return the type of a projection: a member that a path reads may be absent, which is null."""
    columns = getattr(getattr(pattern.plan, "_query", pattern.plan), "_columns", ())
    kinds = get_args(result)
    if get_origin(result) is not tuple or len(kinds) != len(columns):
        return result
    pairs = zip(kinds, columns, strict=True)
    members = (kind if isinstance(each, Reference) else kind | None for kind, each in pairs)
    return tuple.__class_getitem__(tuple(members))


def _given_to_plan(kind: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the T of the `Plan[T]` that a type of plan is, through its bases; or None."""
    origin = get_origin(kind) or kind
    if origin is Plan:
        return arguments[0]
    known = dict(zip(getattr(origin, "__parameters__", ()), arguments, strict=False))
    for base in getattr(origin, "__orig_bases__", ()):
        bound = _given_to_plan(base, tuple(_replace(each, known) for each in get_args(base)))
        if bound is not None:
            return bound
    return None


def _replace(kind: Any, known: Mapping[Any, Any]) -> Any:
    """Return a type with the variables in it replaced."""
    if isinstance(kind, TypeVar):
        return known.get(kind, kind)
    inner = get_args(kind)
    replaced = tuple(_replace(each, known) for each in inner)
    if replaced == inner:
        return kind
    origin: Any = get_origin(kind)
    return Union[replaced] if origin in (Union, UnionType) else origin[replaced]  # noqa: UP007


def _is_open(kind: Any) -> bool:
    return isinstance(kind, TypeVar) or any(map(_is_open, get_args(kind)))
