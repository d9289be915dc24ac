"""Hostile request bodies: for every member of every request, everything that could be costly there.

Owns nothing but bytes: it reads the shapes of `tablewright.wire.requests`, builds a small valid
request around each member, and fills that member with up to `size` bytes of

    many small entries      {} [] null "" or the smallest valid element, or valid ones then {}
    deep nesting            [[[[… {"a":{"a":… {"L":[{"L":[…
    long texts              plain, escaped, beyond the BMP, brackets, operators
    long numbers            digits, zeros, fractions, exponents, in JSON and in "N"
    large maps and sets     distinct names, equal names, duplicate members, members in reverse order

The bodies depend on the size and the shapes alone; only `mixed` bodies use the seed. Used by the
tests with small sizes, and by `python -m tests.hostile` with 16 MB.
"""

from __future__ import annotations

import json
import random
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from tablewright.engine.operations import find_operation
from tablewright.values import Item, Value
from tablewright.wire.constraints import EnumValues, Long, ReadAs, Structure
from tablewright.wire.operations import OPERATIONS

MAX_BODY = 16 * 1024 * 1024
#: The length of a longest expression; a longer one is refused by its length.
MAX_EXPRESSION = 4096
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/table"
KEY = b'{"pk":{"S":"a"}}'

#: The smallest valid contents of members whose annotation does not say enough.
SMALLEST = {
    "Key": KEY,
    "Item": KEY,
    "ResourceArn": json.dumps(ARN).encode(),
    "IndexName": b'"index"',
    "ExclusiveStartTableName": b'"table"',
    "ConditionExpression": b'"attribute_exists(#a) AND b <> :v"',
    "FilterExpression": b'"attribute_exists(#a) AND b <> :v"',
    "KeyConditionExpression": b'"#a = :v"',
    "UpdateExpression": b'"SET #a = :v"',
    "ProjectionExpression": b'"#a"',
    "ExpressionAttributeNames": b'{"#a":"pk"}',
    "ExpressionAttributeValues": b'{":v":{"S":"a"}}',
}
EXPRESSIONS = (
    "ConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
)

Wrap = Callable[[bytes], bytes]


class Body(NamedTuple):
    name: str
    operation: str
    body: bytes


class Place(NamedTuple):
    """A member, or an element of one: its path, its type, and the request around its content."""

    path: str
    annotation: Any
    wrap: Wrap


def bodies(size: int = MAX_BODY, *, seed: int = 0, only: str = "") -> Iterator[Body]:
    """Every operation (or only one), every place in its request, every filling that fits there."""
    for operation in sorted(OPERATIONS):
        if only not in ("", operation):
            continue
        shape, _ = find_operation(operation)
        known: list[Any] = []
        for place in places(shape):
            is_known = place.annotation in known and not place.path.endswith(EXPRESSIONS)
            known.append(place.annotation)
            for name, filling in fillings(place.annotation, size, briefly=is_known):
                yield Body(f"{operation} {place.path} {name}", operation, place.wrap(filling))
        yield from _whole(operation, shape, size)
        yield _mixed(operation, shape, size, seed)


def places(shape: type[Structure]) -> Iterator[Place]:
    members = msgspec.structs.fields(shape)
    for member in members:
        wrap = _around(members, member.encode_name)
        yield from _places_in(member.encode_name, _bare(member.type), wrap)


def _places_in(path: str, annotation: Any, wrap: Wrap) -> Iterator[Place]:
    yield Place(path, annotation, wrap)
    if _is_shape(annotation):
        for inner in places(annotation):
            yield Place(
                f"{path}.{inner.path}",
                inner.annotation,
                lambda filling, inner=inner: wrap(inner.wrap(filling)),  # type: ignore[misc]
            )
    elif get_origin(annotation) is list and annotation != Item:
        (element,) = get_args(annotation)
        yield from _places_in(f"{path}[]", _bare(element), lambda filling: wrap(b"[%b]" % filling))
    elif get_origin(annotation) is dict and annotation not in (Item, Value):
        element = get_args(annotation)[1]
        yield from _places_in(
            f"{path}{{}}", _bare(element), lambda filling: wrap(b'{"table":%b}' % filling)
        )


def _around(members: tuple[msgspec.structs.FieldInfo, ...], name: str) -> Wrap:
    """A request with the required members, those that this one needs, and this one."""
    wanted = {m.encode_name for m in members if m.required or m.encode_name == "TableName"}
    known = {m.encode_name for m in members}
    if name.startswith("ExpressionAttribute"):
        wanted |= set([e for e in EXPRESSIONS if e in known][:1])
    if name in EXPRESSIONS or wanted & set(EXPRESSIONS):
        wanted |= known & {"ExpressionAttributeNames", "ExpressionAttributeValues"}
    others = [
        b'"%b":%b' % (m.encode_name.encode(), smallest(m.type, m.encode_name))
        for m in members
        if m.encode_name in wanted - {name}
    ]
    return lambda filling: b"{%b}" % b",".join([*others, b'"%b":%b' % (name.encode(), filling)])


def smallest(annotation: Any, name: str = "") -> bytes:
    """The shortest JSON that is valid, or nearly valid, for a type."""
    if name in SMALLEST:
        return SMALLEST[name]
    if get_origin(annotation) is Annotated:
        for mark in get_args(annotation)[1:]:
            if isinstance(mark, EnumValues):
                return json.dumps(mark.words[0]).encode()
    bare = _bare(annotation)
    if _is_shape(bare):
        members = msgspec.structs.fields(bare)
        required = [m for m in members if m.required] or list(members[:1])
        return b"{%b}" % b",".join(
            b'"%b":%b' % (m.encode_name.encode(), smallest(m.type, m.encode_name)) for m in required
        )
    if bare == Value:
        return b'{"S":""}'
    if bare == Item:
        return KEY
    if get_origin(bare) is list:
        return b"[%b]" % smallest(get_args(bare)[0])
    if get_origin(bare) is dict:
        return b'{"table":%b}' % smallest(get_args(bare)[1])
    return {str: b'"table"', bool: b"true"}.get(bare, b"1")


# -- what a place is filled with


def fillings(annotation: Any, size: int, *, briefly: bool = False) -> Iterator[tuple[str, bytes]]:
    """What to put in a place of this type, about `size` bytes each.

    `briefly` takes every seventh: one operation reads all of its values with the same code.
    """
    yield from islice(_fillings(annotation, size), 2 if briefly else 0, None, 7 if briefly else 1)


def _fillings(annotation: Any, size: int) -> Iterator[tuple[str, bytes]]:
    yield "nested lists", _nested(b"[", b"]", size)
    yield "nested maps", _nested(b'{"a":', b"}", size, b"1")
    if annotation == Value:
        yield from _values(size)
    elif annotation == Item:
        yield from _items(size)
    elif annotation is str:
        yield from _texts(size)
    elif annotation in (int, Long):
        yield "digits", b"9" * size
        yield "fraction", b"1." + b"1" * size
        yield "exponent", b"1e" + b"9" * size
    elif annotation is bool:
        yield "digits", b"9" * size
        yield "text", _text(b"a", size)
    elif get_origin(annotation) is list:
        yield from _lists(smallest(get_args(annotation)[0]), size)
    elif get_origin(annotation) is dict:
        yield from _maps(smallest(get_args(annotation)[1]), size)
    else:
        yield "unknown members", _map(b'"%d":1', size)
        yield "unknown member", b'{"a":%b}' % _list(b"{}", size)


def _lists(element: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    for unit in (b"{}", b"[]", b"null", b'""', b"1", element):
        yield f"of {unit[:20].decode()}", _list(unit, size)
    yield "valid, then {}", b"[%b,{}]" % _list(element, size)[1:-1]


def _maps(element: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    for unit in (b"{}", b"[]", b"null", b'""', element):
        yield f"of {unit[:20].decode()}", _map(b'"a%d":' + unit.replace(b"%", b"%%"), size)
    for unit in (b"{}", element):
        yield f"of # to {unit[:20].decode()}", _map(b'"#%d":' + unit, size)
        yield f"of : to {unit[:20].decode()}", _map(b'":%d":' + unit, size)
    yield "long name", b'{"%b":%b}' % (b"a" * size, element)
    yield "same name", _wrapped(b'"a":' + element, size, b"{", b"}")


def _texts(size: int) -> Iterator[tuple[str, bytes]]:
    for unit in (b"a", b"a.", b"(", b"a=a AND ", b"#a,", rb"\u0061", rb"\ud83d\ude00", rb"\ud83d"):
        yield f"text of {unit.decode()}", _text(unit, size)
    again = (b"a.", b"(") if size > MAX_EXPRESSION else ()
    for unit in (*again, b"NOT ", b"a,", b"a[1]", b"a=a OR ", b"size(", b":v,"):
        yield f"4 KB of {unit.decode()}", _text(unit, min(size, MAX_EXPRESSION - 6))
    yield "4 KB of digits", b'"a[%b] = a"' % (b"9" * min(size, 4000))
    yield "list", _list(b"{}", size)


def _items(size: int) -> Iterator[tuple[str, bytes]]:
    for name, value in _values(size):
        yield f"value: {name}", b'{"pk":{"S":"a"},"a":%b}' % value
    yield from _maps(b'{"S":""}', size)
    yield "of numbers", _map(b'"a%d":{"N":"1.50"}', size)


def _values(size: int) -> Iterator[tuple[str, bytes]]:
    numbers = {
        "digits": b"9" * size,
        "zeros": b"0" * size,
        "trailing zeros": b"1" + b"0" * size,
        "fraction of zeros": b"0." + b"0" * size,
        "fraction": b"1." + b"5" * size,
        "long exponent": b"1e" + b"9" * size,
        "exponent of zeros": b"1e" + b"0" * size,
        "no number": b"9" * size + b"x",
    }
    for name, number in numbers.items():
        yield f"N {name}", b'{"N":"%b"}' % number
    yield "NS digits", b'{"NS":["%b"]}' % (b"9" * size)
    yield "S", b'{"S":%b}' % _text(b"a", size)
    yield "S escaped", b'{"S":%b}' % _text(rb"\u00e9", size)
    yield "B", b'{"B":%b}' % _text(b"QUFB", size)
    yield "B wrong", b'{"B":%b}' % _text(b"QUF!", size)
    yield "SS", b'{"SS":%b}' % _numbered(b'"%d"', size)
    yield "SS equal", b'{"SS":%b}' % _list(b'"a"', size)
    yield "NS", b'{"NS":%b}' % _numbered(b'"%d"', size)
    yield "NS equal", b'{"NS":%b}' % _list(b'"1.0"', size)
    yield "NS fractions", b'{"NS":%b}' % _numbered(b'"%d.50"', size)
    yield "BS", b'{"BS":%b}' % _numbered(b'"%08d"', size)
    yield "BS equal", b'{"BS":%b}' % _list(b'"QUFB"', size)
    for unit in (b"{}", b"null", b'{"S":""}', b'{"NULL":true}', b'{"N":"1"}', b'{"N":"1.50"}'):
        yield f"L of {unit.decode()}", b'{"L":%b}' % _list(unit, size)
    for unit in (b'{"L":[]}', b'{"M":{}}', b'{"SS":["a"]}', b'{"B":""}', b'{"N":""}'):
        yield f"L of {unit.decode()}", b'{"L":%b}' % _list(unit, size)
    yield "M", b'{"M":%b}' % _map(b'"%d":{"S":""}', size)
    yield "M of {}", b'{"M":%b}' % _map(b'"%d":{}', size)
    yield "L nested", _nested(b'{"L":[', b"]}", size)
    yield "M nested", _nested(b'{"M":{"a":', b"}}", size, b'{"S":""}')
    chain = _nested(b'{"L":[', b"]}", 31 * 8, b'{"S":""}')
    yield "L of chains", b'{"L":%b}' % _list(chain, size)
    yield "many tags", b"{%b}" % b",".join([b'"S":"a"'] * (size // 8))
    yield "unknown tags", _map(b'"T%d":"a"', size)


def _whole(operation: str, shape: type[Structure], size: int) -> Iterator[Body]:
    """Bodies that are not a request at all, or one with much beside it."""
    request = smallest(shape)
    for name, body in (
        ("nested lists", _nested(b"[", b"]", size)),
        ("list", _list(b"{}", size)),
        ("number", b"9" * size),
        ("blanks", b" " * (size - 2) + b"{}"),
    ):
        yield Body(f"{operation} as a whole {name}", operation, body)
    beside = b"" if request == b"{}" else b","
    for name, extra in (
        ("unknown members", _map(b'"a%d":1', size)[1:-1]),
        ("unknown member", b'"a":' + _list(b"{}", size)),
        ("same members", _wrapped(b'"TableName":"table"', size, b"", b"")),
    ):
        body = b"{%b%b%b}" % (extra, beside, request[1:-1])
        yield Body(f"{operation} with {name}", operation, body)


def _mixed(operation: str, shape: type[Structure], size: int, seed: int) -> Body:
    """Several places filled at once."""
    chance = random.Random(f"{seed} {operation}")
    members = msgspec.structs.fields(shape)
    chosen = chance.sample(members, k=min(4, len(members)))
    parts = []
    for member in members:
        content = smallest(member.type, member.encode_name)
        if member in chosen:
            content = chance.choice(list(fillings(_bare(member.type), size // 4)))[1]
        parts.append(b'"%b":%b' % (member.encode_name.encode(), content))
    return Body(f"{operation} mixed, seed {seed}", operation, b"{%b}" % b",".join(parts))


# -- bytes


def _wrapped(unit: bytes, size: int, start: bytes, end: bytes) -> bytes:
    return start + b",".join([unit] * max(1, size // (len(unit) + 1))) + end


def _list(unit: bytes, size: int) -> bytes:
    return _wrapped(unit, size, b"[", b"]")


def _numbered(unit: bytes, size: int) -> bytes:
    """A list of distinct elements, in reverse order."""
    count = size // (len(unit % 10**6) + 1)
    return b"[%b]" % b",".join(map(unit.__mod__, range(count, 0, -1)))


def _map(unit: bytes, size: int) -> bytes:
    return b"{%b}" % _numbered(unit, size)[1:-1]


def _text(unit: bytes, size: int) -> bytes:
    return b'"%b"' % (unit * (size // len(unit)))


def _nested(start: bytes, end: bytes, size: int, middle: bytes = b"") -> bytes:
    depth = size // (len(start) + len(end))
    return start * depth + middle + end * depth


# -- types


def _bare(annotation: Any) -> Any:
    """A type without constraints and without `| None`."""
    while get_origin(annotation) in (Annotated, Union, types.UnionType):
        for mark in get_args(annotation):
            if isinstance(mark, ReadAs):
                return mark.type
        annotation = get_args(annotation)[0]
    return annotation


def _is_shape(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Structure)
