"""Condition operators: how a value of a request is compared with a value of a policy.

    StringEquals  StringEqualsIgnoreCase  StringLike      and their negations, StringNot...
    NumericEquals, ...LessThan, ...  DateEquals, ...      numbers; ISO 8601 or seconds since 1970
    Bool  BinaryEquals  IpAddress  ArnEquals = ArnLike

When a policy is parsed, its operator creates a `ValueTest` for each value; an invalid value of the
policy is an error. An invalid value of a request matches nothing.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import operator
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from tablewright.errors import InvalidValue
from tablewright.policy.pattern import (
    ConditionKeys,
    Matcher,
    Pattern,
    Resolved,
    compile_arn_matcher,
    compile_text_matcher,
    to_plain_text,
)

#: Returns whether a value of a request matches; the keys are used to resolve variables.
ValueTest: TypeAlias = Callable[[str, ConditionKeys], bool]
#: Creates the test for a value of the policy; `where` is its path, for messages.
TestMaker: TypeAlias = Callable[[Pattern, str], ValueTest]


def _pattern_operator(matcher: Callable[[Resolved], Matcher]) -> TestMaker:
    """Return an operator whose values can contain variables."""

    def make(pattern: Pattern, where: str) -> ValueTest:
        if pattern.variables:

            def resolve_and_test(value: str, keys: ConditionKeys) -> bool:
                tokens = pattern.resolve(keys)
                return tokens is not None and bool(matcher(tokens)(value))

            return resolve_and_test
        tokens = pattern.resolve({})
        assert tokens is not None
        matches = matcher(tokens)
        return lambda value, keys: bool(matches(value))

    return make


def _typed_operator(read: Callable[[str], Any], holds: Callable[[Any, Any], bool]) -> TestMaker:
    """Return an operator on typed values, which have neither wildcards nor variables."""

    def make(pattern: Pattern, where: str) -> ValueTest:
        if pattern.variables:
            raise InvalidValue(
                f"{where}: policy variables are allowed only in String, Arn and Bool operators"
            )
        text = to_plain_text(pattern.resolve({}) or ())
        try:
            expected = read(text)
        except ValueError as error:
            raise InvalidValue(f"{where}: {error}") from None

        def test(value: str, keys: ConditionKeys) -> bool:
            try:
                return holds(read(value), expected)
            except ValueError:
                return False

        return test

    return make


def _parse_number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ValueError(f"{text!r} is not a number")
    return number


def _parse_date(text: str) -> datetime:
    try:
        if text.removeprefix("-").replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(text), UTC)
        date = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is not a date such as 2026-01-15T10:00:00Z, nor seconds since 1970"
        ) from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _parse_binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"{text!r} is not base64") from None


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(
            f"{text!r} is not an IP address or a range such as 203.0.113.0/24"
        ) from None


def _is_inside(address: Any, network: Any) -> bool:
    return address.version == network.version and bool(address.subnet_of(network))


def _equals_matcher(tokens: Resolved) -> Matcher:
    return to_plain_text(tokens).__eq__


def _equals_ignoring_case_matcher(tokens: Resolved) -> Matcher:
    expected = to_plain_text(tokens).lower()
    return lambda value: value.lower() == expected


_IGNORE_CASE = _pattern_operator(_equals_ignoring_case_matcher)
_ARN = _pattern_operator(compile_arn_matcher)

_EQUALS: dict[str, TestMaker] = {
    "String{}Equals": _pattern_operator(_equals_matcher),
    "String{}EqualsIgnoreCase": _IGNORE_CASE,
    "String{}Like": _pattern_operator(compile_text_matcher),
    "Numeric{}Equals": _typed_operator(_parse_number, operator.eq),
    "Date{}Equals": _typed_operator(_parse_date, operator.eq),
    "{}IpAddress": _typed_operator(_parse_network, _is_inside),
    "Arn{}Equals": _ARN,
    "Arn{}Like": _ARN,
}
_ORDERS = {
    "LessThan": operator.lt,
    "LessThanEquals": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEquals": operator.ge,
}

#: By name: the maker of its tests, and whether it is a negation.
OPERATORS: dict[str, tuple[TestMaker, bool]] = {
    **{name.format(""): (maker, False) for name, maker in _EQUALS.items()},
    **{name.format("Not"): (maker, True) for name, maker in _EQUALS.items()},
    **{
        f"Numeric{name}": (_typed_operator(_parse_number, holds), False)
        for name, holds in _ORDERS.items()
    },
    **{
        f"Date{name}": (_typed_operator(_parse_date, holds), False)
        for name, holds in _ORDERS.items()
    },
    "Bool": (_IGNORE_CASE, False),
    "BinaryEquals": (_typed_operator(_parse_binary, operator.eq), False),
}
