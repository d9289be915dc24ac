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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.policy.operators import OPERATORS, ValueTest
from tablewright.policy.pattern import ConditionKeys, Pattern, to_plain_text

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
