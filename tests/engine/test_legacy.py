from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.database import Database, Json, av, item, values

KEY = item(pk="a", sk="1")
STORED = KEY | item(n=5, s="text", ss={"a", "b"}, ns={1, 2}, l=[1, "two"], b=b"bytes", **{"a.b": 1})
INVALID = "One or more parameter values were invalid: "
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")


def compare(operator: str, *operands: Any) -> Json:
    condition: Json = {"ComparisonOperator": operator}
    if operands:
        condition["AttributeValueList"] = [av(operand) for operand in operands]
    return condition


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[STORED])


COMPARISONS: list[Any] = [
    ("n", compare("EQ", 5), True),
    ("n", compare("EQ", "5"), False),
    ("ss", compare("EQ", {"b", "a"}), True),
    ("l", compare("EQ", [1, "two"]), True),
    ("n", compare("NE", 4), True),
    ("nope", compare("NE", 4), True),
    ("n", compare("NE", 5), False),
    ("n", compare("LT", 6), True),
    ("n", compare("LE", 5), True),
    ("n", compare("GT", 5), False),
    ("n", compare("GE", 5), True),
    ("s", compare("GT", "a"), True),
    ("n", compare("BETWEEN", 1, 5), True),
    ("n", compare("BETWEEN", 6, 9), False),
    ("n", compare("IN", 1, 5), True),
    ("n", compare("IN", 1, 2), False),
    ("s", compare("BEGINS_WITH", "te"), True),
    ("b", compare("BEGINS_WITH", b"by"), True),
    ("s", compare("BEGINS_WITH", "x"), False),
    ("s", compare("CONTAINS", "ex"), True),
    ("ss", compare("CONTAINS", "a"), True),
    ("ns", compare("CONTAINS", 2), True),
    ("l", compare("CONTAINS", "two"), True),
    ("ss", compare("NOT_CONTAINS", "z"), True),
    ("ss", compare("NOT_CONTAINS", "a"), False),
    ("nope", compare("NOT_CONTAINS", "a"), False),
    ("nope", compare("NULL"), True),
    ("n", compare("NULL"), False),
    ("n", compare("NOT_NULL"), True),
    ("nope", compare("NOT_NULL"), False),
    ("a.b", compare("EQ", 1), True),
]


@pytest.mark.parametrize(("name", "condition", "holds"), COMPARISONS)
def test_a_scan_filter(db: Database, full: str, name: str, condition: Json, holds: bool) -> None:
    page = db.call("Scan", {"TableName": full, "ScanFilter": {name: condition}})
    assert page["Items"] == ([STORED] if holds else [])
    assert page["ScannedCount"] == 1


@pytest.mark.parametrize(("name", "condition", "holds"), COMPARISONS)
def test_a_query_filter(db: Database, full: str, name: str, condition: Json, holds: bool) -> None:
    request = {
        "TableName": full,
        "KeyConditions": {"pk": compare("EQ", "a")},
        "QueryFilter": {name: condition},
    }
    assert db.call("Query", request)["Count"] == holds


@pytest.mark.parametrize(("name", "condition", "holds"), COMPARISONS)
def test_expected(db: Database, full: str, name: str, condition: Json, holds: bool) -> None:
    request = {"TableName": full, "Key": KEY, "Expected": {name: condition}}
    if holds:
        db.call("DeleteItem", request)
    else:
        db.fails("DeleteItem", request, *FAILED)
    assert db.items(full) == ([] if holds else [STORED])


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        pytest.param({"n": {"Value": av(5)}}, True, id="a value"),
        pytest.param({"n": {"Value": av(4)}}, False, id="another value"),
        pytest.param({"n": {"Value": av(5), "Exists": True}}, True, id="exists with a value"),
        pytest.param({"nope": {"Exists": False}}, True, id="does not exist"),
        pytest.param({"n": {"Exists": False}}, False, id="does exist"),
        pytest.param(
            {"n": {"Value": av(4), "ComparisonOperator": "GT"}}, True, id="operator and value"
        ),
        pytest.param({"n": compare("EQ", 5), "s": compare("EQ", "x")}, False, id="both"),
    ],
)
@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_what_is_expected_must_hold(
    db: Database, full: str, operation: str, expected: Json, holds: bool
) -> None:
    request: Json = {"TableName": full, "Expected": expected}
    request |= {"Item": KEY} if operation == "PutItem" else {"Key": KEY}
    if holds:
        db.call(operation, request)
    else:
        db.fails(operation, request, *FAILED)
        assert db.items(full) == [STORED]


@pytest.mark.parametrize(("operator", "count"), [("AND", 0), ("OR", 1), (None, 0)])
def test_a_conditional_operator(db: Database, full: str, operator: str | None, count: int) -> None:
    request: Json = {
        "TableName": full,
        "ScanFilter": {"n": compare("EQ", 5), "s": compare("EQ", "x")},
    }
    if operator:
        request["ConditionalOperator"] = operator
    assert db.call("Scan", request)["Count"] == count


@pytest.mark.parametrize(
    ("name", "update", "value"),
    [
        pytest.param("q", {"Value": av("new")}, "new", id="PUT by default"),
        pytest.param("n", {"Value": av("new"), "Action": "PUT"}, "new", id="PUT"),
        pytest.param("n", {"Action": "DELETE"}, None, id="DELETE"),
        pytest.param("q", {"Action": "DELETE"}, None, id="DELETE of nothing"),
        pytest.param("ss", {"Value": av({"a"}), "Action": "DELETE"}, {"b"}, id="DELETE members"),
        pytest.param("ss", {"Value": av({"a", "b"}), "Action": "DELETE"}, None, id="DELETE all"),
        pytest.param("n", {"Value": av(2), "Action": "ADD"}, 7, id="ADD a number"),
        pytest.param("q", {"Value": av(2), "Action": "ADD"}, 2, id="ADD to nothing"),
        pytest.param("ns", {"Value": av({3}), "Action": "ADD"}, {1, 2, 3}, id="ADD a member"),
        pytest.param("l", {"Value": av([3]), "Action": "ADD"}, [1, "two", 3], id="ADD to a list"),
        pytest.param("a.b", {"Value": av(2)}, 2, id="a name with a dot"),
    ],
)
def test_attribute_updates(db: Database, full: str, name: str, update: Json, value: object) -> None:
    db.call("UpdateItem", {"TableName": full, "Key": KEY, "AttributeUpdates": {name: update}})
    expected = {key: one for key, one in STORED.items() if key != name}
    if value is not None:
        expected[name] = av(value)
    assert db.get(full, KEY) == expected


def test_attribute_updates_return_what_they_touched(db: Database, full: str) -> None:
    updates = {"n": {"Value": av(1), "Action": "ADD"}, "s": {"Action": "DELETE"}}
    request = {
        "TableName": full,
        "Key": KEY,
        "AttributeUpdates": updates,
        "ReturnValues": "UPDATED_OLD",
    }
    assert db.call("UpdateItem", request)["Attributes"] == item(n=5, s="text")


@pytest.mark.parametrize(
    ("update", "message"),
    [
        pytest.param(
            {"Action": "PUT"},
            INVALID + "Only DELETE action is allowed when no attribute value is specified",
            id="PUT of nothing",
        ),
        pytest.param(
            {},
            INVALID + "Only DELETE action is allowed when no attribute value is specified",
            id="nothing",
        ),
        pytest.param(
            {"Action": "ADD", "Value": av("x")},
            INVALID + "ADD action is not supported for the type STRING",
            id="ADD a string",
        ),
        pytest.param(
            {"Action": "ADD", "Value": av({"x": 1})},
            INVALID + "ADD action is not supported for the type MAP",
            id="ADD a map",
        ),
        pytest.param(
            {"Action": "DELETE", "Value": av(1)},
            INVALID + "DELETE action with value is not supported for the type NUMBER",
            id="DELETE a number",
        ),
        pytest.param(
            {"Action": "CHANGE"},
            "1 validation error detected: Value 'CHANGE' at "
            "'attributeUpdates.q.member.action' failed to satisfy constraint: "
            "Member must satisfy enum value set: [ADD, DELETE, PUT]",
            id="an unknown action",
        ),
    ],
)
def test_wrong_attribute_updates(db: Database, update: Json, message: str) -> None:
    request = {"TableName": "missing", "Key": KEY, "AttributeUpdates": {"q": update}}
    db.refuses_early("UpdateItem", request, message)


@pytest.mark.parametrize(
    ("name", "update"),
    [
        ("s", {"Action": "ADD", "Value": av(1)}),
        ("ss", {"Action": "ADD", "Value": av({1})}),
        ("n", {"Action": "DELETE", "Value": av({"a"})}),
    ],
)
def test_an_attribute_of_another_type_is_not_updated(
    db: Database, full: str, name: str, update: Json
) -> None:
    request = {"TableName": full, "Key": KEY, "AttributeUpdates": {name: update}}
    db.refuses("UpdateItem", request, "Type mismatch for attribute to update")
    assert db.items(full) == [STORED]


def test_a_key_is_not_updated(db: Database, full: str) -> None:
    request = {"TableName": full, "Key": KEY, "AttributeUpdates": {"pk": {"Value": av("b")}}}
    message = INVALID + "Cannot update attribute pk. This attribute is part of the key"
    db.refuses("UpdateItem", request, message)


# -- key conditions


@pytest.fixture
def rows(db: Database) -> str:
    return db.table("pk:S / sk:N", items=[item(pk="a", sk=n, n=n) for n in range(5)])


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (None, [0, 1, 2, 3, 4]),
        (compare("EQ", 2), [2]),
        (compare("LT", 2), [0, 1]),
        (compare("LE", 2), [0, 1, 2]),
        (compare("GT", 2), [3, 4]),
        (compare("GE", 2), [2, 3, 4]),
        (compare("BETWEEN", 1, 3), [1, 2, 3]),
    ],
)
def test_key_conditions(db: Database, rows: str, condition: Json | None, found: list[int]) -> None:
    conditions = {"pk": compare("EQ", "a")} | ({"sk": condition} if condition else {})
    page = db.call("Query", {"TableName": rows, "KeyConditions": conditions})
    assert [int(one["sk"]["N"]) for one in page["Items"]] == found


def test_key_conditions_on_a_prefix(db: Database) -> None:
    table = db.table(items=[item(pk="a", sk=sk) for sk in ("a1", "a2", "b1")])
    conditions = {"pk": compare("EQ", "a"), "sk": compare("BEGINS_WITH", "a")}
    assert db.call("Query", {"TableName": table, "KeyConditions": conditions})["Count"] == 2


def test_key_conditions_go_with_a_filter_expression(db: Database, rows: str) -> None:
    request = {
        "TableName": rows,
        "KeyConditions": {"pk": compare("EQ", "a")},
        "FilterExpression": "n > :n",
        "ExpressionAttributeValues": values(n=2),
    }
    assert db.call("Query", request)["Count"] == 2


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        pytest.param({}, "Conditions must be at least length 1", id="none"),
        pytest.param(
            {"sk": compare("EQ", 1)},
            "Query condition missed key schema element: pk",
            id="no hash key",
        ),
        pytest.param(
            {"pk": compare("GT", "a")}, "Query key condition not supported", id="hash not equal"
        ),
        pytest.param(
            {"pk": compare("EQ", "a"), "sk": compare("EQ", 1), "n": compare("EQ", 1)},
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
            id="three",
        ),
        pytest.param(
            {"pk": compare("EQ", "a"), "sk": compare("IN", 1)},
            "Attempted conditional constraint is not an indexable operation",
            id="IN",
        ),
        pytest.param(
            {"pk": compare("EQ", "a"), "sk": compare("NE", 1)},
            "Attempted conditional constraint is not an indexable operation",
            id="NE",
        ),
        pytest.param(
            {"pk": compare("EQ", 1)},
            INVALID + "Condition parameter type does not match schema type",
            id="another type",
        ),
    ],
)
def test_wrong_key_conditions(db: Database, rows: str, conditions: Json, message: str) -> None:
    db.refuses("Query", {"TableName": rows, "KeyConditions": conditions}, message)


@pytest.mark.parametrize("name", ["pk", "sk"])
def test_a_query_filter_is_not_for_keys(db: Database, rows: str, name: str) -> None:
    request = {
        "TableName": rows,
        "KeyConditions": {"pk": compare("EQ", "a")},
        "QueryFilter": {name: compare("NOT_NULL")},
    }
    db.refuses(
        "Query",
        request,
        f"QueryFilter can only contain non-primary key attributes: Primary key attribute: {name}",
    )


# -- mistakes in conditions


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        pytest.param(
            compare("EQ"),
            INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
            id="EQ without",
        ),
        pytest.param(
            compare("EQ", 1, 2),
            INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
            id="EQ with two",
        ),
        pytest.param(
            compare("BETWEEN", 1),
            INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
            id="BETWEEN with one",
        ),
        pytest.param(
            compare("NULL", 1),
            INVALID + "Invalid number of argument(s) for the NULL ComparisonOperator",
            id="NULL with one",
        ),
        pytest.param(
            compare("IN"),
            INVALID + "Invalid number of argument(s) for the IN ComparisonOperator",
            id="IN without",
        ),
        pytest.param(
            compare("LT", {"a"}),
            INVALID + "ComparisonOperator LT is not valid for SS AttributeValue type",
            id="LT of a set",
        ),
        pytest.param(
            compare("BEGINS_WITH", 1),
            INVALID + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
            id="BEGINS_WITH of a number",
        ),
        pytest.param(
            compare("CONTAINS", ["a"]),
            INVALID + "ComparisonOperator CONTAINS is not valid for L AttributeValue type",
            id="CONTAINS of a list",
        ),
        pytest.param(
            compare("BETWEEN", 1, "2"),
            INVALID + "AttributeValues inside AttributeValueList must be of same type",
            id="two types",
        ),
        pytest.param(
            compare("BETWEEN", 2, 1),
            "The BETWEEN condition was provided a range where the lower bound is greater than the "
            "upper bound",
            id="the wrong way round",
        ),
    ],
)
@pytest.mark.parametrize("operation", ["Scan", "Query"])
def test_wrong_comparisons(db: Database, operation: str, condition: Json, message: str) -> None:
    request: Json = {"TableName": "missing", "ScanFilter": {"n": condition}}
    if operation == "Query":
        request = {
            "TableName": "missing",
            "KeyConditions": {"pk": compare("EQ", "a")},
            "QueryFilter": {"n": condition},
        }
    db.refuses(operation, request, message)


def test_an_unknown_operator(db: Database) -> None:
    db.refuses(
        "Scan",
        {"TableName": "missing", "ScanFilter": {"n": compare("LIKE", "x")}},
        "1 validation error detected: Value 'LIKE' at 'scanFilter.n.member.comparisonOperator' "
        "failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, "
        "LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]",
    )


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        pytest.param({}, "Value must be provided when Exists is null", id="nothing"),
        pytest.param(
            {"Exists": True}, "Value must be provided when Exists is true", id="exists, no value"
        ),
        pytest.param(
            {"Exists": False, "Value": av(1)},
            "Value cannot be used when Exists is false",
            id="a value that does not exist",
        ),
        pytest.param(
            {"ComparisonOperator": "EQ"},
            "Value or AttributeValueList must be used with ComparisonOperator: EQ",
            id="operator without a value",
        ),
        pytest.param(
            {"ComparisonOperator": "EQ", "Value": av(1), "AttributeValueList": [av(1)]},
            "Value and AttributeValueList cannot be used together",
            id="value and list",
        ),
        pytest.param(
            {"ComparisonOperator": "EQ", "Value": av(1), "Exists": True},
            "Exists and ComparisonOperator cannot be used together",
            id="exists and operator",
        ),
        pytest.param(
            {"AttributeValueList": [av(1)]},
            "AttributeValueList can only be used with a ComparisonOperator",
            id="list without an operator",
        ),
    ],
)
def test_wrong_expectations(db: Database, expectation: Json, message: str) -> None:
    request = {"TableName": "missing", "Item": KEY, "Expected": {"n": expectation}}
    db.refuses_early("PutItem", request, f"{INVALID}{message} for Attribute: n")


@pytest.mark.parametrize(
    ("operation", "more", "message"),
    [
        (
            "Scan",
            {"ConditionalOperator": "AND"},
            "ConditionalOperator cannot be used without Filter or Expected",
        ),
        (
            "Scan",
            {"ConditionalOperator": "OR", "ScanFilter": {"n": compare("EQ", 1)}},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        ),
        (
            "DeleteItem",
            {"Key": KEY, "ConditionalOperator": "AND"},
            "ConditionalOperator cannot be used without Filter or Expected",
        ),
        (
            "DeleteItem",
            {"Key": KEY, "ConditionalOperator": "AND", "Expected": {"n": compare("EQ", 1)}},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        ),
    ],
)
def test_a_conditional_operator_needs_two_conditions(
    db: Database, operation: str, more: Json, message: str
) -> None:
    db.refuses_early(operation, {"TableName": "missing"} | more, message)


# -- AttributesToGet


def test_attributes_to_get(db: Database, full: str) -> None:
    request = {"TableName": full, "Key": KEY, "AttributesToGet": ["n", "a.b", "nope"]}
    assert db.call("GetItem", request) == {"Item": item(n=5, **{"a.b": 1})}


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("GetItem", {"Key": KEY}),
        ("Scan", {}),
        ("Query", {"KeyConditions": {"pk": compare("EQ", "a")}}),
    ],
)
def test_attributes_to_get_are_not_named_twice(db: Database, operation: str, more: Json) -> None:
    request = {"TableName": "missing", "AttributesToGet": ["n", "s", "n"]} | more
    db.refuses(operation, request, INVALID + "Duplicate value in attribute name: n")


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("GetItem", {"Key": KEY, "AttributesToGet": [""]}),
        ("Scan", {"ScanFilter": {"": compare("NULL")}}),
        ("PutItem", {"Item": KEY, "Expected": {"": {"Exists": False}}}),
        ("UpdateItem", {"Key": KEY, "AttributeUpdates": {"": {"Action": "DELETE"}}}),
    ],
)
def test_names_are_not_empty(db: Database, operation: str, more: Json) -> None:
    db.refuses_early(operation, {"TableName": "missing"} | more, "Empty attribute name")


# -- not mixed with expressions


@pytest.mark.parametrize(
    ("operation", "more", "legacy", "expressions"),
    [
        (
            "GetItem",
            {"Key": KEY, "AttributesToGet": ["n"], "ProjectionExpression": "n"},
            "AttributesToGet",
            "ProjectionExpression",
        ),
        (
            "PutItem",
            {"Item": KEY, "Expected": {"n": compare("NULL")}, "ConditionExpression": "a ="},
            "Expected",
            "ConditionExpression",
        ),
        (
            "UpdateItem",
            {
                "Key": KEY,
                "AttributeUpdates": {"n": {"Action": "DELETE"}},
                "Expected": {"n": compare("NULL")},
                "UpdateExpression": "REMOVE n",
                "ConditionExpression": "attribute_exists(n)",
            },
            "AttributeUpdates, Expected",
            "UpdateExpression, ConditionExpression",
        ),
        (
            "Query",
            {
                "AttributesToGet": ["n"],
                "QueryFilter": {"n": compare("NULL")},
                "KeyConditions": {"pk": compare("EQ", "a")},
                "ConditionalOperator": "AND",
                "ProjectionExpression": "n",
                "FilterExpression": "attribute_exists(n)",
                "KeyConditionExpression": "pk = :p",
            },
            "AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions",
            "ProjectionExpression, FilterExpression, KeyConditionExpression",
        ),
        (
            "Scan",
            {
                "AttributesToGet": ["n"],
                "ScanFilter": {"n": compare("NULL")},
                "ProjectionExpression": "n",
                "FilterExpression": "attribute_exists(n)",
            },
            "AttributesToGet, ScanFilter",
            "ProjectionExpression, FilterExpression",
        ),
    ],
    ids=["GetItem", "PutItem", "UpdateItem", "Query", "Scan"],
)
def test_legacy_parameters_do_not_mix_with_expressions(
    db: Database, operation: str, more: Json, legacy: str, expressions: str
) -> None:
    db.refuses_early(
        operation,
        {"TableName": "missing"} | more,
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{legacy}}} Expression parameters: {{{expressions}}}",
    )


def test_an_empty_legacy_map_counts_as_none(db: Database, full: str) -> None:
    request = {
        "TableName": full,
        "Key": KEY,
        "Expected": {},
        "ConditionExpression": "attribute_exists(n)",
    }
    db.call("DeleteItem", request)
    assert db.items(full) == []


def test_value_and_list_before_exists_and_operator(db: Database) -> None:
    expectation = {
        "ComparisonOperator": "EQ",
        "Value": av(1),
        "AttributeValueList": [],
        "Exists": True,
    }
    request = {"TableName": "missing", "Item": KEY, "Expected": {"n": expectation}}
    message = "Value and AttributeValueList cannot be used together for Attribute: n"
    db.refuses_early("PutItem", request, INVALID + message)


# -- values that are not quite values are judged as in expressions

EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"


def with_value(name: str, value: Json) -> list[Any]:
    """Each legacy parameter, with this value for an attribute of that name."""
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [value]}
    key = {"pk": compare("EQ", "a")}
    return [
        pytest.param("PutItem", {"Item": KEY, "Expected": {name: {"Value": value}}}, id="Value"),
        pytest.param("DeleteItem", {"Key": KEY, "Expected": {name: condition}}, id="Expected"),
        pytest.param(
            "UpdateItem", {"Key": KEY, "AttributeUpdates": {name: {"Value": value}}}, id="Updates"
        ),
        pytest.param("Scan", {"ScanFilter": {name: condition}}, id="ScanFilter"),
        pytest.param("Query", {"KeyConditions": {"pk": condition}}, id="KeyConditions"),
        pytest.param(
            "Query", {"KeyConditions": key, "QueryFilter": {name: condition}}, id="QueryFilter"
        ),
    ]


@pytest.mark.parametrize(("operation", "more"), with_value("s", {"FOO": "x"}))
def test_a_value_of_an_unknown_type_is_empty(
    db: Database, full: str, operation: str, more: Json
) -> None:
    db.refuses_early(operation, {"TableName": full} | more, EMPTY, raw=True)
    assert db.items(full) == [STORED]


@pytest.mark.parametrize("tag", ["S", "N"])
@pytest.mark.parametrize(("operation", "more"), with_value("s", {"TAG": None}))
def test_a_value_of_null_is_empty(
    db: Database, full: str, operation: str, more: Json, tag: str
) -> None:
    spelled = json.loads(json.dumps(more).replace("TAG", tag))
    db.refuses_early(operation, {"TableName": full} | spelled, EMPTY, raw=True)
    assert db.items(full) == [STORED]


@pytest.mark.parametrize(("operation", "more"), with_value("s", {"S": "text", "N": None}))
def test_null_besides_a_value_is_absent(
    db: Database, full: str, operation: str, more: Json
) -> None:
    same = db.table(items=[STORED])
    without = json.loads(json.dumps(more).replace(', "N": null', ""))
    answer = db.post(operation, {"TableName": full} | more)
    assert answer == db.post(operation, {"TableName": same} | without)
    assert db.items(full) == db.items(same)


def test_null_besides_a_value_is_not_stored(db: Database, full: str) -> None:
    updates = {"s": {"Value": {"S": "new", "N": None}}}
    db.post("UpdateItem", {"TableName": full, "Key": KEY, "AttributeUpdates": updates})
    assert db.get(full, KEY) == STORED | item(s="new")


def test_binary_has_one_spelling_in_attribute_updates(db: Database, full: str) -> None:
    updates = {"b": {"Value": {"B": "YR=="}}}
    db.post("UpdateItem", {"TableName": full, "Key": KEY, "AttributeUpdates": updates})
    assert db.get(full, KEY) == STORED | {"b": {"B": "YQ=="}}


def test_binary_is_compared_whatever_its_spelling(db: Database, full: str) -> None:
    db.put(full, KEY | {"b": {"B": "YQ=="}})
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"B": "YR=="}]}
    assert db.post("Scan", {"TableName": full, "ScanFilter": {"b": condition}})["Count"] == 1
