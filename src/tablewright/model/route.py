"""Routes: the method and the path of an access pattern in an HTTP API.

    @access_pattern(route="GET /customers/{customer_id}/orders")
    def customer_orders(customer_id: str) -> Query[Order]: ...

A parameter in the path is a part of it; the others are in the query, or in the body of a request
that writes. A pattern without a route of its own has a default one, which follows from the pattern
alone, so a new pattern never changes the route of another one:

    Get[Order]                  order(customer_id, order_id)     GET /customers/{customer_id}/orders/{order_id}
    Query[Order]                orders(customer_id)              GET /customers/{customer_id}/orders
    Create, Put, Upsert         add_order(order)                 POST /orders, PUT /orders
    Update by a Patch           edit(order_id, patch)            PATCH /orders/{order_id}
    Delete                      drop(order_id)                   DELETE /orders/{order_id}
    any other read              first_orders(customer_id, n)     GET /customers/{customer_id}/first-orders?n=…
    any other write             pay(order_id, amount)            POST /orders/{order_id}/pay {"amount": …}

The path has the parameters that the key must equal, each behind the plural of its name without
`_id`, or of the entity that they identify: `/libraries/{library}/books/{isbn}`. This module must
not know FastAPI.
"""  # noqa: E501 - a table reads better than its wrapped form

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.plan.plan import Plan
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.query import Query
from tablewright.plan.writes.collection import DeleteAggregate
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.returning import ReturningOld
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.upsert import Upsert
from tablewright.symbol import Argument, expressions_in, parts_of

if TYPE_CHECKING:
    from tablewright.model.pattern import AccessPattern

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

_ROUTE = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S*)")
_SEGMENT = re.compile(r"\{(?P<name>[A-Za-z_]\w*)\}|[A-Za-z0-9._~-]+")
#: Comparisons of a sort key that say what it begins with.
_FIXING = ("=", "begins_with", "between")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


class Route(Struct, frozen=True):
    """The method and the path of an access pattern."""

    method: str
    path: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in the path, in its order."""
        found = map(_SEGMENT.fullmatch, self.path.strip("/").split("/"))
        return tuple(each["name"] for each in found if each is not None and each["name"])

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def read_route(text: object, name: str, types: Mapping[str, Any], plan: Plan[Any]) -> Route:
    """Return the declared route of a pattern; raise DeclarationError if it cannot be one.

    `types` are the types of the parameters of the pattern with this name.
    """
    found = _ROUTE.fullmatch(text) if isinstance(text, str) else None
    if found is None or found["method"] not in METHODS:
        raise DeclarationError(
            f"pattern {name}: route={text!r} must be a method and a path, such as "
            f"'GET /orders/{{order_id}}'; the methods are {', '.join(METHODS)}"
        )
    route = Route(found["method"], found["path"])
    segments = route.path.removeprefix("/").split("/") if route.path != "/" else []
    for segment in segments:
        if _SEGMENT.fullmatch(segment) is None:
            raise DeclarationError(
                f"pattern {name}: route={text!r}: {segment!r} cannot be a part of a path; use "
                "letters, digits, '-', '.', '_' and '~', or one parameter, such as {order_id}"
            )
    for each in route.parameters:
        if each not in types:
            raise DeclarationError(
                f"pattern {name}: route={text!r} has {{{each}}}, which is not a parameter"
                f"{did_you_mean(each, types)}"
            )
        if is_structured(types[each]):
            raise DeclarationError(
                f"pattern {name}: route={text!r}: {each} is sent as JSON, which only the "
                "body of a request can hold; remove it from the path"
            )
    doubled = next((each for each in route.parameters if route.parameters.count(each) > 1), None)
    if doubled is not None:
        raise DeclarationError(f"pattern {name}: route={text!r} has {{{doubled}}} twice")
    is_write = plan._shape().is_write
    if is_write == (route.method == "GET"):
        what, advice = (
            ("writes, and GET must not", "POST, PUT, PATCH or DELETE")
            if is_write
            else ("only reads", "GET")
        )
        raise DeclarationError(f"pattern {name}: route={text!r}: the pattern {what}; use {advice}")
    return route


def is_structured(kind: Any) -> bool:
    """Return whether values of a type are sent as JSON, in the body of a request."""
    if get_args(kind):
        return any(map(is_structured, get_args(kind))) or issubclass_of(kind, Mapping)
    return issubclass_of(kind, Mapping) or hasattr(kind, "model_fields") or _has_fields(kind)


def issubclass_of(kind: Any, base: Any) -> bool:
    """Return whether a type, or what it is an instance of, such as dict[str, int], is a `base`."""
    origin = getattr(kind, "__origin__", kind)
    return isinstance(origin, type) and issubclass(origin, base)


def _is_patch(kind: Any) -> bool:
    from tablewright.model.inputs import Patch  # already imported if there is one

    return issubclass_of(kind, Patch)


def _has_fields(kind: Any) -> bool:
    names = ("__entity__", "__dataclass_fields__", "__required_keys__")
    return isinstance(kind, type) and any(hasattr(kind, name) for name in names)


# -- default routes ------------------------------------------------------------------------------


def route_of(pattern: AccessPattern) -> Route:
    """Return the declared route of a pattern, or its default one."""
    return pattern.route or default_route(pattern)


def default_route(pattern: AccessPattern) -> Route:
    """Return the route of a pattern that declares none."""
    plan, types = pattern.plan, pattern.types
    known = _key_parameters(pattern)
    before = "".join(
        f"/{_word_before(pattern, known, at)}/{{{known[at]}}}" for at in range(len(known))
    )
    others = [name for name in types if name not in known]
    own = f"{before}/{'-'.join(_words(pattern.name))}"
    if not pattern.shape.is_write:
        if isinstance(plan, Get) and known and not others:
            return Route("GET", before)
        is_list = isinstance(plan, Query) and not pattern.shape.attributes
        if is_list and not others and len(pattern.entities) == 1:
            return Route("GET", f"{before}/{plural_words(pattern.entities[0].name)}")
        return Route("GET", own)
    if isinstance(plan, ReturningOld):
        plan = plan._write
    is_one_model = len(others) == 1 and is_structured(types[others[0]])
    if is_one_model and isinstance(plan, Create | Put | Upsert):
        method = "POST" if isinstance(plan, Create) else "PUT"
        return Route(method, f"{before}/{plural_words(plan._entity.name)}")
    if is_one_model and isinstance(plan, Update) and _is_patch(types[others[0]]):
        return Route("PATCH", before)
    if isinstance(plan, Delete | DeleteAggregate) and known and not others:
        return Route("DELETE", before)
    return Route("POST", own)


def _word_before(pattern: AccessPattern, known: Sequence[str], at: int) -> str:
    """Return the word before a parameter in a path: `orders` before `order_id`, `books` of an isbn.

    That of a parameter whose name does not say what it identifies is the entity with this key.
    """
    name = known[at]
    if name.endswith("_id"):
        return plural_words(name.removesuffix("_id"))
    for entity in pattern.entities[0].table.entities:
        if [part.attribute for part in entity.primary.parameters] == list(known[: at + 1]):
            return plural_words(entity.name)
    return plural_words(name)


def _key_parameters(pattern: AccessPattern) -> list[str]:
    """Return the parameters that the key of the first request must equal."""
    key = next((each for each in pattern.shape.keys if isinstance(each, KeyCondition)), None)
    if key is None:
        return []
    used = _arguments_in(key.equal)
    if key.sort is not None and key.sort.comparison in _FIXING and not _is_open(key.sort):
        # Both limits of a range begin with the parts in front of it.
        used |= set.intersection(*map(_arguments_in, key.sort.values))
    types = pattern.types
    return [name for name in types if name in used and _fits_a_path(types[name])]


def _fits_a_path(kind: Any) -> bool:
    """Return whether values can be a segment of a path: one value, and never None."""
    is_many = issubclass_of(kind, Collection) and not issubclass_of(kind, str | bytes)
    return not (is_many or is_structured(kind) or type(None) in get_args(kind))


def _arguments_in(value: Any) -> set[str]:
    return {each.name for each in expressions_in(value) if isinstance(each, Argument)}


def _is_open(sort: SortCondition) -> bool:
    """Return whether a key begins with a part of a value, such as the first letters of a name."""
    (text,) = sort.values[0].values()
    return sort.comparison == "begins_with" and not isinstance(parts_of(text)[-1], str)


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: of `OrderItem`, and of `order_item`."""
    return [each.lower() for each in _WORD.findall(name)] or [name.lower()]


def plural_words(name: str) -> str:
    """Return the plural of a name for a path.

    >>> plural_words("OrderItem"), plural_words("category"), plural_words("status")
    ('order-items', 'categories', 'statuses')
    """
    *first, last = _words(name)
    return "-".join([*first, _plural(last)])


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in ("", *"aeiou"):
        return f"{word[:-1]}ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def without_parameter(route: Route, name: str) -> Route:
    """Return a route without a parameter and the word in front of it, if it has the parameter."""
    segments = route.path.split("/")
    mark = f"{{{name}}}"
    if mark not in segments:
        return route
    at = segments.index(mark)
    rest = segments[: max(at - 1, 1)] + segments[at + 1 :]
    return Route(route.method, "/".join(rest) or "/")


def same_place(routes: Iterable[tuple[str, Route]]) -> tuple[str, str, Route] | None:
    """Return two names whose routes take the same requests, and the route; None if there are none.

    Two routes do if they differ only in the names of parameters.
    """
    seen: dict[tuple[str, str], str] = {}
    for name, route in routes:
        segments = ("{}" if each.startswith("{") else each for each in route.path.split("/"))
        place = route.method, "/".join(segments)
        if place in seen:
            return seen[place], name, route
        seen[place] = name
    return None
