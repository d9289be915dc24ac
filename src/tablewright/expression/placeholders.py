"""Placeholders: checks of ExpressionAttributeNames and ExpressionAttributeValues.

Owns the rules about both maps that need no expression, the normal form of the values, and the fault
for entries that no expression uses. Messages are DynamoDB's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tablewright.encoding.items import NAME_TOO_LARGE, TOO_DEEP, item_size, normalise
from tablewright.encoding.truncation import MAX_ECHO_LENGTH, join_truncated
from tablewright.errors import ValidationException
from tablewright.limits import MAX_ATTRIBUTE_NAME_SIZE, MAX_PLACEHOLDER_LENGTH, MAX_SUBSTITUTED_SIZE
from tablewright.values import Value

_IS_NAME_KEY = re.compile(r"#[A-Za-z0-9_]+").fullmatch
_IS_VALUE_KEY = re.compile(r":[A-Za-z0-9_]+").fullmatch


def check_names(names: Mapping[str, str]) -> None:
    """Check ExpressionAttributeNames: not empty, then the keys, the total size and the names."""
    _check_keys("ExpressionAttributeNames", names, _IS_NAME_KEY)
    _check_total("ExpressionAttributeNames", sum(map(len, names.values())))
    for key, name in names.items():
        if not name or len(name) > MAX_ATTRIBUTE_NAME_SIZE:
            reason = NAME_TOO_LARGE if name else "Empty attribute name"
            raise ValidationException(
                f"ExpressionAttributeNames contains invalid value: {reason} for key {key}"
            )


def normalise_values(values: Mapping[str, Value]) -> tuple[dict[str, Value], int]:
    """Check ExpressionAttributeValues; return the values in normal form, and their size."""
    _check_keys("ExpressionAttributeValues", values, _IS_VALUE_KEY)
    normal = {
        # Most values are strings, which need no normalisation.
        key: value if len(value) == 1 and "S" in value else _normalise(key, value)
        for key, value in values.items()
    }
    total = item_size(normal)
    _check_total("ExpressionAttributeValues", total)
    return normal, total


def _check_keys(
    parameter: str, mapping: Mapping[str, object], is_valid: Callable[[str], object]
) -> None:
    if not mapping:
        raise ValidationException(f"{parameter} must not be empty")
    for key in mapping:
        if is_valid(key) and len(key) <= MAX_PLACEHOLDER_LENGTH:
            continue
        if not key:
            reason = "The expression attribute map contains an empty key;"
        elif len(key) > MAX_PLACEHOLDER_LENGTH:
            reason = "The expression attribute map contains a key that is too long;"
            if parameter == "ExpressionAttributeNames":
                reason += f" size of key: {len(key)}"
        else:
            reason = f'Syntax error; key: "{key}"'
        raise ValidationException(f"{parameter} contains invalid key: {reason}")


def _check_total(parameter: str, size: int) -> None:
    if size > MAX_SUBSTITUTED_SIZE:
        raise ValidationException(f"{parameter} exceeds max size")


def _normalise(key: str, value: Value) -> Value:
    try:
        return normalise(value)
    except ValidationException as fault:
        if fault.message == TOO_DEEP:  # the only fault that does not name the key
            raise
        raise ValidationException(
            f"ExpressionAttributeValues contains invalid value: {fault.message} for key {key}"
        ) from None


def refuse_unused(kind: str, given: Mapping[str, object], used: frozenset[str]) -> None:
    """Raise if a map (`kind` is "Names" or "Values") has keys that no expression uses."""
    unused = [key for key in given if key not in used]
    if unused:
        raise ValidationException(
            f"Value provided in ExpressionAttribute{kind} unused in expressions: "
            f"keys: {{{join_truncated(_java_set_order(unused))}}}"
        )


def _java_set_order(keys: list[str]) -> list[str]:
    """Sort keys in the iteration order of a Java HashSet, as in DynamoDB's message.

    Keys that do not fit into the message are not sorted.
    """
    if len(keys) > MAX_ECHO_LENGTH:
        return keys
    size = 16
    while len(keys) > size * 3 // 4:
        size *= 2

    def bucket(key: str) -> int:
        code = 0
        for character in key:
            code = (31 * code + ord(character)) & 0xFFFFFFFF
        return (code ^ code >> 16) & (size - 1)

    return sorted(keys, key=bucket)
