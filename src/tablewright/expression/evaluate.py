"""Evaluating: a resolved condition to a function of an item and the values of a request.

Owns what conditions mean. Comparisons across types are false, `<>` is then true; an operand that is
not there makes a comparison false, and `<>` true. Functions are compiled once; each is a closure
over the closures of its parts. It changes nothing and raises nothing: `resolve` has refused what
cannot be evaluated.
"""

from __future__ import annotations

import binascii
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from tablewright.expression.resolve import Values
from tablewright.expression.tree import (
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Condition,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from tablewright.values import SET_MEMBER, Item, sort_key, tag_of
from tablewright.values import Value as AttributeValue

Test: TypeAlias = Callable[[Item, Values], bool]
Read: TypeAlias = Callable[[Item, Values], AttributeValue | None]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compile_condition(condition: Condition) -> Test:
    """The function that tells whether the condition holds for an item (`{}`: no item)."""
    match condition:
        case And(conditions):
            return _all(tuple(map(compile_condition, conditions)))
        case Or(conditions):
            return _any(tuple(map(compile_condition, conditions)))
        case Not(inner):
            test = compile_condition(inner)
            return lambda item, values: not test(item, values)
        case Comparison("=", left, right):
            return _equal(compile_operand(left), compile_operand(right))
        case Comparison("<>", left, right):
            equal = _equal(compile_operand(left), compile_operand(right))
            return lambda item, values: not equal(item, values)
        case Comparison(comparator, left, right):
            return _ordered(_ORDER[comparator], compile_operand(left), compile_operand(right))
        case Between(operand, low, high):
            return _between(*map(compile_operand, (operand, low, high)))
        case In(operand, options):
            return _in(compile_operand(operand), tuple(map(compile_operand, options)))
        case Call(function, arguments):
            return _TESTS[function](*map(compile_operand, arguments))


def compile_operand(operand: Operand) -> Read:
    """The function that reads an operand of a condition; None is "not there"."""
    match operand:
        case Path(parts):
            return path_reader(parts)
        case Value(name):
            return lambda item, values: values[name]
        case Call(_, (argument,)):
            return _size(compile_operand(argument))
        case Call() | Arithmetic():
            raise AssertionError("not an operand of a condition")


def path_reader(parts: tuple[str | int, ...]) -> Read:
    """The function that finds what is at a path of an item; None if there is nothing."""
    first, *rest = parts
    if not rest:
        return lambda item, values: item.get(first)  # type: ignore[arg-type] # a name

    def read(item: Item, values: Values) -> AttributeValue | None:
        value: AttributeValue | None = item.get(first)  # type: ignore[arg-type] # a name
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


def _key(value: AttributeValue | None) -> tuple[str, Any] | None:
    """A value as something to order by, with its type; None if it has no order."""
    if value is not None:
        for tag, content in value.items():
            if tag in ("S", "N", "B"):
                return tag, sort_key(tag, content)
    return None


def _ordered(compare: Callable[[Any, Any], bool], left: Read, right: Read) -> Test:
    def test(item: Item, values: Values) -> bool:
        one, two = _key(left(item, values)), _key(right(item, values))
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
        one, two = _key(operand(item, values)), _key(prefix(item, values))
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
    def read(item: Item, values: Values) -> AttributeValue | None:
        value = operand(item, values)
        if value is None:
            return None
        for tag, content in value.items():
            if tag == "S":
                # UTF-16 units, as Java counts: one for é, two for an emoji.
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
