"""What IAM's documentation says about conditions, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.policy import AccessRequest, parse_policy

KEY = "aws:TagKeys"
ONE = "aws:RequestTag/x"


def holds(condition: dict[str, Any], *, effect: str = "Allow", **keys: Any) -> bool:
    """Whether a statement with this condition applies to a request with these keys."""
    statement = {"Effect": effect, "Action": "*", "Resource": "*", "Condition": condition}
    policy = parse_policy({"Version": "2012-10-17", "Statement": statement})
    given = {
        name: tuple(values) if isinstance(values, list) else (values,)
        for name, values in keys.items()
    }
    access = AccessRequest("dynamodb:GetItem", "arn:aws:dynamodb:r:1:table/t", _named(given))
    return policy.evaluate(access).statement is not None


def _named(given: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    names = {"many": KEY.lower(), "one": ONE.lower(), "user": "aws:username"}
    return {names.get(name, name): values for name, values in given.items()}


@pytest.mark.parametrize(
    ("operator", "expected", "value", "result"),
    [
        ("StringEquals", "a", "a", True),
        ("StringEquals", "a", "A", False),
        ("StringEquals", ["a", "b"], "b", True),
        ("StringEquals", "a*", "ab", False),
        ("StringEquals", "a*", "a*", True),
        ("StringNotEquals", ["a", "b"], "c", True),
        ("StringNotEquals", ["a", "b"], "b", False),
        ("StringEqualsIgnoreCase", "aB", "Ab", True),
        ("StringNotEqualsIgnoreCase", "aB", "Ab", False),
        ("StringLike", "a*c", "abbbc", True),
        ("StringLike", "a*c", "ac", True),
        ("StringLike", "a*c", "acd", False),
        ("StringLike", "a?c", "abc", True),
        ("StringLike", "a?c", "ac", False),
        ("StringLike", "*", "", True),
        ("StringLike", "*", "line\nbreak", True),
        ("StringLike", "*b*b", "bab", True),
        ("StringLike", "*ab*ab", "ab", False),
        ("StringLike", "a.c", "abc", False),
        ("StringLike", "a*", "A", False),
        ("StringNotLike", "a*", "b", True),
        ("StringNotLike", "a*", "ab", False),
        ("StringLike", "${*}${?}${$}", "*?$", True),
        ("StringLike", "a${*}", "ab", False),
        ("stringlike", "a*", "ab", True),
        ("NumericEquals", "10", "10.0", True),
        ("NumericEquals", 10, "1e1", True),
        ("NumericNotEquals", "10", "11", True),
        ("NumericLessThan", "10", "9", True),
        ("NumericLessThan", "10", "10", False),
        ("NumericLessThanEquals", "10", "10", True),
        ("NumericGreaterThan", "10", "10", False),
        ("NumericGreaterThanEquals", "10", "10", True),
        ("NumericEquals", "10", "ten", False),
        ("NumericEquals", "10", "NaN", False),
        ("DateEquals", "2026-01-15T10:00:00Z", "2026-01-15T11:00:00+01:00", True),
        ("DateEquals", "2026-01-15", "2026-01-15T00:00:00Z", True),
        ("DateEquals", "1768471200", "2026-01-15T10:00:00Z", True),
        ("DateNotEquals", "2026-01-15", "2026-01-16", True),
        ("DateLessThan", "2026-01-15", "2026-01-14", True),
        ("DateLessThanEquals", "2026-01-15", "2026-01-15", True),
        ("DateGreaterThan", "2026-01-15", "2026-01-15", False),
        ("DateGreaterThanEquals", "2026-01-15", "2026-01-15", True),
        ("DateLessThan", "2026-01-15", "yesterday", False),
        ("Bool", True, "true", True),
        ("Bool", "true", "True", True),
        ("Bool", "true", "false", False),
        ("BinaryEquals", "aGk=", "aGk=", True),
        ("BinaryEquals", "aGk=", "aGo=", False),
        ("IpAddress", "203.0.113.0/24", "203.0.113.9", True),
        ("IpAddress", "203.0.113.0/24", "203.0.114.9", False),
        ("IpAddress", "2001:db8::/32", "2001:db8::1", True),
        ("IpAddress", "203.0.113.0/24", "2001:db8::1", False),
        ("NotIpAddress", "203.0.113.0/24", "203.0.114.9", True),
        ("ArnLike", "arn:aws:iam::*:user/*", "arn:aws:iam::1:user/ann", True),
        ("ArnEquals", "arn:aws:iam::*:user/*", "arn:aws:iam::1:user/ann", True),
        ("ArnLike", "arn:aws:*:user/ann", "arn:aws:iam::1:user/ann", False),
        ("ArnLike", "arn:aws:iam::1:*", "arn:aws:iam::1:a:b/c", True),
        ("ArnNotLike", "arn:aws:iam::*:user/*", "arn:aws:iam::1:role/ann", True),
        ("ArnNotEquals", "arn:aws:iam::*:user/*", "arn:aws:iam::1:user/ann", False),
    ],
)
def test_an_operator_compares_one_value(
    operator: str, expected: Any, value: str, result: bool
) -> None:
    assert holds({operator: {ONE: expected}}, one=value) is result


@pytest.mark.parametrize(
    ("operator", "result"),
    [
        ("StringEquals", False),
        ("StringLike", False),
        ("NumericLessThan", False),
        ("Bool", False),
        ("ArnLike", False),
        ("StringNotEquals", True),
        ("StringNotLike", True),
        ("NumericNotEquals", True),
        ("NotIpAddress", True),
        ("ArnNotLike", True),
        ("StringEqualsIfExists", True),
        ("StringNotEqualsIfExists", True),
        ("NumericLessThanIfExists", True),
        ("ForAllValues:StringEquals", True),
        ("ForAllValues:StringNotEquals", True),
        ("ForAnyValue:StringEquals", False),
        ("ForAnyValue:StringNotEquals", False),
        ("ForAnyValue:StringEqualsIfExists", True),
        ("ForAllValues:StringEqualsIfExists", True),
    ],
)
@pytest.mark.parametrize("keys", [{}, {"one": []}])
@pytest.mark.parametrize("effect", ["Allow", "Deny"])
def test_an_absent_key_satisfies_negations_if_exists_and_for_all_values(
    operator: str, result: bool, keys: dict[str, Any], effect: str
) -> None:
    value = "203.0.113.1" if "Ip" in operator else "arn:aws:iam" if "Arn" in operator else "1"
    assert holds({operator: {ONE: value}}, effect=effect, **keys) is result


@pytest.mark.parametrize(
    ("operator", "values", "result"),
    [
        ("ForAllValues:StringEquals", ["a", "b"], True),
        ("ForAllValues:StringEquals", ["a", "c"], False),
        ("ForAnyValue:StringEquals", ["a", "c"], True),
        ("ForAnyValue:StringEquals", ["c", "d"], False),
        ("ForAllValues:StringNotEquals", ["c", "d"], True),
        ("ForAllValues:StringNotEquals", ["a", "c"], False),
        ("ForAnyValue:StringNotEquals", ["a", "c"], True),
        ("ForAnyValue:StringNotEquals", ["a", "b"], False),
        ("ForAnyValue:StringEqualsIfExists", ["c"], False),
        ("forallvalues:stringequals", ["a"], True),
    ],
)
def test_a_set_operator_asks_all_or_any_of_the_values(
    operator: str, values: list[str], result: bool
) -> None:
    assert holds({operator: {KEY: ["a", "b"]}}, many=values) is result


@pytest.mark.parametrize("operator", ["StringEquals", "StringNotEquals"])
def test_a_plain_operator_on_several_values_never_grants_more(operator: str) -> None:
    condition = {operator: {KEY: "a"}}
    assert not holds(condition, effect="Allow", many=["a", "b"])
    assert holds(condition, effect="Deny", many=["a", "b"])


@pytest.mark.parametrize(
    ("value", "absent", "present"),
    [("true", True, False), ("false", False, True), (True, True, False), (["true", "false"], 1, 1)],
)
def test_null_asks_whether_a_key_is_absent(value: Any, absent: bool, present: bool) -> None:
    assert holds({"Null": {KEY: value}}) is bool(absent)
    assert holds({"Null": {KEY: value}}, many=[]) is bool(absent)
    assert holds({"Null": {KEY: value}}, many=["a"]) is bool(present)


def test_all_keys_and_all_operators_of_a_condition_must_hold() -> None:
    condition = {
        "StringEquals": {ONE: "a", "aws:username": "ann"},
        "Null": {KEY: "false"},
    }
    assert holds(condition, one="a", user="ann", many=["x"])
    assert not holds(condition, one="a", user="bob", many=["x"])
    assert not holds(condition, one="b", user="ann", many=["x"])
    assert not holds(condition, one="a", user="ann")


def test_names_of_keys_are_case_insensitive() -> None:
    assert holds({"StringEquals": {"AWS:RequestTAG/X": "a"}}, one="a")
    assert holds({"StringEquals": {ONE: "${AWS:UserName}"}}, one="ann", user="ann")


@pytest.mark.parametrize("user", ["*", "?", "${aws:username}", "a*", "${*}", "'", "a, 'b'"])
@pytest.mark.parametrize("operator", ["StringEquals", "StringLike", "StringEqualsIgnoreCase"])
def test_the_value_of_a_variable_is_only_text(operator: str, user: str) -> None:
    condition = {operator: {ONE: "USER#${aws:username}"}}
    assert holds(condition, one=f"USER#{user}", user=user)
    for other in ("USER#x", "USER#ax", "USER#", f"USER#{user}x"):
        assert not holds(condition, one=other, user=user)


def test_a_wildcard_beside_a_variable_is_a_wildcard() -> None:
    condition = {"StringLike": {ONE: "${aws:username}#*"}}
    assert holds(condition, one="*#order", user="*")
    assert not holds(condition, one="ann#order", user="*")


@pytest.mark.parametrize("keys", [{}, {"user": ""}, {"user": []}, {"user": ["a", "b"]}])
def test_a_variable_without_one_value_equals_nothing(keys: dict[str, Any]) -> None:
    assert not holds({"StringLike": {ONE: "${aws:username}*"}}, one="a", **keys)
    assert holds({"StringNotLike": {ONE: "${aws:username}*"}}, one="a", **keys)
    assert holds({"StringLike": {ONE: ["${aws:username}*", "a"]}}, one="a", **keys)


def test_a_default_is_used_where_a_variable_has_no_value() -> None:
    condition = {"StringEquals": {ONE: "${aws:username, 'any one'}"}}
    assert holds(condition, one="any one")
    assert holds(condition, one="ann", user="ann")
    assert not holds(condition, one="any one", user="ann")


def test_wildcards_take_linear_time_on_hostile_values() -> None:
    pattern = "*#" * 20 + "x"
    assert not holds({"StringLike": {ONE: pattern}}, one="#" * 2048)
    assert holds({"StringLike": {ONE: pattern}}, one="#" * 2048 + "x")
