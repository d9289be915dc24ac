"""The parameters from before expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright.errors import ValidationException
from tablewright.expression import KeySelection, legacy

S: dict[str, Any] = {"S": "x"}
N: dict[str, Any] = {"N": "1"}
N2: dict[str, Any] = {"N": "2"}
L: dict[str, Any] = {"L": []}
ITEM: dict[str, Any] = {
    "s": S,
    "n": N,
    "ss": {"SS": ["a", "b"]},
    "l": {"L": [S]},
    "nul": {"NULL": True},
    "a.b": S,
}
INVALID = "One or more parameter values were invalid: "
NUMBER = "Invalid number of argument(s) for the"


def message_of(call: Callable[..., object], *arguments: Any) -> str:
    with pytest.raises(ValidationException) as caught:
        call(*arguments)
    return caught.value.message


def comparison(operator: str, *values: Any) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.mark.parametrize(
    ("name", "entry", "holds"),
    [
        ("s", {"Value": S}, True),
        ("s", {"Exists": True, "Value": S}, True),
        ("s", {"Exists": False}, False),
        ("nope", {"Exists": False}, True),
        ("a.b", {"Value": S}, True),
        ("n", {"Value": {"N": "1.0"}}, True),
        ("n", {"ComparisonOperator": "EQ", "Value": N}, True),
        ("nope", comparison("NE", S), True),
        ("nope", comparison("EQ", S), False),
        ("n", comparison("LT", N2), True),
        ("n", comparison("BETWEEN", N, N2), True),
        ("n", comparison("IN", N2, N), True),
        ("s", comparison("BEGINS_WITH", S), True),
        ("ss", comparison("CONTAINS", {"S": "a"}), True),
        ("l", comparison("CONTAINS", S), True),
        ("ss", comparison("NOT_CONTAINS", S), True),
        ("n", comparison("NOT_CONTAINS", N), True),
        ("nope", comparison("NOT_CONTAINS", S), False),
        ("nope", comparison("NULL"), True),
        ("nul", comparison("NULL"), False),
        ("nul", {"ComparisonOperator": "NOT_NULL"}, True),
    ],
)
def test_expected(name: str, entry: Any, holds: bool) -> None:
    condition = legacy.compile_expected({name: entry})
    assert condition is not None
    assert condition.names == {name}
    assert condition.holds(ITEM) is holds


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        (
            {"Exists": False, "Value": {"N": "bad"}},
            "Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"Value": S, "AttributeValueList": [S]},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"AttributeValueList": [S]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (
            {"ComparisonOperator": "EQ"},
            "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
        ),
        (
            {"Exists": True, "Value": S, "AttributeValueList": [S], "ComparisonOperator": "EQ"},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (comparison("EQ"), "Invalid number of argument(s) for the EQ ComparisonOperator"),
        (
            comparison("BETWEEN", S),
            "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
        (comparison("IN"), "Invalid number of argument(s) for the IN ComparisonOperator"),
        (comparison("NULL", S), "Invalid number of argument(s) for the NULL ComparisonOperator"),
        (comparison("IN", S, N), "AttributeValues inside AttributeValueList must be of same type"),
        (
            comparison("BETWEEN", L, N),
            "ComparisonOperator BETWEEN is not valid for L AttributeValue type",
        ),
        (
            comparison("BEGINS_WITH", N),
            "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
        ),
    ],
)
def test_bad_expected(entry: Any, message: str) -> None:
    assert message_of(legacy.compile_expected, {"a": entry}) == INVALID + message


def test_bounds_and_operators_have_messages_of_their_own() -> None:
    assert message_of(legacy.compile_filter, {"a": comparison("BETWEEN", N2, N)}) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the "
        "upper bound"
    )
    assert message_of(legacy.compile_filter, {"a": {}}) == (
        "Comparison type does not exist in DynamoDB"
    )
    assert message_of(legacy.compile_filter, {"": comparison("EQ", S)}) == "Empty attribute name"


def test_conditional_operator() -> None:
    raw = {"s": comparison("EQ", S), "n": comparison("EQ", N2)}
    for operator, holds in ((None, False), ("AND", False), ("OR", True)):
        condition = legacy.compile_filter(raw, operator)
        assert condition is not None
        assert condition.holds(ITEM) is holds
    assert message_of(legacy.compile_expected, {"s": {"Value": S}}, "OR") == (
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    )
    assert message_of(legacy.compile_expected, {}, "OR") == (
        "ConditionalOperator cannot be used without Filter or Expected"
    )
    assert legacy.compile_expected(None) is None


@pytest.mark.parametrize(
    ("raw", "changed"),
    [
        ({"a": {"Value": S}}, {"a": S}),
        ({"a": {"Action": "PUT", "Value": S}}, {"a": S}),
        ({"s": {"Action": "DELETE"}}, {"s": None}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["a"]}}}, {"ss": {"SS": ["b"]}}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["b", "a"]}}}, {"ss": None}),
        ({"n": {"Action": "ADD", "Value": N}}, {"n": N2}),
        ({"a": {"Action": "ADD", "Value": N}}, {"a": N}),
        ({"l": {"Action": "ADD", "Value": {"L": [N]}}}, {"l": {"L": [S, N]}}),
        ({"a.b": {"Value": N}}, {"a.b": N}),
    ],
)
def test_attribute_updates(raw: Any, changed: dict[str, Any]) -> None:
    update = legacy.compile_attribute_updates(raw)
    assert update is not None
    expected = {name: value for name, value in {**ITEM, **changed}.items() if value is not None}
    assert update.apply(ITEM) == expected
    assert update.names == set(raw)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "Only DELETE action is allowed when no attribute value is specified"),
        ({"Action": "ADD", "Value": S}, "ADD action is not supported for the type STRING"),
        (
            {"Action": "DELETE", "Value": N},
            "DELETE action with value is not supported for the type NUMBER",
        ),
    ],
)
def test_bad_attribute_updates(entry: Any, message: str) -> None:
    assert message_of(legacy.compile_attribute_updates, {"a": entry}) == INVALID + message


def test_attribute_updates_that_do_not_fit_the_item() -> None:
    update = legacy.compile_attribute_updates({"s": {"Action": "ADD", "Value": N}})
    assert update is not None
    assert message_of(update.apply, ITEM) == "Type mismatch for attribute to update"


def test_attributes_to_get() -> None:
    project = legacy.compile_attributes_to_get(["s", "a.b", "nope"])
    assert project is not None
    assert project(ITEM) == {"s": S, "a.b": S}
    assert message_of(legacy.compile_attributes_to_get, ["a", "a"]) == (
        f"{INVALID}Duplicate value in attribute name: a"
    )


def test_key_conditions() -> None:
    types = {"p": "S", "q": "N"}
    raw = {"q": comparison("BETWEEN", N, N2), "p": comparison("EQ", S)}
    found = legacy.read_key_conditions(raw).select(("p",), ("q",), types)
    assert found == KeySelection((S,), (), "BETWEEN", (N, N2))
    bad = {"p": comparison("EQ", S), "q": comparison("NE", N)}
    assert message_of(legacy.read_key_conditions(bad).select, ("p",), ("q",), types) == (
        "Attempted conditional constraint is not an indexable operation"
    )
    assert message_of(legacy.read_key_conditions, {}) == "Conditions must be at least length 1"


def test_mixtures() -> None:
    legacy.refuse_mixture({"TableName", "Expected", "ConditionalOperator"})
    legacy.refuse_mixture({"TableName", "UpdateExpression", "ConditionExpression"})
    present = {"KeyConditions", "QueryFilter", "AttributesToGet", "ConditionalOperator"}
    assert message_of(
        legacy.refuse_mixture, present | {"KeyConditionExpression", "ProjectionExpression"}
    ) == (
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: "
        "{AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions} "
        "Expression parameters: {ProjectionExpression, KeyConditionExpression}"
    )
