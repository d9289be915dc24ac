"""Read requests from JSON, and check the type and the constraints of every member like DynamoDB.

There are two kinds of errors, in this order:
- A member of the wrong JSON type raises a SerializationException immediately.
- Members that are missing or violate a constraint are collected and reported together:
  `2 validation errors detected: Value null at 'key' failed to satisfy constraint: Member must not
  be null; Value …`. The path is DynamoDB's: `requestItems.orders.member.1.member.putRequest`.

Readers are compiled once from the annotations of `tablewright.wire.requests`. Unknown members are
ignored, and null is the same as a missing member, as on AWS.

Invariant: the cost of a refused request is bounded by the limits, not by the size of the request.
- If a list or map is longer than its limit, only the entries within the limit are read.
- A list or map is read up to the tenth error. (A wrong type after that entry is not reported.)
- A path is composed only for an error; the value in a message is truncated (`errors.truncate`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import cache
from math import isfinite
from typing import Annotated, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import msgspec

from tablewright.errors import ELLIPSIS, MAX_ECHO_LENGTH, ValidationException, truncate
from tablewright.values import Item, Value
from tablewright.wire.constraints import (
    Constraint,
    EchoedWhole,
    EnumValues,
    Length,
    LengthOfEach,
    Long,
    NumberRange,
    ReadAs,
    Structure,
    TableNames,
    Timestamp,
    Unechoed,
)
from tablewright.wire.layers import label
from tablewright.wire.requests import TableInput, UpdateItemInput
from tablewright.wire.values import MAX_LEVELS, MODEL, mismatch, read_value, read_values

S = TypeVar("S", bound=Structure)

#: DynamoDB reports at most this number of errors at once.
MAX_ERRORS = 10
#: The accepted strings that each reader caches.
MAX_CACHED = 1000


class _Errors(list["_Error"]):
    """The errors of one request, up to the number that is reported."""

    __slots__ = ()

    def add(
        self,
        problem: str,
        shown: str | None,
        *path: str,
        is_echoed: bool = True,
        constraint: Constraint | None = None,
    ) -> None:
        if len(self) < MAX_ERRORS:
            self.append(_Error(problem, shown, [*path], is_echoed, constraint))

    def extend_paths(self, first: int, *path: str) -> bool:
        """Extend the paths of the errors from index `first`; return whether more errors fit."""
        for error in self[first:]:
            error.path += path
        return len(self) < MAX_ERRORS


class _Error(msgspec.Struct):
    """An invalid member. Each enclosing reader adds its name to the path, innermost name first."""

    problem: str
    shown: str | None
    path: list[str]
    is_echoed: bool
    constraint: Constraint | None  # None: the member is missing

    def __str__(self) -> str:
        return self.format(is_echoed=self.is_echoed)

    def format(self, *, is_echoed: bool) -> str:
        """Return the message, with or without the value."""
        value = "null " if self.shown is None else f"'{self.shown}' "
        path = self.path[::-1]
        if not is_echoed:
            value = ""
            path[0], path[-1] = _pascal_case(path[0]), _pascal_case(path[-1])
        where = truncate(".".join(path))
        return f"Value {value}at '{where}' failed to satisfy constraint: {self.problem}"

    @property
    def is_echoed_when_new(self) -> bool:
        is_number = isinstance(self.constraint, NumberRange) and len(self.path) == 1
        return self.is_echoed and not is_number

    @property
    def is_length_when_new(self) -> bool:
        """Whether the new layer reports the length of a member of the request alone."""
        constraint = self.constraint
        return (
            isinstance(constraint, Length)
            and len(self.path) == 1
            and not (constraint.old_maximum and self.problem == constraint.too_long)
        )


#: Reads a member: takes raw JSON and the errors so far, returns the value for the request.
Reader: TypeAlias = Callable[[Any, _Errors], Any]


def read(structure: type[S], body: object) -> S:
    """Read a request from a decoded JSON body; raise DynamoDB's fault if the body is invalid."""
    errors = _Errors()
    request = _reader(structure)(body, errors)
    if errors:
        raise _fault(errors, structure)
    return cast(S, request)


def no_tables(operation: str) -> ValidationException:
    """Return the fault for a batch without tables."""
    error = _Error(Length(1).too_short, "", ["RequestItems"], False, None)
    old = f"The requestItems parameter is required for {operation}"
    return ValidationException(label(str(error)), old=old, is_bare=True)


def _fault(errors: _Errors, structure: type[Structure]) -> ValidationException:
    """Return the fault for the errors of a request, with the messages of both layers."""
    reported = _select_reported(errors, structure)
    old = label(*map(str, reported))
    if all(error.constraint is not None for error in errors):
        # The new layer reports these alone; it has not reached other members then.
        for error in errors:
            if error.is_length_when_new:
                return ValidationException(
                    label(error.format(is_echoed=False)), old=old, is_bare=True
                )
        for error in errors:
            if isinstance(error.constraint, EnumValues) and error.constraint.new_problem:
                return ValidationException(error.constraint.new_problem, old=old)
    new = label(*(error.format(is_echoed=error.is_echoed_when_new) for error in reported))
    return ValidationException(new, old=old, is_bare=True)


def _select_reported(errors: _Errors, structure: type[Structure]) -> list[_Error]:
    """Return the errors that are reported, in their order."""
    if structure.reported_order:
        _reorder(errors, structure.reported_order)
    for error in errors:
        if error.path == ["tableName"]:
            if error.constraint is not None:
                # An invalid name is reported alone, but UpdateItem looks for its key first.
                is_joined = structure is UpdateItemInput and any(
                    e.constraint is None for e in errors
                )
                return errors if is_joined else [error]
            if issubclass(structure, TableInput):
                raise ValidationException(
                    "The parameter 'TableName' is required but was not present in the request"
                )
    enums = [error for error in errors if isinstance(error.constraint, EnumValues)]
    if enums and any(
        isinstance(e.constraint, TableNames) and e.constraint.gives_way for e in errors
    ):
        return enums[:1]
    return errors


def _reorder(errors: _Errors, members: tuple[str, ...]) -> None:
    """Sort the errors of some members by their order; others keep their places."""
    places = [place for place, error in enumerate(errors) if error.path[-1] in members]
    ordered = sorted((errors[place] for place in places), key=lambda e: members.index(e.path[-1]))
    for place, error in zip(places, ordered, strict=True):
        errors[place] = error


@cache
def _reader(annotation: Any, element: bool = False) -> Reader:
    """Compile the reader of a type; `element` is True for the entries of a list or map."""
    origin = get_origin(annotation)
    if annotation == Value:
        return _read_value
    if annotation == Item:
        return _read_item
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Structure):
        return _structure_reader(annotation, element)
    if origin is Annotated:
        return _constrained_reader(annotation)
    if origin in (Union, types.UnionType):  # `X | None`: the structure's reader handles None
        return _reader(next(arg for arg in get_args(annotation) if arg is not type(None)))
    if origin is list:
        return _list_reader(*get_args(annotation))
    if origin is dict:
        return _map_reader(*get_args(annotation))
    raise TypeError(f"no reader for {annotation}")


def _structure_reader(structure: type[Structure], element: bool) -> Reader:
    members = msgspec.structs.fields(structure)
    known = {m.encode_name: (m.name, _camel_case(m.encode_name), _reader(m.type)) for m in members}
    required = [(m.name, _camel_case(m.encode_name)) for m in members if m.required]
    java = _java_type(structure)

    def read_structure(raw: Any, errors: _Errors) -> Structure | None:
        if type(raw) is not dict:
            raise mismatch(raw, java, element=element)
        given = {}
        first = len(errors)
        for name, value in raw.items():
            if value is not None and name in known:
                attribute, member, reader = known[name]
                given[attribute] = reader(value, errors)
                if errors and len(errors) > first:
                    errors.extend_paths(first, member)
                    first = len(errors)
        for attribute, member in required:
            if attribute not in given:
                errors.add("Member must not be null", None, member)
        return None if errors else structure(**given)

    return read_structure


def _constrained_reader(annotation: Any) -> Reader:
    inner, *marks = get_args(annotation)
    for mark in marks:
        if isinstance(mark, ReadAs):
            return _read_as_reader(mark.type)
    is_echoed = not any(isinstance(mark, Unechoed) for mark in marks)
    max_echo = next((m.max_length for m in marks if isinstance(m, EchoedWhole)), MAX_ECHO_LENGTH)
    marks = [mark for mark in marks if not isinstance(mark, Unechoed | EchoedWhole)]
    if get_origin(inner) in (list, dict):
        return _sized_reader(inner, marks, is_echoed, max_echo)
    reader = _reader(inner)
    checks = [(cast(Constraint, mark), cast(Constraint, mark).violation) for mark in marks]

    def read_constrained(raw: Any, errors: _Errors) -> Any:
        value = reader(raw, errors)
        for constraint, check in checks:
            problem = check(raw)
            if problem:
                errors.add(
                    problem, _java_string(raw, inner), is_echoed=is_echoed, constraint=constraint
                )
        return value

    return read_constrained if inner is not str else _caching(read_constrained)


def _sized_reader(
    annotation: Any,
    limits: list[Length | LengthOfEach | TableNames],
    is_echoed: bool,
    max_echo: int,
) -> Reader:
    """Return a reader for a list or map that reads only the entries within the limits."""
    reader = _reader(annotation)
    container = get_origin(annotation)

    def read_sized(raw: Any, errors: _Errors) -> Any:
        heads = [raw]
        if type(raw) is container:
            for limit in limits:
                heads.append(limit.within_limit(heads[-1]))
        value = reader(heads[-1], errors)
        for limit, head in zip(limits, heads, strict=False):
            problem = limit.violation(head)
            if problem:
                if isinstance(limit, TableNames) and limit.as_json:
                    shown = truncate(msgspec.json.encode(raw).decode())
                else:
                    shown = _java_string(raw, annotation, max_echo) if is_echoed else ""
                errors.add(problem, shown, is_echoed=is_echoed, constraint=limit)
        return value

    return read_sized


def _caching(reader: Reader) -> Reader:
    """Check each accepted string once: names and enum values repeat in most requests."""
    accepted: set[Any] = set()

    def read_cached(raw: Any, errors: _Errors) -> Any:
        if type(raw) is str and raw in accepted:
            return raw
        known = len(errors)
        value = reader(raw, errors)
        if len(errors) == known and len(accepted) < MAX_CACHED and len(value) < 256:
            accepted.add(value)
        return value

    return read_cached


def _read_as_reader(annotation: Any) -> Reader:
    reader = _reader(annotation)

    def read_as(raw: Any, errors: _Errors) -> dict[str, dict[str, Any]]:
        structures = reader(raw, errors)
        if errors:
            return {}
        return {name: structure.present_members() for name, structure in structures.items()}

    return read_as


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
                if not errors.extend_paths(first, "member", str(len(found))):
                    break
                first = len(errors)
        return found

    return read_list


def _map_reader(key: Any, entry: Any) -> Reader:
    if (key, entry) == (str, str):
        return _read_strings
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
            if len(errors) > first and not errors.extend_paths(first, "member", name):
                break
        return found

    return read_map


def _read_value(raw: Any, errors: _Errors) -> Value:
    return read_value(raw)


def _read_item(raw: Any, errors: _Errors) -> Item:
    return read_values(raw)


def _read_strings(raw: Any, errors: _Errors) -> dict[str, str]:
    if type(raw) is not dict:
        raise mismatch(raw, "java.util.Map<java.lang.String, java.lang.String>")
    if set(map(type, raw)) <= {str} and set(map(type, raw.values())) <= {str}:
        return raw
    return {_read_string(name, errors): _read_string(value, errors) for name, value in raw.items()}


def _read_string(raw: Any, errors: _Errors) -> str:
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


def _read_timestamp(raw: Any, errors: _Errors) -> float:
    if type(raw) not in (int, float) or not isfinite(raw):
        raise mismatch(raw, "java.util.Date")
    return float(raw)


_SCALARS: dict[Any, Reader] = {
    str: _read_string,
    bool: _read_bool,
    int: _integer_reader("java.lang.Integer"),
    Long: _integer_reader("java.lang.Long"),
    Timestamp: _read_timestamp,
}


def _java_type(annotation: Any) -> str:
    """Return the Java type that DynamoDB's messages have for an annotation."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if annotation is str:
        return "java.lang.String"
    if get_origin(annotation) is list:
        return f"java.util.List<{_java_type(get_args(annotation)[0])}>"
    return f"{MODEL}.{_model_name(annotation)}"


def _model_name(annotation: Any) -> str:
    """Return the name of a structure in the service model."""
    name: str = getattr(annotation, "model_name", None) or annotation.__name__
    return name


def _java_string(raw: Any, annotation: Any = None, max_length: int = MAX_ECHO_LENGTH) -> str:
    """Format a JSON value as Java's `toString` does, for DynamoDB's messages, and truncate it.

    >>> from tablewright.wire.requests import KeySchemaElement
    >>> _java_string([{"AttributeName": "pk", "KeyType": "HASH"}], list[KeySchemaElement])
    '[KeySchemaElement(attributeName=pk, keyType=HASH)]'
    """
    shown: list[str] = []
    length = 0
    for part in _java_parts(raw, annotation):
        shown.append(part)
        length += len(part)
        if length > max_length:
            break
    return truncate("".join(shown), max_length)


def _java_parts(raw: Any, annotation: Any, level: int = 0) -> Iterator[str]:
    while get_origin(annotation) in (Annotated, Union, types.UnionType):
        annotation = get_args(annotation)[0]
    inner = get_args(annotation)[-1] if get_args(annotation) else None
    comma = ""
    if level > MAX_LEVELS:  # only beyond a limit, in entries that were not read
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
    elif isinstance(annotation, type) and issubclass(annotation, Structure):
        yield f"{_model_name(annotation)}("
        for name, shown, member in _java_members(annotation):
            if name in raw:
                yield f"{comma}{shown}="
                yield from _java_parts(raw[name], member, level + 1)
                comma = ", "
        yield ")"
    else:
        yield "{"
        for name, value in raw.items():
            yield f"{comma}{name}="
            yield from _java_parts(value, inner, level + 1)
            comma = ", "
        yield "}"


@cache
def _java_members(structure: type[Structure]) -> list[tuple[str, str, Any]]:
    """Return the names of members on the wire and in Java, and their types."""
    fields = msgspec.structs.fields(structure)
    return [(field.encode_name, _camel_case(field.encode_name), field.type) for field in fields]


def _camel_case(name: str) -> str:
    """Return the name of a member as in DynamoDB's messages: `tableName`."""
    return name[0].lower() + name[1:]


def _pascal_case(name: str) -> str:
    """Return the name of a member as it is on the wire: `TableName`."""
    return name[0].upper() + name[1:]
