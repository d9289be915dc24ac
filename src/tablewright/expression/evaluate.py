"""Evaluation: compile a resolved condition to a function of an item and the values of a request.

Owns the meaning of conditions. A comparison of different types, or with a missing operand, is
false; `<>` is then true. Functions are compiled once; each is a closure over the closures of its
parts. Evaluation modifies nothing and raises nothing: `resolve` has refused all invalid conditions.
"""

from __future__ import annotations

import binascii
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from tablewright.expression import tree
from tablewright.expression.resolve import Values
from tablewright.values import SET_MEMBER, Item, Value, sort_key, tag_of

Test: TypeAlias = Callable[[Item, Values], bool]
Read: TypeAlias = Callable[[Item, Values], Value | None]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compile_condition(condition: tree.Condition) -> Test:
    """Compile a function that returns whether a condition is true (`{}` is a missing item)."""
    match condition:
        case tree.And(conditions):
            return _all(tuple(map(compile_condition, conditions)))
        case tree.Or(conditions):
            return _any(tuple(map(compile_condition, conditions)))
        case tree.Not(inner):
            test = compile_condition(inner)
            return lambda item, values: not test(item, values)
        case tree.Comparison("=", left, right):
            return _equal(compile_operand(left), compile_operand(right))
        case tree.Comparison("<>", left, right):
            equal = _equal(compile_operand(left), compile_operand(right))
            return lambda item, values: not equal(item, values)
        case tree.Comparison(comparator, left, right):
            return _ordered(_ORDER[comparator], compile_operand(left), compile_operand(right))
        case tree.Between(operand, low, high):
            return _between(*map(compile_operand, (operand, low, high)))
        case tree.In(operand, options):
            return _in(compile_operand(operand), tuple(map(compile_operand, options)))
        case tree.Call(function, arguments):
            return _TESTS[function](*map(compile_operand, arguments))


def compile_operand(operand: tree.Operand) -> Read:
    """Compile a function that reads an operand of a condition; None if it is missing."""
    match operand:
        case tree.Path(parts):
            return compile_path(parts)
        case tree.Value(name):
            return lambda item, values: values[name]
        case tree.Call(_, (argument,)):
            return _size(compile_operand(argument))
        case tree.Call() | tree.Arithmetic():
            raise AssertionError("not an operand of a condition")


def compile_path(parts: tuple[str | int, ...]) -> Read:
    """Return a function that reads the value at a path of an item; None if it is missing."""
    first, *rest = parts
    if not rest:
        return lambda item, values: item.get(first)  # type: ignore[arg-type] # a name

    def read(item: Item, values: Values) -> Value | None:
        value: Value | None = item.get(first)  # type: ignore[arg-type] # a name
        for part in rest:
            if value is None:
                return None
            if part.__class__ is str:
                value = value["M"].get(part) if "M" in value else None
            else:
                elements = value.get("L", ())
                value = elements[part] if part < len(elements) else None  # type: ignore[operator]
        return value

    return read


def _all(tests: tuple[Test, ...]) -> Test:
    def test(item: Item, values: Values) -> bool:
        for inner in tests:  # noqa: SIM110 # all() with a generator takes twice as long
            if not inner(item, values):
                return False
        return True

    return test


def _any(tests: tuple[Test, ...]) -> Test:
    def test(item: Item, values: Values) -> bool:
        for inner in tests:  # noqa: SIM110 # as above
            if inner(item, values):
                return True
        return False

    return test


def _equal(left: Read, right: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        value = left(item, values)
        return value is not None and value == right(item, values)

    return test


def _sort_key(value: Value | None) -> tuple[str, Any] | None:
    """Return the type and the sort key of a value; None if its type has no order."""
    if value is not None:
        for tag, content in value.items():
            if tag in ("S", "N", "B"):
                return tag, sort_key(tag, content)
    return None


def _ordered(compare: Callable[[Any, Any], bool], left: Read, right: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        one, two = _sort_key(left(item, values)), _sort_key(right(item, values))
        return one is not None and two is not None and one[0] == two[0] and compare(one[1], two[1])

    return test


def _between(operand: Read, low: Read, high: Read) -> Test:
    above, below = _ordered(operator.ge, operand, low), _ordered(operator.le, operand, high)
    return lambda item, values: above(item, values) and below(item, values)


def _in(operand: Read, options: tuple[Read, ...]) -> Test:
    def test(item: Item, values: Values) -> bool:
        value = operand(item, values)
        if value is None:
            return False
        for option in options:  # noqa: SIM110 # as above
            if value == option(item, values):
                return True
        return False

    return test


def _exists(operand: Read) -> Test:
    return lambda item, values: operand(item, values) is not None


def _not_exists(operand: Read) -> Test:
    return lambda item, values: operand(item, values) is None


def _has_type(operand: Read, wanted: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        value, tag = operand(item, values), wanted(item, values)
        return value is not None and tag is not None and tag["S"] in value

    return test


def _begins_with(operand: Read, prefix: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        one, two = _sort_key(operand(item, values)), _sort_key(prefix(item, values))
        if one is None or two is None or one[0] != two[0] or one[0] == "N":
            return False
        found: bool = one[1].startswith(two[1])
        return found

    return test


def _contains(operand: Read, part: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        value, wanted = operand(item, values), part(item, values)
        if value is None or wanted is None:
            return False
        tag = tag_of(value)
        if tag == "L":
            return wanted in value["L"]
        if tag in SET_MEMBER:
            return wanted.get(SET_MEMBER[tag]) in value[tag]
        if tag == "S":
            return "S" in wanted and wanted["S"] in value["S"]
        if tag == "B" and "B" in wanted:
            return binascii.a2b_base64(wanted["B"]) in binascii.a2b_base64(value["B"])
        return False

    return test


def _size(operand: Read) -> Read:
    def read(item: Item, values: Values) -> Value | None:
        value = operand(item, values)
        if value is None:
            return None
        for tag, content in value.items():
            if tag == "S":
                # UTF-16 code units, as in Java: one for é, two for an emoji.
                return {"N": str(len(content.encode("utf-16-le")) // 2)}
            if tag == "B":
                return {"N": str(len(binascii.a2b_base64(content)))}
            if tag not in ("N", "BOOL", "NULL"):
                return {"N": str(len(content))}
        return None

    return read


_TESTS: dict[str, Callable[..., Test]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _has_type,
    "begins_with": _begins_with,
    "contains": _contains,
}
