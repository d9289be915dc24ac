"""From JSON to requests: check every member's type and constraints, as DynamoDB's front door does.

Two kinds of mistakes, in this order:
- A member of the wrong JSON type ends the reading at once, with a SerializationException.
- Members that are missing or break a constraint are collected, and reported together:
  `2 validation errors detected: Value null at 'key' failed to satisfy constraint: Member must not
  be null; Value …`. The path is DynamoDB's: `requestItems.orders.member.1.member.putRequest`.

Readers are compiled once from the annotations of `tablewright.wire.requests`. Unknown members are
ignored and a JSON null is an absent member, as on AWS.

Invariant: the cost of a refused request is bounded by what its limits allow, not by its size.
- Of a list or map that is longer than its limit, only the entries within the limit are read.
- A list or map is read up to the tenth error. (A wrong type behind that place is not reported.)
- A path is put together for an error, never for an entry that has none; the value that an error
  shows is cut (`tablewright.encoding.truncation`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import cache
from math import isfinite
from typing import Annotated, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import msgspec

from tablewright.encoding.truncation import ELLIPSIS, MAX_ECHO_LENGTH, truncate
from tablewright.errors import ValidationException
from tablewright.values import Item, Value
from tablewright.wire.constraints import Constraint, Length, LengthOfEach, Like
from tablewright.wire.requests import Long, Shape, TableRequest
from tablewright.wire.values import MAX_LEVELS, MODEL, VALUES, mismatch, read_value, read_values

S = TypeVar("S", bound=Shape)

#: As many errors as DynamoDB lists at once.
MAX_ERRORS = 10
MAX_REMEMBERED = 1000


class _Errors(list["_Error"]):
    """The errors of one request, as many of them as are reported."""

    __slots__ = ()

    def add(self, problem: str, shown: str | None, *path: str) -> None:
        if len(self) < MAX_ERRORS:
            self.append(_Error(problem, shown, [*path]))

    def prefix(self, first: int, *path: str) -> bool:
        """Lengthen the paths of the errors from the first on; whether there is room for more."""
        for error in self[first:]:
            error.path += path
        return len(self) < MAX_ERRORS


class _Error(msgspec.Struct):
    """What is wrong with a member; its path is collected on the way out, innermost name first."""

    problem: str
    shown: str | None
    path: list[str]

    def __str__(self) -> str:
        value = "null" if self.shown is None else f"'{self.shown}'"
        path = truncate(".".join(reversed(self.path)))
        return f"Value {value} at '{path}' failed to satisfy constraint: {self.problem}"


#: raw JSON, errors so far -> the value as the request holds it
Reader: TypeAlias = Callable[[Any, _Errors], Any]


def read(shape: type[S], body: object) -> S:
    """The request that a decoded JSON body is, or a fault that says what is wrong with it."""
    errors = _Errors()
    request = _reader(shape)(body, errors)
    if shape in _TABLE_REQUESTS:
        _check_table_name(cast(dict[str, Any], body).get("TableName"))
    if errors:
        plural = "s" if len(errors) > 1 else ""
        raise ValidationException(
            f"{len(errors)} validation error{plural} detected: {'; '.join(map(str, errors))}"
        )
    return cast(S, request)


_TABLE_REQUESTS = frozenset(TableRequest.__subclasses__())


def _check_table_name(name: str | None) -> None:
    if name is None:
        raise ValidationException(
            "The parameter 'TableName' is required but was not present in the request"
        )
    if not name.startswith("arn:") and not 3 <= len(name) <= 255:
        raise ValidationException(
            "TableName must be at least 3 characters long and at most 255 characters long"
        )


@cache
def _reader(annotation: Any, element: bool = False) -> Reader:
    """Compile the reader of a type; `element` says that it is that of a list's or map's entries."""
    origin = get_origin(annotation)
    if annotation == Value:
        return _read_value
    if annotation == Item:
        return _read_item
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return _shape_reader(annotation, element)
    if origin is Annotated:
        return _constrained_reader(annotation)
    if origin in (Union, types.UnionType):  # `X | None`: absence is handled by the shape's reader
        return _reader(next(arg for arg in get_args(annotation) if arg is not type(None)))
    if origin is list:
        return _list_reader(*get_args(annotation))
    if origin is dict:
        return _map_reader(*get_args(annotation))
    raise TypeError(f"no reader for {annotation}")


def _shape_reader(shape: type[Shape], element: bool) -> Reader:
    members = msgspec.structs.fields(shape)
    known = {m.encode_name: (m.name, _spoken(m.encode_name), _reader(m.type)) for m in members}
    required = [(m.name, _spoken(m.encode_name)) for m in members if m.required]
    java = _java_type(shape)

    def read_shape(raw: Any, errors: _Errors) -> Shape | None:
        if type(raw) is not dict:
            raise mismatch(raw, java, element=element)
        given = {}
        first = len(errors)
        for name, value in raw.items():
            if value is not None and name in known:
                attribute, spoken, reader = known[name]
                given[attribute] = reader(value, errors)
                if errors and len(errors) > first:
                    errors.prefix(first, spoken)
                    first = len(errors)
        for attribute, spoken in required:
            if attribute not in given:
                errors.add("Member must not be null", None, spoken)
        return None if errors else shape(**given)

    return read_shape


def _constrained_reader(annotation: Any) -> Reader:
    inner, *marks = get_args(annotation)
    for mark in marks:
        if isinstance(mark, Like):
            return _like_reader(mark.type)
    if get_origin(inner) in (list, dict):
        return _sized_reader(inner, marks)
    reader = _reader(inner)
    checks = [cast(Constraint, mark).broken for mark in marks]

    def read_constrained(raw: Any, errors: _Errors) -> Any:
        value = reader(raw, errors)
        for check in checks:
            problem = check(raw)
            if problem:
                errors.add(problem, _java(raw, inner))
        return value

    return read_constrained if inner is not str else _remembering(read_constrained)


def _sized_reader(annotation: Any, limits: list[Length | LengthOfEach]) -> Reader:
    """Read a list or map, but nothing of it that is beyond a limit."""
    reader = _reader(annotation)
    container = get_origin(annotation)

    def read_sized(raw: Any, errors: _Errors) -> Any:
        heads = [raw]
        if type(raw) is container:
            for limit in limits:
                heads.append(limit.head(heads[-1]))
        value = reader(heads[-1], errors)
        for limit, head in zip(limits, heads, strict=False):
            problem = limit.broken(head)
            if problem:
                errors.add(problem, _java(raw, annotation))
        return value

    return read_sized


def _remembering(reader: Reader) -> Reader:
    """Names and enumerated words come again and again: check each once."""
    accepted: set[Any] = set()

    def read_remembered(raw: Any, errors: _Errors) -> Any:
        if type(raw) is str and raw in accepted:
            return raw
        known = len(errors)
        value = reader(raw, errors)
        if len(errors) == known and len(accepted) < MAX_REMEMBERED and len(value) < 256:
            accepted.add(value)
        return value

    return read_remembered


def _like_reader(annotation: Any) -> Reader:
    reader = _reader(annotation)

    def read_like(raw: Any, errors: _Errors) -> dict[str, dict[str, Any]]:
        shapes = reader(raw, errors)
        return {} if errors else {name: shape.given() for name, shape in shapes.items()}

    return read_like


def _list_reader(entry: Any) -> Reader:
    reader = _reader(entry, element=True)

    def read_list(raw: Any, errors: _Errors) -> list[Any]:
        if type(raw) is not list:
            raise mismatch(raw, "java.util.List")
        first = len(errors)
        found = []
        for value in raw:
            found.append(reader(value, errors))
            if len(errors) > first:
                if not errors.prefix(first, "member", str(len(found))):
                    break
                first = len(errors)
        return found

    return read_list


def _map_reader(key: Any, entry: Any) -> Reader:
    if (key, entry) == (str, str):
        return _read_texts
    key_reader = _reader(key)
    reader = _reader(entry, element=True)
    java = f"java.util.Map<java.lang.String, {_java_type(entry)}>"

    def read_map(raw: Any, errors: _Errors) -> dict[str, Any]:
        if type(raw) is not dict:
            raise mismatch(raw, java)
        found = {}
        for name, value in raw.items():
            key_reader(name, errors)
            first = len(errors)
            found[name] = reader(value, errors)
            if len(errors) > first and not errors.prefix(first, "member", name):
                break
        return found

    return read_map


def _read_value(raw: Any, errors: _Errors) -> Value:
    return read_value(raw)


def _read_item(raw: Any, errors: _Errors) -> Item:
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    return read_values(raw)


def _read_texts(raw: Any, errors: _Errors) -> dict[str, str]:
    if type(raw) is not dict:
        raise mismatch(raw, "java.util.Map<java.lang.String, java.lang.String>")
    if set(map(type, raw)) <= {str} and set(map(type, raw.values())) <= {str}:
        return raw
    return {_read_text(name, errors): _read_text(text, errors) for name, text in raw.items()}


def _read_text(raw: Any, errors: _Errors) -> str:
    if type(raw) is not str:
        raise mismatch(raw, "java.lang.String")
    return raw


def _read_bool(raw: Any, errors: _Errors) -> bool:
    if type(raw) is not bool:
        raise mismatch(raw, "java.lang.Boolean")
    return raw


def _integer_reader(java: str) -> Reader:
    def read_integer(raw: Any, errors: _Errors) -> int:
        if type(raw) is float and isfinite(raw):
            return int(raw)  # DynamoDB drops the fraction
        if type(raw) is not int:
            raise mismatch(raw, java)
        return raw

    return read_integer


_SCALARS: dict[Any, Reader] = {
    str: _read_text,
    bool: _read_bool,
    int: _integer_reader("java.lang.Integer"),
    Long: _integer_reader("java.lang.Long"),
}


def _java_type(annotation: Any) -> str:
    """The Java type that DynamoDB's messages name for ours."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if annotation is str:
        return "java.lang.String"
    if get_origin(annotation) is list:
        return f"java.util.List<{_java_type(get_args(annotation)[0])}>"
    return f"{MODEL}.{annotation.__name__}"


def _java(raw: Any, annotation: Any = None) -> str:
    """A JSON value as Java's `toString` shows it, cut; DynamoDB's messages are Java's.

    >>> from tablewright.wire.requests import KeySchemaElement
    >>> _java([{"AttributeName": "pk", "KeyType": "HASH"}], list[KeySchemaElement])
    '[KeySchemaElement(attributeName=pk, keyType=HASH)]'
    """
    shown: list[str] = []
    length = 0
    for part in _java_parts(raw, annotation):
        shown.append(part)
        length += len(part)
        if length > MAX_ECHO_LENGTH:
            break
    return truncate("".join(shown))


def _java_parts(raw: Any, annotation: Any, level: int = 0) -> Iterator[str]:
    while get_origin(annotation) in (Annotated, Union, types.UnionType):
        annotation = get_args(annotation)[0]
    inner = get_args(annotation)[-1] if get_args(annotation) else None
    comma = ""
    if level > MAX_LEVELS:  # beyond a limit, where nothing was read
        yield ELLIPSIS
    elif isinstance(raw, bool):
        yield str(raw).lower()
    elif isinstance(raw, list):
        yield "["
        for value in raw:
            yield comma
            yield from _java_parts(value, inner, level + 1)
            comma = ", "
        yield "]"
    elif not isinstance(raw, dict):
        yield str(raw)
    elif isinstance(annotation, type) and issubclass(annotation, Shape):
        yield f"{annotation.__name__}("
        for field in msgspec.structs.fields(annotation):
            if field.encode_name in raw:
                yield f"{comma}{_spoken(field.encode_name)}="
                yield from _java_parts(raw[field.encode_name], field.type, level + 1)
                comma = ", "
        yield ")"
    else:
        yield "{"
        for name, value in raw.items():
            yield f"{comma}{name}="
            yield from _java_parts(value, inner, level + 1)
            comma = ", "
        yield "}"


def _spoken(name: str) -> str:
    """A member's name as DynamoDB's messages have it: `tableName`."""
    return name[0].lower() + name[1:]
