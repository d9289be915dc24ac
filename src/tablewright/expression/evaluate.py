"""Evaluation: compile a resolved condition to a function of an item and the values of a request.

Owns the meaning of conditions. A comparison of different types, or with a missing operand, is
false; `<>` is then true. Functions are compiled once; each is a closure over the closures of its
parts. Evaluation modifies nothing and raises nothing: `resolve` has refused all invalid conditions.

A condition with many tests is evaluated with a `Memo`. An expression of 4 KB has a thousand
comparisons, each of which can walk through 400 KB. So the memo reduces each value once to a digest
of its JSON, in which the members of maps are sorted: normal values are equal exactly if their
digests are. A list is searched in the set of its elements' digests. Without a memo, values are
compared directly, which is faster for few tests.
"""

from __future__ import annotations

import binascii
import operator
from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from tablewright.encoding.items import value_size
from tablewright.expression import tree
from tablewright.expression.resolve import Values
from tablewright.values import SET_MEMBER, Item, Value, sort_key, tag_of

Test: TypeAlias = "Callable[[Item, Values, Memo | None], bool]"
Read: TypeAlias = Callable[[Item, Values], Value | None]

T = TypeVar("T")

_dump: Final = msgspec.json.Encoder(order="deterministic").encode
#: Types whose content is compared directly: it is one text.
_TEXTS: Final = frozenset(("S", "N", "B", "BOOL", "NULL"))
#: JSON that is used as it is; a digest takes longer.
_SHORT: Final = 64

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
            return lambda item, values, memo: not test(item, values, memo)
        case tree.Comparison("=", left, right):
            return _equal(compile_operand(left), compile_operand(right))
        case tree.Comparison("<>", left, right):
            equal = _equal(compile_operand(left), compile_operand(right))
            return lambda item, values, memo: not equal(item, values, memo)
        case tree.Comparison(comparator, left, right):
            return _ordered(_ORDER[comparator], compile_operand(left), compile_operand(right))
        case tree.Between(operand, low, high):
            return _between(*map(compile_operand, (operand, low, high)))
        case tree.In(operand, options):
            return _in(compile_operand(operand), options)
        case tree.Call("attribute_exists", (tree.Path((name,)),)):
            return lambda item, values, memo: name in item
        case tree.Call("attribute_not_exists", (tree.Path((name,)),)):
            return lambda item, values, memo: name not in item
        case tree.Call(function, arguments):
            return _TESTS[function](*map(compile_operand, arguments))


def count_tests(condition: tree.Condition) -> int:
    """Return how many comparisons and functions a condition has; each option of IN is one."""
    match condition:
        case tree.And(conditions) | tree.Or(conditions):
            return sum(map(count_tests, conditions))
        case tree.Not(inner):
            return count_tests(inner)
        case tree.In(_, options):
            return len(options)
    return 1


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
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        for inner in tests:  # noqa: SIM110 # all() with a generator takes twice as long
            if not inner(item, values, memo):
                return False
        return True

    return test


def _any(tests: tuple[Test, ...]) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        for inner in tests:  # noqa: SIM110 # as above
            if inner(item, values, memo):
                return True
        return False

    return test


def _equal(left: Read, right: Read) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        value = left(item, values)
        if value is None:
            return False
        other = right(item, values)
        return value == other if memo is None else other is not None and memo.equal(value, other)

    return test


def _sort_key(value: Value | None, memo: Memo | None) -> tuple[str, Any] | None:
    """Return the type and the sort key of a value; None if its type has no order."""
    if value is not None:
        for tag, content in value.items():
            if tag == "B" and memo is not None:
                return tag, memo.binary(value)
            if tag in ("S", "N", "B"):
                return tag, sort_key(tag, content)
    return None


def _ordered(compare: Callable[[Any, Any], bool], left: Read, right: Read) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        one, two = _sort_key(left(item, values), memo), _sort_key(right(item, values), memo)
        return one is not None and two is not None and one[0] == two[0] and compare(one[1], two[1])

    return test


def _between(operand: Read, low: Read, high: Read) -> Test:
    above, below = _ordered(operator.ge, operand, low), _ordered(operator.le, operand, high)
    return lambda item, values, memo: above(item, values, memo) and below(item, values, memo)


def _in(operand: Read, options: tuple[tree.Operand, ...]) -> Test:
    reads = tuple(map(compile_operand, options))
    names = tuple(option.name for option in options if isinstance(option, tree.Value))
    others = tuple(
        read
        for read, option in zip(reads, options, strict=True)
        if not isinstance(option, tree.Value)
    )

    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        value = operand(item, values)
        if value is None:
            return False
        if memo is None:
            for option in reads:  # noqa: SIM110 # as above
                if value == option(item, values):
                    return True
            return False
        if memo.is_any(value, names):
            return True
        found = (option(item, values) for option in others)
        return any(option is not None and memo.equal(value, option) for option in found)

    return test


def _exists(operand: Read) -> Test:
    return lambda item, values, memo: operand(item, values) is not None


def _not_exists(operand: Read) -> Test:
    return lambda item, values, memo: operand(item, values) is None


def _has_type(operand: Read, wanted: Read) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        value, tag = operand(item, values), wanted(item, values)
        return value is not None and tag is not None and tag["S"] in value

    return test


def _begins_with(operand: Read, prefix: Read) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        one, two = _sort_key(operand(item, values), memo), _sort_key(prefix(item, values), memo)
        if one is None or two is None or one[0] != two[0] or one[0] == "N":
            return False
        found: bool = one[1].startswith(two[1])
        return found

    return test


def _contains(operand: Read, part: Read) -> Test:
    def test(item: Item, values: Values, memo: Memo | None) -> bool:
        value, wanted = operand(item, values), part(item, values)
        if value is None or wanted is None:
            return False
        tag = tag_of(value)
        if tag == "L":
            return wanted in value["L"] if memo is None else memo.has_element(value, wanted)
        if tag in SET_MEMBER:
            members = value[tag] if memo is None else memo.members(value)
            return wanted.get(SET_MEMBER[tag]) in members
        if tag == "S":
            return "S" in wanted and wanted["S"] in value["S"]
        one, two = _sort_key(value, memo), _sort_key(wanted, memo)
        if one is None or two is None or one[0] != two[0] or tag == "N":
            return False
        found: bool = two[1] in one[1]
        return found

    return test


def _size(operand: Read) -> Read:
    def read(item: Item, values: Values) -> Value | None:
        value = operand(item, values)
        if value is None:
            return None
        for tag, content in value.items():
            if tag == "S":
                # UTF-16 code units, as in Java: one for é, two for an emoji.
                ascii_only = content.isascii()
                units = len(content) if ascii_only else len(content.encode("utf-16-le")) // 2
                return {"N": str(units)}
            if tag == "B":
                return {"N": str(value_size(value))}
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


# --- many tests -----------------------------------------------------------------------------------


class Memo:
    """Facts about the values of a request, and about the values of one item at a time."""

    __slots__ = ("_of_item", "_of_request", "_request_values", "_values")

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values
        self._request_values = frozenset(map(id, values.values()))
        self._of_request: dict[Hashable, Any] = {}
        self._of_item: dict[Hashable, Any] = {}

    def begin(self) -> None:
        """Forget the values of the previous item."""
        self._of_item = {}

    def equal(self, one: Value, two: Value) -> bool:
        for tag, content in one.items():
            if tag in _TEXTS:
                return one == two
            return (
                tag in two
                and len(content) == len(two[tag])
                and (one is two or self._digest(one) == self._digest(two))
            )
        raise AssertionError("a value has a type")

    def is_any(self, value: Value, names: tuple[str, ...]) -> bool:
        """Return whether a value equals one of the request's values with these names."""
        options = self._of_request.get(names)
        if options is None:
            options = {self._digest(self._values[name]) for name in names}
            self._of_request[names] = options
        return self._digest(value) in options

    def has_element(self, value: Value, wanted: Value) -> bool:
        """Return whether a list has an element that equals a value."""
        elements = self._once(value, "elements", lambda: _digests(value["L"]))
        return self._digest(wanted) in elements

    def members(self, value: Value) -> frozenset[str]:
        """Return the members of a set."""
        return self._once(value, "members", lambda: frozenset(*value.values()))

    def binary(self, value: Value) -> bytes:
        """Return the content of a binary value."""
        return self._once(value, "binary", lambda: binascii.a2b_base64(value["B"]))

    def _digest(self, value: Value) -> Hashable:
        for tag in value:
            if tag in _TEXTS:
                return _digest(value)
        return self._once(value, "digest", lambda: _digest(value))

    def _once(self, value: Value, what: str, compute: Callable[[], T]) -> T:
        key = what, id(value)
        known = self._of_request if id(value) in self._request_values else self._of_item
        if key not in known:
            known[key] = compute()
        found: T = known[key]
        return found


def _digests(values: list[Value]) -> set[Hashable]:
    """Return the digests of many values; those of texts without a call for each (10 ms, not 90)."""
    found: set[Hashable] = {pair for value in values for pair in value.items() if pair[0] in _TEXTS}
    found.update(map(_digest, [value for value in values if _TEXTS.isdisjoint(value)]))
    return found


def _digest(value: Value) -> Hashable:
    for tag, content in value.items():
        if tag in _TEXTS:
            return tag, content
        text = _dump(value)
        return text if len(text) <= _SHORT else blake2b(text, digest_size=32).digest()
    raise AssertionError("a value has a type")
