"""Items: normalised values, their sizes, and their stored bytes.

A *normalised* value is the value as DynamoDB returns it: numbers in canonical form, sets sorted and
without duplicates. `normalise` expects a value whose JSON types are checked already, and raises
DynamoDB's own faults for invalid values. Items are stored as DynamoDB JSON, so a response can
contain the stored bytes without decoding them.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any

import msgspec

from tablewright.encoding.numbers import normalise_number, number_size
from tablewright.errors import ValidationException, invalid, join_truncated
from tablewright.limits import MAX_NESTING
from tablewright.values import Item, Value, sorted_members

ITEM_TOO_LARGE = "Item size has exceeded the maximum allowed size"
ITEM_TO_UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
NAME_TOO_LARGE = "Attribute name is too large, must be less than 65536 bytes"

dump = msgspec.json.Encoder().encode
load: Callable[[bytes], Item] = msgspec.json.Decoder(dict[str, dict[str, Any]]).decode

_EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
EMPTY_NAME = "Empty attribute name"
AMBIGUOUS = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
TOO_DEEP_IN_TRANSACTION = "Nesting Levels have exceeded supported limits"
TOO_DEEP = (
    f"{TOO_DEEP_IN_TRANSACTION}: Attributes in the item have nested levels beyond supported limit"
)


def normalise_item(raw: Item) -> Item:
    """Return the normalised form of an item (or a key) of a request.

    DynamoDB looks for an empty name of an attribute first, and for one inside a map last, after
    the depth of the item.
    """
    if "" in raw:
        raise ValidationException(EMPTY_NAME)
    try:
        return _normalise_values(raw, 0)
    except ValidationException as fault:
        if fault.message == EMPTY_NAME:
            for value in raw.values():
                check_depth(value)
        raise


def _normalise_values(values: Item, depth: int) -> Item:
    found = {}
    for name, value in values.items():
        # Most values are strings, which need no normalisation.
        found[name] = value if len(value) == 1 and "S" in value else normalise(value, depth)
    return found


def normalise(value: Value, depth: int = 0) -> Value:
    """Return the normalised form of a value; the same object if it is normalised already.

    >>> normalise({"N": "1e2"}), normalise({"SS": ["b", "a"]})
    ({'N': '100'}, {'SS': ['a', 'b']})
    """
    if len(value) != 1:
        raise ValidationException(AMBIGUOUS if value else _EMPTY)
    ((tag, content),) = value.items()
    if tag == "S" or tag == "BOOL" or tag == "B":
        return value
    if tag == "N":
        number = normalise_number(content)
        return value if number == content else {"N": number}
    if tag == "M" or tag == "L":
        if depth == MAX_NESTING - 1:
            raise ValidationException(TOO_DEEP)
        if not content:
            return value
        if tag == "M":
            if "" in content:
                raise ValidationException(EMPTY_NAME)
            members = _normalise_values(content, depth + 1)
            return value if all(map(is_, members.values(), content.values())) else {"M": members}
        elements = [v if len(v) == 1 and "S" in v else normalise(v, depth + 1) for v in content]
        return value if all(map(is_, elements, content)) else {"L": elements}
    if tag == "NULL":
        if content is not True:
            raise invalid("Null attribute value types must have the value of true")
        return value
    return {tag: _NORMALISE_SET[tag](content)}


def check_depth(value: Value, depth: int = 0) -> None:
    """Raise a fault if a value is nested too deeply; its parts are normalised already."""
    for tag, content in value.items():
        if tag == "M" or tag == "L":
            if depth == MAX_NESTING - 1:
                raise ValidationException(TOO_DEEP)
            values = content.values() if tag == "M" else content
            # Without a call for each of up to 400,000 elements.
            for inner in [each for each in values if "M" in each or "L" in each]:
                check_depth(inner, depth + 1)


def _order_repeated(members: list[str], order: Callable[[str], Any]) -> list[str]:
    """Return members of which one is repeated as DynamoDB reports them.

    The members before the first repeat are in byte order, then come the repeat and the rest.
    """
    seen: set[str] = set()
    for number, member in enumerate(members):
        if member in seen:
            return [*sorted(seen, key=order), *members[number:]]
        seen.add(member)
    raise AssertionError("a set with fewer members than its list has a repeated one")


def _string_set(members: list[str]) -> list[str]:
    if not members:
        raise invalid("An string set  may not be empty")
    if len(members) == 1:
        return members
    if len(set(members)) != len(members):
        raise _duplicates("", _order_repeated(members, str), members, ", ")
    return sorted_members("SS", members)


def _number_set(members: list[str]) -> list[str]:
    if not members:
        raise invalid("An number set  may not be empty")
    numbers = [normalise_number(member) for member in members]
    if len(set(numbers)) != len(numbers):
        reason = "Input collection contains duplicates"
        raise invalid(f"{reason}.", old=reason)
    return sorted_members("NS", numbers)


def _binary_set(members: list[str]) -> list[str]:
    if not members:
        raise invalid("Binary sets should not be empty")
    if len(set(members)) != len(members):
        repeated = _order_repeated(members, binascii.a2b_base64)
        raise _duplicates("of type BS", repeated, members, ",")
    return sorted_members("BS", members)


def _duplicates(
    kind: str, repeated: list[str], members: list[str], comma: str
) -> ValidationException:
    """Return the fault for a set with a repeated member, which DynamoDB shows as JSON.

    Before 2026, it showed the members as they were sent.
    """

    def fault(shown: str) -> ValidationException:
        return invalid(f"Input collection [{shown}]{kind} contains duplicates.")

    quoted = join_truncated((f'"{member}"' for member in repeated), comma)
    return ValidationException(fault(quoted).message, old=fault(join_truncated(members)).message)


_NORMALISE_SET = {"SS": _string_set, "NS": _number_set, "BS": _binary_set}


def show_value(value: Value) -> str:
    """Return a value as messages of DynamoDB show it.

    >>> show_value({"S": "a"})
    'AttributeValue: {S:a}'
    """
    ((tag, content),) = value.items()
    return f"AttributeValue: {{{tag}:{content}}}"


def item_size(item: Mapping[str, Value]) -> int:
    """Return the size of an item as DynamoDB counts it: names, values and nesting overhead.

    >>> item_size({"id": {"S": "abc"}, "tags": {"L": [{"S": "x"}]}})
    14
    """
    texts = list(item)  # names and strings: the length of all at once takes two thirds of the time
    size = 0
    for value in item.values():
        if "S" in value:
            texts.append(value["S"])
        else:
            for tag, content in value.items():
                size += _SIZES[tag](content)
    return size + text_size("".join(texts))


def _list_size(values: list[Value]) -> int:
    if len(values) < 32:
        return 3 + len(values) + sum(map(value_size, values))
    texts = [value["S"] for value in values if "S" in value]
    size = 3 + len(values) + text_size("".join(texts))
    if len(texts) < len(values):
        size += sum([value_size(value) for value in values if "S" not in value])
    return size


def value_size(value: Value) -> int:
    """Return the size of a value as DynamoDB counts it, without its attribute name."""
    for tag, content in value.items():
        return _SIZES[tag](content)
    raise ValueError("a value must have exactly one type, and this one has none")


def text_size(text: str) -> int:
    """Return the size of a name or a string as DynamoDB counts it."""
    return len(text) if text.isascii() else len(text.encode())


def _binary_size(text: str) -> int:
    return len(text) // 4 * 3 - text.endswith("=") - text.endswith("==")


def _sum_of(size: Callable[[str], int]) -> Callable[[Iterable[str]], int]:
    return lambda members: sum(map(size, members))


# DynamoDB counts 3 bytes for a list or map and 1 more for each of its elements.
_SIZES: dict[str, Callable[[Any], int]] = {
    "S": text_size,
    "N": number_size,
    "B": _binary_size,
    "BOOL": lambda content: 1,
    "NULL": lambda content: 1,
    "SS": lambda members: text_size("".join(members)),
    "NS": _sum_of(number_size),
    "BS": _sum_of(_binary_size),
    "L": _list_size,
    "M": lambda values: 3 + len(values) + item_size(values),
}
