"""Attribute values on the wire: check that their contents have the JSON types of their tags.

Only the types are checked here, with a SerializationException. `tablewright.encoding.items` checks
the contents, for example that a number is valid. Tags that are null or unknown are dropped, as in
DynamoDB's parser.

An item whose lists, maps and sets have more entries than the maximum size of an item in bytes is
refused before the entries are read: each entry takes at least one byte. (DynamoDB reports an
invalid entry first. In ExpressionAttributeValues, which may have 2 MB, DynamoDB accepts such a
list, but no item can equal it.)

`decode` decodes the body of a request. Decoded JSON has no reference cycles, so the garbage
collector is paused while a large body is decoded and checked. Otherwise the collector traverses the
growing tree repeatedly and takes longer than decoding (16 MB of `[]`: 1.2 s with the collector,
0.4 s without; refusing 16 MB of nested lists: 1.6 s with, 0.14 s without).
"""

from __future__ import annotations

import binascii
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import is_
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.encoding.items import ITEM_TOO_LARGE, normalise_item, value_size
from tablewright.encoding.numbers import is_canonical, number_size
from tablewright.errors import SerializationException, ValidationException
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item, Value

#: The contents of lists and maps below this level are not read, to prevent a stack overflow. A
#: value with more than 32 levels is refused later, after faults of other kinds.
MAX_LEVELS = 64
#: The bytes that DynamoDB counts for a list or a map in addition to its entries.
COLLECTION_OVERHEAD = 3


class _SizeBudget(Struct):
    """The bytes that remain for the lists, maps and sets of one item, at one byte per entry."""

    remaining: int = MAX_ITEM_SIZE

    def take(self, size: int, level: int) -> None:
        self.remaining -= size
        if self.remaining < 0:
            raise ValidationException(ITEM_TOO_LARGE, is_bare=True)


def read_value(raw: Any) -> Value:
    """Check the JSON types in a value, and return it without unknown tags.

    Returns `raw` itself if nothing is dropped.
    """
    return _check_value(raw, 0, None)


def read_values(raw: Any) -> dict[str, Value]:
    """Check the JSON types in the values of an item, and return it without unknown tags.

    Returns `raw` itself if all values are strings, as in most keys.
    """
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    if len(raw) > MAX_ITEM_SIZE:
        raise ValidationException(ITEM_TOO_LARGE, is_bare=True)
    for value in raw.values():
        if type(value) is not dict or len(value) != 1 or type(value.get("S")) is not str:
            break
    else:
        return raw
    return _check_values(raw, 0, _SizeBudget(MAX_ITEM_SIZE - len(raw)))


def _check_value(raw: Any, level: int, budget: _SizeBudget | None) -> Value:
    if type(raw) is not dict:
        raise mismatch(raw, f"{MODEL}.AttributeValue", element=True)
    if len(raw) == 1:
        ((tag, content),) = raw.items()
        if type(content) is _PLAIN.get(tag):
            return raw
        if content is None or tag not in _READERS:
            return {}
        found = _READERS[tag](content, level, budget or _SizeBudget())
        return raw if found is content else {tag: found}
    budget = budget or _SizeBudget()
    return {
        tag: _READERS[tag](content, level, budget)
        for tag, content in raw.items()
        if content is not None and tag in _READERS
    }


def _check_values(raw: dict[str, Any], level: int, budget: _SizeBudget) -> dict[str, Value]:
    """Read the values of an item or a map; strings, the most frequent type, need no call."""
    found = {}
    for name, value in raw.items():
        is_string = type(value) is dict and len(value) == 1 and type(value.get("S")) is str
        found[name] = value if is_string else _check_value(value, level, budget)
    return found


def _string(raw: Any, level: int, budget: _SizeBudget) -> str:
    if type(raw) is not str:
        raise mismatch(raw, "java.lang.String")
    return raw


def _boolean(raw: Any, level: int, budget: _SizeBudget) -> bool:
    if type(raw) is not bool:
        raise mismatch(raw, "java.lang.Boolean")
    return raw


def _binary(raw: Any, level: int, budget: _SizeBudget) -> str:
    if type(raw) is not str:
        if type(raw) in (bytes, bytearray):
            raise TypeError("a binary must be a base64 string in DynamoDB's JSON, not bytes")
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
    if not raw:
        return raw
    if len(raw) % 4:
        raise SerializationException(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(raw)}"
        )
    try:
        decoded = binascii.a2b_base64(raw, strict_mode=True)
    except ValueError:
        raise SerializationException("Invalid Base64 character in the value") from None
    # The last character may have unused bits. Encode again, so that equal bytes are equal strings.
    return binascii.b2a_base64(decoded, newline=False).decode()


def _list(raw: Any, level: int, budget: _SizeBudget) -> list[Value]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    if not raw or level > MAX_LEVELS:
        return raw
    budget.take(COLLECTION_OVERHEAD + len(raw), level)
    found = [
        value
        if type(value) is dict and len(value) == 1 and type(value.get("S")) is str
        else _check_value(value, level + 1, budget)
        for value in raw
    ]
    return raw if all(map(is_, found, raw)) else found


def _map(raw: Any, level: int, budget: _SizeBudget) -> dict[str, Value]:
    if type(raw) is not dict:
        raise mismatch(raw, VALUES)
    if not raw or level > MAX_LEVELS:
        return raw
    budget.take(COLLECTION_OVERHEAD + len(raw), level)
    found = _check_values(raw, level + 1, budget)
    return raw if all(map(is_, found.values(), raw.values())) else found


def _strings(raw: Any, level: int, budget: _SizeBudget) -> list[str]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    budget.take(len(raw), level)
    if set(map(type, raw)) <= {str}:
        return raw
    return [_string(member, level, budget) for member in raw]


def _binaries(raw: Any, level: int, budget: _SizeBudget) -> list[str]:
    if type(raw) is not list:
        raise mismatch(raw, "java.util.List")
    budget.take(len(raw), level)
    return [_binary(member, level, budget) for member in raw]


#: The tags for which only the JSON type is checked.
_PLAIN = {"S": str, "N": str, "BOOL": bool, "NULL": bool}
_READERS: dict[str, Callable[[Any, int, _SizeBudget], Any]] = {
    "S": _string,
    "N": _string,
    "B": _binary,
    "BOOL": _boolean,
    "NULL": _boolean,
    "SS": _strings,
    "NS": _strings,
    "BS": _binaries,
    "L": _list,
    "M": _map,
}

_JSON_TYPES = (dict, list, str, int, float, bool, type(None))
MODEL = "com.amazonaws.dynamodb.v20120810"
VALUES = f"java.util.Map<java.lang.String, {MODEL}.AttributeValue>"


def mismatch(raw: Any, wanted: str, *, element: bool = False) -> SerializationException:
    """Return DynamoDB's fault for JSON of the wrong type.

    `wanted` is the Java type that DynamoDB expects; `element` is True for entries of a list or map.
    """
    if type(raw) not in _JSON_TYPES:
        raise TypeError(f"{raw!r} is not a JSON value; pass numbers and binaries as strings")
    if type(raw) is dict:
        return SerializationException("Start of structure or map found where not expected")
    if type(raw) is list:
        kind = "" if wanted.startswith("java.util.") else "class "
        return SerializationException(f"Unrecognized collection type {kind}{wanted}")
    if not wanted.startswith("java.lang."):
        return SerializationException(
            "Unexpected value type in payload" if element else "Unexpected field type"
        )
    if wanted == "java.lang.Boolean" and type(raw) is str:
        return SerializationException("Unexpected token received from parser")
    token = "DECIMAL_VALUE" if type(raw) is float else "NUMBER_VALUE"
    if type(raw) is str:
        token = "STRING_VALUE"
    elif type(raw) is bool:
        token = "TRUE_VALUE" if raw else "FALSE_VALUE"
    elif raw is None:
        token = "NULL_VALUE"
    return SerializationException(
        f"{token} cannot be converted to {wanted.removeprefix('java.lang.')}"
    )


def read_whole_item(raw: dict[str, Any]) -> tuple[Item, int]:
    """Check, normalise and measure an item of a file or an endpoint; return it and its size.

    Raise a `DynamoDBError` if it is invalid. The size is not limited. The result is that of three
    passes: `read_values`, `normalise_item` and `item_size`. Values that need no change, which are
    most, take a third of the time here: 3 instead of 8.5 µs for an item of 11 attributes.

    >>> read_whole_item({"k": {"S": "a"}, "n": {"N": "1.0"}})
    ({'k': {'S': 'a'}, 'n': {'N': '1'}}, 5)
    """
    texts = list(raw)  # names and strings; their length is that of the joined text
    size = 0
    others: dict[str, Any] = {}
    for name, value in raw.items():
        if type(value) is dict and len(value) == 1 and name:
            if "S" in value:
                content = value["S"]
                if type(content) is str:
                    texts.append(content)
                    continue
            elif "N" in value:
                content = value["N"]
                if type(content) is str and is_canonical(content):
                    size += number_size(content)
                    continue
            elif type(value.get("BOOL")) is bool:
                size += 1
                continue
        others[name] = value
    text = "".join(texts)
    size += len(text) if text.isascii() else len(text.encode())
    if not others:
        return raw, size
    normal = normalise_item(read_values(others))
    return {**raw, **normal}, size + sum(map(value_size, normal.values()))


#: The size in bytes up to which pausing the collector costs more than it saves.
SMALL_BODY = 64 * 1024

_decode = msgspec.json.Decoder().decode


def decode(body: bytes | bytearray) -> Any:
    """Decode a body. Raise `ValueError` or `RecursionError` if it is not JSON."""
    if len(body) <= SMALL_BODY:
        return _decode(body)
    with collector_paused():
        return _decode(body)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector during a `with` block, unless it is already paused."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
