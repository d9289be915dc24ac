"""Names and values: what is refused, with which words, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.errors import ValidationException
from tablewright.expression import Scope

VALUES: dict[str, Any] = {
    ":s": {"S": "x"},
    ":n": {"N": "1"},
    ":n2": {"N": "2"},
    ":l": {"L": []},
    ":b": {"BOOL": True},
    ":nul": {"NULL": True},
    ":ss": {"SS": ["a"]},
}
OPERAND_TYPE = "Incorrect operand type for operator or function; operator or function: "
DISTINCT = (
    "The first operand must be distinct from the remaining operands for this operator or function; "
)
UNDEFINED_NAME = (
    "An expression attribute name used in the document path is not defined; attribute name: "
)
UNDEFINED_VALUE = (
    "An expression attribute value used in expression is not defined; attribute value: "
)
COUNT = "Incorrect number of operands for operator or function; operator or function: "
BOUNDS = "The BETWEEN operator requires "


def message_of(kind: str, text: str, names: Any = None, values: Any = VALUES) -> str:
    with pytest.raises(ValidationException) as caught:
        getattr(Scope(names, values), kind)(text)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#z = :s", f"{UNDEFINED_NAME}#z"),
        ("a.#z.#y = :s", f"{UNDEFINED_NAME}#z"),
        ("a = :z", f"{UNDEFINED_VALUE}:z"),
        ("attribute_exists(a, b)", f"{COUNT}attribute_exists, number of operands: 2"),
        ("begins_with(a)", f"{COUNT}begins_with, number of operands: 1"),
        (
            "attribute_exists(:s)",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        ("begins_with(a, :n)", f"{OPERAND_TYPE}begins_with, operand type: N"),
        ("begins_with(size(a), :s)", f"{OPERAND_TYPE}begins_with, operand type: N"),
        ("a < :l", f"{OPERAND_TYPE}<, operand type: L"),
        (":b BETWEEN :n AND :n", f"{OPERAND_TYPE}BETWEEN, operand type: BOOL"),
        ("size(:n) = :n", f"{OPERAND_TYPE}size, operand type: N"),
        ("size(size(a)) = :n", f"{OPERAND_TYPE}size, operand type: N"),
        ("attribute_type(a, :n)", f"{OPERAND_TYPE}attribute_type, operand type: N"),
        (
            "attribute_type(a, :s)",
            "Invalid attribute type name found; type: x, "
            "valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
        ),
        ("a = a", f"{DISTINCT}operator: =, first operand: [a]"),
        ("a[1].b IN (:s, a[1].b)", f"{DISTINCT}operator: IN, first operand: [a, [1], b]"),
        (
            "a BETWEEN :n AND :s",
            f"{BOUNDS}same data type for lower and upper bounds; lower bound operand: "
            "AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}",
        ),
        (
            "a BETWEEN :n2 AND :n",
            f"{BOUNDS}upper bound to be greater than or equal to lower bound; lower bound operand: "
            "AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
        ),
        (
            ".".join("a" * 33) + " = :s",
            "The document path has too many nesting levels; nesting levels: 33",
        ),
        (
            "a IN (" + ", ".join([":s"] * 101) + ")",
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
        (
            " OR ".join(["a = :s"] * 151),
            "The expression contains too many operators; operator count: 301",
        ),
        # Order: left to right, operands first; at one operator number, path, types, distinct.
        ("a = a AND #z = :s", f"{DISTINCT}operator: =, first operand: [a]"),
        ("#z = :s AND a = a", f"{UNDEFINED_NAME}#z"),
        ("begins_with(:n, :z)", f"{UNDEFINED_VALUE}:z"),
        ("attribute_exists(:z, b)", f"{UNDEFINED_VALUE}:z"),
        ("begins_with(a, a, a)", f"{COUNT}begins_with, number of operands: 3"),
        ("a BETWEEN a AND :l", f"{OPERAND_TYPE}BETWEEN, operand type: L"),
        ("attribute_type(a, a)", f"{DISTINCT}operator: attribute_type, first operand: [a]"),
        ("NOT " * 250 + "a = :z", f"{UNDEFINED_VALUE}:z"),
    ],
)
def test_conditions(text: str, message: str) -> None:
    assert message_of("condition", text) == f"Invalid ConditionExpression: {message}"
    assert message_of("filter", text) == f"Invalid FilterExpression: {message}"
    assert message_of("key_condition", text) == f"Invalid KeyConditionExpression: {message}"


OVERLAP = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
CONFLICT = OVERLAP.replace("overlap", "conflict")
SECTION = "section can only be used once in an update expression;"
ACTION_TYPE = "Incorrect operand type for operator or function; operator: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET a = :s SET b = :s", f'The "SET" {SECTION}'),
        ("REMOVE a SET b = :z REMOVE c", f'The "REMOVE" {SECTION}'),
        ("SET a = :s, a = :s", f"{OVERLAP}path one: [a], path two: [a]"),
        ("SET a.b = :s REMOVE a", f"{OVERLAP}path one: [a, b], path two: [a]"),
        ("SET a.b = :s, a[0] = :s", f"{CONFLICT}path one: [a, b], path two: [a, [0]]"),
        ("SET a = :s + :n", f"{OPERAND_TYPE}+, operand type: S"),
        ("SET a = :n - :b", f"{OPERAND_TYPE}-, operand type: BOOL"),
        ("SET a = list_append(b, :n)", f"{OPERAND_TYPE}list_append, operand type: N"),
        ("SET a = if_not_exists(a)", f"{COUNT}if_not_exists, number of operands: 1"),
        (
            "SET a = if_not_exists(:s, :s)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        ("SET a = if_not_exists(b, b)", f"{DISTINCT}operator: if_not_exists, first operand: [b]"),
        (
            "ADD a :s",
            f"{ACTION_TYPE}ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "DELETE a :l",
            f"{ACTION_TYPE}DELETE, operand type: LIST, typeSet: ALLOWED_FOR_DELETE_OPERAND",
        ),
        # Order: paths from the last to the first, then operands from the last to the first.
        ("SET a = :y, b = :z", f"{UNDEFINED_VALUE}:z"),
        ("SET #y = :s, #z = :s", f"{UNDEFINED_NAME}#z"),
        ("SET #z = :s, b = :z", f"{UNDEFINED_NAME}#z"),
        ("SET #z = :s, a = :s, a = :s", f"{OVERLAP}path one: [a], path two: [a]"),
        ("SET a = :s, a = :s, #z = :s", f"{UNDEFINED_NAME}#z"),
    ],
)
def test_updates(text: str, message: str) -> None:
    assert message_of("update", text) == f"Invalid UpdateExpression: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#z", f"{UNDEFINED_NAME}#z"),
        ("a.b, a", f"{OVERLAP}path one: [a, b], path two: [a]"),
        ("a[0], a.b", f"{CONFLICT}path one: [a, [0]], path two: [a, b]"),
    ],
)
def test_projections(text: str, message: str) -> None:
    assert message_of("projection", text) == f"Invalid ProjectionExpression: {message}"


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        ({}, None, "ExpressionAttributeNames must not be empty"),
        (None, {}, "ExpressionAttributeValues must not be empty"),
        ({}, {}, "ExpressionAttributeNames must not be empty"),
        ({"a": "b"}, None, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
        ({"#": "b"}, None, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"'),
        (
            {"": "b"},
            None,
            "ExpressionAttributeNames contains invalid key: "
            "The expression attribute map contains an empty key;",
        ),
        (
            {"#" + "a" * 255: "b"},
            None,
            "ExpressionAttributeNames contains invalid key: "
            "The expression attribute map contains a key that is too long; size of key: 256",
        ),
        (
            {"#a": ""},
            None,
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"#b": "", "a": "a"},
            None,
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            None,
            {"a": {"S": "x"}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"',
        ),
        (
            None,
            {":" + "a" * 255: {"S": "x"}},
            "ExpressionAttributeValues contains invalid key: "
            "The expression attribute map contains a key that is too long;",
        ),
        (
            None,
            {":a": {}},
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes for key :a",
        ),
        (
            None,
            {":a": {"L": [{"S": "x", "N": "1"}]}},
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue has more "
            "than one datatypes set, must contain exactly one of the supported datatypes "
            "for key :a",
        ),
        (
            {"a": "b"},
            {":a": {}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
    ],
)
def test_names_and_values_are_checked_before_any_expression(
    names: Any, values: Any, message: str
) -> None:
    for text in ("a = b", "a = 5", ""):
        with pytest.raises(ValidationException) as caught:
            Scope(names, values).condition(text)
        assert caught.value.old_message == message


def closing_message(scope: Scope) -> str:
    with pytest.raises(ValidationException) as caught:
        scope.require_all_used()
    return caught.value.old_message


def test_unused_names_come_before_unused_values_in_the_order_of_a_java_set() -> None:
    scope = Scope({"#a": "a", "#b": "b", "#c": "c"}, {":a": {"S": "x"}})
    scope.condition("a = b")
    assert closing_message(scope) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c, #a, #b}"
    )
    scope = Scope(None, {key: {"S": "x"} for key in (":b", ":a", ":zz", ":q")})
    scope.update("REMOVE a")
    assert closing_message(scope) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :q, :b, :zz}"
    )


def test_a_name_used_by_any_expression_is_used() -> None:
    scope = Scope({"#a": "a", "#b": "b"}, {":v": {"S": "x"}})
    scope.update("SET #a = :v")
    assert closing_message(scope).endswith("{#b}")
    scope.condition("attribute_exists(#b)")
    scope.require_all_used()


def test_names_without_expressions() -> None:
    assert closing_message(Scope({"a": "a"}, {"b": {}})) == (
        "ExpressionAttributeNames can only be specified when using expressions"
    )


def test_values_without_expressions_name_those_that_are_missing() -> None:
    scope = Scope(None, {":a": {"S": "x"}})
    scope.condition(None)
    only = "ExpressionAttributeValues can only be specified when using expressions: "
    assert closing_message(scope) == f"{only}ConditionExpression is null"
    scope = Scope(None, {":a": {"S": "x"}})
    scope.filter(None)
    scope.projection("a")
    scope.key_condition(None)
    assert closing_message(scope) == (f"{only}FilterExpression and KeyConditionExpression are null")


def test_empty_names_and_values_without_expressions_are_nothing() -> None:
    scope = Scope({}, {})
    assert scope.condition(None) is None
    assert scope.update(None) is None
    assert scope.projection(None) is None
    scope.require_all_used()


def test_what_an_expression_reads_and_writes() -> None:
    scope = Scope({"#c": "c.d"}, {":v": {"S": "x"}})
    condition = scope.condition("a.b = :v OR size(#c[0]) > z")
    update = scope.update("SET a.b = f REMOVE #c[1]")
    project = scope.projection("a.b, #c")
    assert condition is not None
    assert update is not None
    assert project is not None
    assert condition.names == {"a", "c.d", "z"}
    assert update.names == {"a", "c.d"}
    assert condition.nested_names == update.nested_names == {"a", "c.d"}
    assert project.nested_names == {"a"}
    assert project.names == {"a", "c.d"}


def test_the_same_text_with_other_names_and_values_is_another_expression() -> None:
    for attribute, value in (("a", "1"), ("b", "2")):
        condition = Scope({"#x": attribute}, {":v": {"N": value}}).condition("#x = :v")
        assert condition is not None
        assert condition.names == {attribute}
        assert condition.holds({attribute: {"N": value}})
        assert not condition.holds({"a": {"N": "2"}})


def test_a_value_type_is_judged_on_every_request() -> None:
    text = "begins_with(a, :v)"
    assert Scope(None, {":v": {"S": "x"}}).condition(text) is not None
    assert message_of("condition", text, None, {":v": {"N": "1"}}).endswith("operand type: N")
    assert Scope(None, {":v": {"S": "x"}}).condition(text) is not None
