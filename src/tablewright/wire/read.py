"""From JSON to requests: check every member's type and constraints, as DynamoDB's front door does.

Two kinds of mistakes, in this order:
- A member of the wrong JSON type ends the reading at once, with a SerializationException.
- Members that are missing or break a constraint are collected, and reported together:
  `2 validation errors detected: Value null at 'key' failed to satisfy constraint: Member must not
  be null; Value …`. The path is DynamoDB's: `requestItems.orders.member.1.member.putRequest`.

Readers are compiled once from the annotations of `tablewright.wire.requests`. Unknown members are
ignored and a JSON null is an absent member, as on AWS.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Annotated, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import msgspec

from tablewright.errors import ValidationException
from tablewright.values import Item, Value
from tablewright.wire.constraints import Constraint, Like
from tablewright.wire.requests import Long, Shape, TableRequest
from tablewright.wire.values import MODEL, VALUES, mismatch, read_value, read_values

S = TypeVar("S", bound=Shape)

#: As many errors as DynamoDB lists at once.
MOST_ERRORS = 10
MOST_REMEMBERED = 1000

#: raw JSON, path, errors so far -> the value as the request holds it
Reader: TypeAlias = Callable[[Any, str, list[str]], Any]


def read(shape: type[S], body: object) -> S:
    """The request that a decoded JSON body is, or a fault that says what is wrong with it."""
    errors: list[str] = []
    request = _reader(shape)(body, "", errors)
    if shape in _TABLE_REQUESTS:
        _check_table_name(cast(dict[str, Any], body).get("TableName"))
    if errors:
        plural = "s" if len(errors) > 1 else ""
        raise ValidationException(
            f"{len(errors)} validation error{plural} detected: {'; '.join(errors[:MOST_ERRORS])}"
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
def _reader(annotation: Any) -> Reader:
    """Compile the reader of a type."""
    origin = get_origin(annotation)
    if annotation == Value:
        return _read_value
    if annotation == Item:
        return _read_item
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return _shape_reader(annotation)
    if origin is Annotated:
        return _constrained_reader(annotation)
    if origin in (Union, types.UnionType):  # `X | None`: absence is handled by the shape's reader
        return _reader(next(arg for arg in get_args(annotation) if arg is not type(None)))
    if origin is list:
        return _list_reader(*get_args(annotation))
    if origin is dict:
        return _map_reader(*get_args(annotation))
    raise TypeError(f"no reader for {annotation}")


def _shape_reader(shape: type[Shape]) -> Reader:
    members = msgspec.structs.fields(shape)
    known = {m.encode_name: (m.name, _spoken(m.encode_name), _reader(m.type)) for m in members}
    required = [(m.name, _spoken(m.encode_name)) for m in members if m.required]
    java = _java_type(shape)

    def read_shape(raw: Any, path: str, errors: list[str]) -> Shape | None:
        if type(raw) is not dict:
            raise mismatch(raw, java, element=path.endswith(".member"))
        start = f"{path}." if path else ""
        given = {}
        for name, value in raw.items():
            if value is not None and name in known:
                attribute, spoken, reader = known[name]
                given[attribute] = reader(value, start + spoken, errors)
        for attribute, spoken in required:
            if attribute not in given:
                errors.append(_broken(None, start + spoken, "Member must not be null"))
        return None if errors else shape(**given)

    return read_shape


def _constrained_reader(annotation: Any) -> Reader:
    inner, *marks = get_args(annotation)
    for mark in marks:
        if isinstance(mark, Like):
            return _like_reader(mark.type)
    reader = _reader(inner)
    checks = [cast(Constraint, mark).broken for mark in marks]

    def read_constrained(raw: Any, path: str, errors: list[str]) -> Any:
        value = reader(raw, path, errors)
        for check in checks:
            problem = check(raw)
            if problem:
                errors.append(_broken(_java(raw, inner), path, problem))
        return value

    return read_constrained if inner is not str else _remembering(read_constrained)


def _remembering(reader: Reader) -> Reader:
    """Names and enumerated words come again and again: check each once."""
    accepted: set[Any] = set()

    def read_remembered(raw: Any, path: str, errors: list[str]) -> Any:
        if type(raw) is str and raw in accepted:
            return raw
        known = len(errors)
        value = reader(raw, path, errors)
        if len(errors) == known and len(accepted) < MOST_REMEMBERED and len(value) < 256:
            accepted.add(value)
        return value

    return read_remembered


def _like_reader(annotation: Any) -> Reader:
    reader = _reader(annotation)

    def read_like(raw: Any, path: str, errors: list[str]) -> dict[str, dict[str, Any]]:
        shapes = reader(raw, path, errors)
        return {} if errors else {name: shape.given() for name, shape in shapes.items()}

    return read_like


def _list_reader(element: Any) -> Reader:
    reader = _reader(element)

    def read_list(raw: Any, path: str, errors: list[str]) -> list[Any]:
        if type(raw) is not list:
            raise mismatch(raw, "java.util.List")
        return [
            reader(value, f"{path}.{position}.member", errors)
            for position, value in enumerate(raw, 1)
        ]

    return read_list


def _map_reader(key: Any, element: Any) -> Reader:
    key_reader = _reader(key)
    reader = _reader(element)
    java = f"java.util.Map<java.lang.String, {_java_type(element)}>"

    def read_map(raw: Any, path: str, errors: list[str]) -> dict[str, Any]:
        if type(raw) is not dict:
            raise mismatch(raw, java)
        return {
            key_reader(name, path, errors): reader(value, f"{path}.{name}.member", errors)
            for name, value in raw.items()
        }

    return read_map


def _read_value(raw: Any, path: str, errors: list[str]) -> Value:
    return read_value(raw)


def _read_item(raw: Any, path: str, errors: list[str]) -> Item:
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    return read_values(raw)


def _read_text(raw: Any, path: str, errors: list[str]) -> str:
    if type(raw) is not str:
        raise mismatch(raw, "java.lang.String")
    return raw


def _read_bool(raw: Any, path: str, errors: list[str]) -> bool:
    if type(raw) is not bool:
        raise mismatch(raw, "java.lang.Boolean")
    return raw


def _integer_reader(java: str) -> Reader:
    def read_integer(raw: Any, path: str, errors: list[str]) -> int:
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


def _broken(shown: str | None, path: str, problem: str) -> str:
    value = "null" if shown is None else f"'{shown}'"
    return f"Value {value} at '{path}' failed to satisfy constraint: {problem}"


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
    """A JSON value as Java's `toString` shows it; DynamoDB's messages are Java's.

    >>> from tablewright.wire.requests import KeySchemaElement
    >>> _java([{"AttributeName": "pk", "KeyType": "HASH"}], list[KeySchemaElement])
    '[KeySchemaElement(attributeName=pk, keyType=HASH)]'
    """
    while get_origin(annotation) in (Annotated, Union, types.UnionType):
        annotation = get_args(annotation)[0]
    inner = get_args(annotation)[-1] if get_args(annotation) else None
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, list):
        return f"[{', '.join(_java(value, inner) for value in raw)}]"
    if not isinstance(raw, dict):
        return str(raw)
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        members = (
            f"{_spoken(field.encode_name)}={_java(raw[field.encode_name], field.type)}"
            for field in msgspec.structs.fields(annotation)
            if field.encode_name in raw
        )
        return f"{annotation.__name__}({', '.join(members)})"
    return "{" + ", ".join(f"{name}={_java(value, inner)}" for name, value in raw.items()) + "}"


def _spoken(name: str) -> str:
    """A member's name as DynamoDB's messages have it: `tableName`."""
    return name[0].lower() + name[1:]
