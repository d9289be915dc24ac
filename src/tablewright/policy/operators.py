"""Condition operators: how a value of a request is compared with a value of a policy.

    StringEquals  StringEqualsIgnoreCase  StringLike      and their negations, StringNot...
    NumericEquals, ...LessThan, ...  DateEquals, ...      numbers; ISO 8601 or seconds since 1970
    Bool  BinaryEquals  IpAddress  ArnEquals = ArnLike

An operator makes a `Test` of each value of the policy once, when the policy is parsed: a value
that the operator cannot read is an error there. A value of the request that it cannot read
matches nothing.
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
    Keys,
    Matcher,
    Pattern,
    Resolved,
    arn_matcher,
    plain_text,
    text_matcher,
)

#: Whether a value of the request matches; the keys are for variables.
Test: TypeAlias = Callable[[str, Keys], bool]
#: Makes a test of a value of the policy; `where` is for messages.
Maker: TypeAlias = Callable[[Pattern, str], Test]


def _pattern_operator(matcher: Callable[[Resolved], Matcher]) -> Maker:
    """An operator whose values may have variables."""

    def make(pattern: Pattern, where: str) -> Test:
        if pattern.variables:

            def resolve_and_test(value: str, keys: Keys) -> bool:
                tokens = pattern.resolve(keys)
                return tokens is not None and bool(matcher(tokens)(value))

            return resolve_and_test
        tokens = pattern.resolve({})
        assert tokens is not None
        matches = matcher(tokens)
        return lambda value, keys: bool(matches(value))

    return make


def _typed_operator(read: Callable[[str], Any], holds: Callable[[Any, Any], bool]) -> Maker:
    """An operator whose values are of a type, and have neither wildcards nor variables."""

    def make(pattern: Pattern, where: str) -> Test:
        if pattern.variables:
            raise InvalidValue(f"{where}: policy variables are for String, Arn and Bool operators")
        text = plain_text(pattern.resolve({}) or ())
        try:
            expected = read(text)
        except ValueError as error:
            raise InvalidValue(f"{where}: {error}") from None

        def test(value: str, keys: Keys) -> bool:
            try:
                return holds(read(value), expected)
            except ValueError:
                return False

        return test

    return make


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ValueError(f"{text!r} is not a number")
    return number


def _date(text: str) -> datetime:
    try:
        if text.removeprefix("-").replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(text), UTC)
        date = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is not a date such as 2026-01-15T10:00:00Z, nor seconds since 1970"
        ) from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"{text!r} is not base64") from None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(
            f"{text!r} is not an IP address or a range such as 203.0.113.0/24"
        ) from None


def _is_inside(address: Any, network: Any) -> bool:
    return address.version == network.version and bool(address.subnet_of(network))


def _equal(tokens: Resolved) -> Matcher:
    return plain_text(tokens).__eq__


def _equal_ignoring_case(tokens: Resolved) -> Matcher:
    expected = plain_text(tokens).lower()
    return lambda value: value.lower() == expected


_IGNORE_CASE = _pattern_operator(_equal_ignoring_case)
_ARN = _pattern_operator(arn_matcher)

_EQUALS: dict[str, Maker] = {
    "String{}Equals": _pattern_operator(_equal),
    "String{}EqualsIgnoreCase": _IGNORE_CASE,
    "String{}Like": _pattern_operator(text_matcher),
    "Numeric{}Equals": _typed_operator(_number, operator.eq),
    "Date{}Equals": _typed_operator(_date, operator.eq),
    "{}IpAddress": _typed_operator(_network, _is_inside),
    "Arn{}Equals": _ARN,
    "Arn{}Like": _ARN,
}
_ORDERS = {
    "LessThan": operator.lt,
    "LessThanEquals": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEquals": operator.ge,
}

#: By name: what makes its tests, and whether it is a negation.
OPERATORS: dict[str, tuple[Maker, bool]] = {
    **{name.format(""): (maker, False) for name, maker in _EQUALS.items()},
    **{name.format("Not"): (maker, True) for name, maker in _EQUALS.items()},
    **{
        f"Numeric{name}": (_typed_operator(_number, holds), False)
        for name, holds in _ORDERS.items()
    },
    **{f"Date{name}": (_typed_operator(_date, holds), False) for name, holds in _ORDERS.items()},
    "Bool": (_IGNORE_CASE, False),
    "BinaryEquals": (_typed_operator(_binary, operator.eq), False),
}
