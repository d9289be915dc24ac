"""Conditions: one operator and key of a statement's `Condition`, evaluated for a request.

    "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["USER#1", "USER#1#*"]}

A condition key of a request has any number of values, or is absent (an empty one counts as absent):

| | true if the key is absent | true if the key has values |
|---|---|---|
| `Null: true` / `Null: false` | yes / no | no / yes |
| `ForAllValues:...` | **yes** | if each value satisfies the operator |
| `ForAnyValue:...` | no | if at least one value satisfies it |
| `...IfExists` | yes | as without it |
| plain | no; a negation: yes | if the value satisfies it |

A value satisfies an operator if it matches one of the policy's values; a negation, if it matches
none of them. IAM does not define plain operators for keys with several values. Here they are
restrictive: in an Allow all values must satisfy the operator, in a Deny one value is enough.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, Literal, TypeAlias

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.policy.pattern import (
    ConditionKeys,
    Matcher,
    Pattern,
    Resolved,
    compile_arn_matcher,
    compile_text_matcher,
    to_plain_text,
)

Effect: TypeAlias = Literal["Allow", "Deny"]

# The condition keys: the request properties that policies can test. IAM ignores the case of their
# names; here they are in lower case.
LEADING_KEYS = "dynamodb:leadingkeys"
ATTRIBUTES = "dynamodb:attributes"
SELECT = "dynamodb:select"
RETURN_VALUES = "dynamodb:returnvalues"
RETURN_CAPACITY = "dynamodb:returnconsumedcapacity"
FULL_TABLE_SCAN = "dynamodb:fulltablescan"
ENCLOSING_OPERATION = "dynamodb:enclosingoperation"
#: The parts of a partition key of several attributes, in order.
PARTITION_KEYS = (
    "dynamodb:firstpartitionkeyvalues",
    "dynamodb:secondpartitionkeyvalues",
    "dynamodb:thirdpartitionkeyvalues",
    "dynamodb:fourthpartitionkeyvalues",
)
RESOURCE_TAG = "aws:resourcetag/"
REQUEST_TAG = "aws:requesttag/"
TAG_KEYS = "aws:tagkeys"
PRINCIPAL_TAG = "aws:principaltag/"
CURRENT_TIME = "aws:currenttime"
EPOCH_TIME = "aws:epochtime"

#: DynamoDB's own condition keys, as its documentation spells them.
DYNAMODB_KEYS = {
    name.lower(): name
    for name in (
        "dynamodb:LeadingKeys",
        "dynamodb:FirstPartitionKeyValues",
        "dynamodb:SecondPartitionKeyValues",
        "dynamodb:ThirdPartitionKeyValues",
        "dynamodb:FourthPartitionKeyValues",
        "dynamodb:Attributes",
        "dynamodb:Select",
        "dynamodb:ReturnValues",
        "dynamodb:ReturnConsumedCapacity",
        "dynamodb:EnclosingOperation",
        "dynamodb:FullTableScan",
    )
}


# --- operators ----------------------------------------------------------------------------------

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
    **{form.format(""): (maker, False) for form, maker in _EQUALS.items()},
    **{form.format("Not"): (maker, True) for form, maker in _EQUALS.items()},
    **{
        f"Numeric{form}": (_typed_operator(_parse_number, holds), False)
        for form, holds in _ORDERS.items()
    },
    **{
        f"Date{form}": (_typed_operator(_parse_date, holds), False)
        for form, holds in _ORDERS.items()
    },
    "Bool": (_IGNORE_CASE, False),
    "BinaryEquals": (_typed_operator(_parse_binary, operator.eq), False),
}


# --- conditions ---------------------------------------------------------------------------------


class Quantifier(Enum):
    """How many of a key's values must satisfy the operator."""

    ALL = "ForAllValues"
    ANY = "ForAnyValue"


@dataclass(frozen=True, slots=True)
class KeyPresence:
    """`Null`: tests whether a key is absent."""

    key: str
    options: frozenset[bool]  # with both options the condition is always true

    def holds(self, keys: ConditionKeys) -> bool:
        return (not keys.get(self.key)) in self.options


@dataclass(frozen=True, slots=True)
class KeyComparison:
    """An operator, the condition key that it reads, and the values of the policy."""

    key: str
    tests: tuple[ValueTest, ...]
    negated: bool
    quantifier: Quantifier
    if_absent: bool

    def holds(self, keys: ConditionKeys) -> bool:
        values = keys.get(self.key)
        if not values:
            return self.if_absent
        decisive = self.quantifier is Quantifier.ANY  # the first value with this outcome decides
        for value in values:
            for test in self.tests:
                if test(value, keys):
                    satisfied = not self.negated
                    break
            else:
                satisfied = self.negated
            if satisfied is decisive:
                return decisive
        return not decisive


PolicyCondition: TypeAlias = KeyPresence | KeyComparison


def build_condition(
    operator: str, key: str, values: Sequence[Pattern], *, effect: Effect, where: str
) -> PolicyCondition:
    """Build a condition from one operator and one key of a `Condition` element."""
    name = key.lower()
    if operator.lower() == "null":
        return KeyPresence(name, frozenset(_parse_boolean(value, where) for value in values))
    prefix, colon, rest = operator.rpartition(":")
    base = rest[: -len("IfExists")] if rest.lower().endswith("ifexists") else rest
    made = _OPERATORS.get(base.lower())
    stated = _QUANTIFIERS.get(prefix.lower())
    if made is None or (colon and stated is None):
        raise InvalidValue(f"{where}: unknown operator {operator!r}{_hint(operator)}")
    maker, negated = made
    if stated is Quantifier.ALL or base != rest:
        if_absent = True
    else:
        if_absent = negated and stated is None
    return KeyComparison(
        key=name,
        tests=tuple(maker(value, where) for value in values),
        negated=negated,
        quantifier=stated or (Quantifier.ALL if effect == "Allow" else Quantifier.ANY),
        if_absent=if_absent,
    )


_OPERATORS = {name.lower(): made for name, made in OPERATORS.items()}
_QUANTIFIERS = {quantifier.value.lower(): quantifier for quantifier in Quantifier}


def _parse_boolean(pattern: Pattern, where: str) -> bool:
    text = to_plain_text(pattern.resolve({}) or ()).lower()
    if text not in ("true", "false"):
        raise InvalidValue(f"{where}: Null must be true or false, not {text!r}")
    return text == "true"


def _hint(operator: str) -> str:
    names = [
        f"{prefix}{name}{suffix}"
        for name in OPERATORS
        for prefix in ("", "ForAllValues:", "ForAnyValue:")
        for suffix in ("", "IfExists")
    ]
    return did_you_mean(operator, names, cutoff=0.8)
