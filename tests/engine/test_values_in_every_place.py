"""An invalid value has the message of its operation's layer, wherever it is in a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from tablewright import Engine
from tablewright.errors import ValidationException
from tests.engine.database import LABEL, Json, item

MakeRequest: TypeAlias = Callable[[Json], Json]

NAMED: Json = {"TableName": "missing"}
KEY = item(pk="a")
NUMBER = "The parameter cannot be converted to a numeric value"
RANGE = "Attempting to store a number with magnitude {} than supported range"
OVERFLOW = f"Number overflow. {RANGE.format('larger')}"
UNDERFLOW = f"Number underflow. {RANGE.format('smaller')}"
INVALID = "One or more parameter values were invalid: "
FAR_TOO_LARGE = f"{NUMBER}: 1e9223372036854775808"
NO_NULL = f"{INVALID}Null attribute value types must have the value of true"
#: Values, and the messages of the new and of the old layer.
FAULTS: list[tuple[Json, str, str]] = [
    ({"N": ""}, f"{NUMBER}: ", NUMBER),
    ({"N": " 1 "}, f"{NUMBER}:  1 ", f"{NUMBER}:  1 "),
    ({"N": "1e126"}, OVERFLOW, OVERFLOW),
    ({"N": "0e-131"}, UNDERFLOW, UNDERFLOW),
    ({"N": "1e2147483647"}, OVERFLOW, UNDERFLOW),
    ({"N": "1e2147483648"}, OVERFLOW, f"{NUMBER}: 1e2147483648"),
    ({"N": "1e-2147483648"}, UNDERFLOW, f"{NUMBER}: 1e-2147483648"),
    ({"N": "1e9223372036854775808"}, FAR_TOO_LARGE, FAR_TOO_LARGE),
    (
        {"SS": ["d", "b", "a", "b", "c", "a"]},
        f'{INVALID}Input collection ["a", "b", "d", "b", "c", "a"] contains duplicates.',
        f"{INVALID}Input collection [d, b, a, b, c, a] contains duplicates.",
    ),
    (
        {"BS": ["/w==", "AA==", "AA=="]},
        f'{INVALID}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
        f"{INVALID}Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    ),
    (
        {"NS": ["1", "2", "1.0"]},
        f"{INVALID}Input collection contains duplicates.",
        "Input collection contains duplicates",
    ),
    ({"NULL": False}, NO_NULL, NO_NULL),
]
LABELLED = ("PutItem", "UpdateItem", "DeleteItem")
NEW = (*LABELLED, "GetItem", "BatchGetItem", "Query")


def equal(value: Json) -> Json:
    return {"v": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}}


def action(kind: str, **members: Any) -> Json:
    return {"TransactItems": [{kind: NAMED | members}]}


def conditional(value: Json, **members: Any) -> Json:
    """A condition with a value."""
    return {"ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": value}} | members


#: Operations, and requests with a value; `*`: it is in ExpressionAttributeValues.
PLACES: list[tuple[str, str, MakeRequest]] = [
    ("PutItem", "item", lambda v: NAMED | {"Item": KEY | {"v": v}}),
    ("PutItem", "list", lambda v: NAMED | {"Item": KEY | {"v": {"L": [{"S": "x"}, v]}}}),
    ("PutItem", "map", lambda v: NAMED | {"Item": KEY | {"v": {"M": {"k": {"L": [v]}}}}}),
    ("PutItem", "key", lambda v: NAMED | {"Item": {"pk": v}}),
    ("PutItem", "expected", lambda v: NAMED | {"Item": KEY, "Expected": {"v": {"Value": v}}}),
    ("PutItem", "expected list", lambda v: NAMED | {"Item": KEY, "Expected": equal(v)}),
    ("PutItem", "values*", lambda v: NAMED | conditional(v, Item=KEY)),
    ("UpdateItem", "key", lambda v: NAMED | {"Key": {"pk": v}}),
    (
        "UpdateItem",
        "updates",
        lambda v: NAMED | {"Key": KEY, "AttributeUpdates": {"v": {"Value": v}}},
    ),
    (
        "UpdateItem",
        "values*",
        lambda v: NAMED | conditional(v, Key=KEY, UpdateExpression="REMOVE b"),
    ),
    ("DeleteItem", "key", lambda v: NAMED | {"Key": {"pk": v}}),
    ("DeleteItem", "values*", lambda v: NAMED | conditional(v, Key=KEY)),
    ("GetItem", "key", lambda v: NAMED | {"Key": {"pk": v}}),
    ("BatchGetItem", "key", lambda v: {"RequestItems": {"missing": {"Keys": [{"pk": v}]}}}),
    ("Query", "condition", lambda v: NAMED | {"KeyConditions": equal(v)}),
    (
        "Query",
        "filter",
        lambda v: NAMED | {"KeyConditions": equal({"S": "a"}), "QueryFilter": equal(v)},
    ),
    (
        "Query",
        "values*",
        lambda v: (
            NAMED | {"KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": v}}
        ),
    ),
    ("Scan", "filter", lambda v: NAMED | {"ScanFilter": equal(v)}),
    (
        "Scan",
        "values*",
        lambda v: NAMED | {"FilterExpression": "a = :v", "ExpressionAttributeValues": {":v": v}},
    ),
    (
        "BatchWriteItem",
        "put",
        lambda v: {"RequestItems": {"missing": [{"PutRequest": {"Item": KEY | {"v": v}}}]}},
    ),
    (
        "BatchWriteItem",
        "delete",
        lambda v: {"RequestItems": {"missing": [{"DeleteRequest": {"Key": {"pk": v}}}]}},
    ),
    ("TransactGetItems", "key", lambda v: action("Get", Key={"pk": v})),
    ("TransactWriteItems", "put", lambda v: action("Put", Item=KEY | {"v": v})),
    ("TransactWriteItems", "delete", lambda v: action("Delete", Key={"pk": v})),
    ("TransactWriteItems", "put, values*", lambda v: action("Put", **conditional(v, Item=KEY))),
    (
        "TransactWriteItems",
        "delete, values*",
        lambda v: action("Delete", **conditional(v, Key=KEY)),
    ),
    (
        "TransactWriteItems",
        "check, values*",
        lambda v: action("ConditionCheck", **conditional(v, Key=KEY)),
    ),
    (
        "TransactWriteItems",
        "update, values*",
        lambda v: action("Update", **conditional(v, Key=KEY, UpdateExpression="REMOVE b")),
    ),
]


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Engine]]:
    with Engine() as new, Engine(validation="2025") as old:
        yield {"2026": new, "2025": old}


@pytest.mark.parametrize("year", ["2026", "2025"])
@pytest.mark.parametrize(
    ("operation", "place", "make"), PLACES, ids=[f"{one}, {place}" for one, place, _ in PLACES]
)
def test_the_message_is_that_of_the_layer(
    engines: dict[str, Engine], operation: str, place: str, make: MakeRequest, year: str
) -> None:
    is_new = year == "2026" and operation in NEW
    for value, new, old in FAULTS:
        expected = new if is_new else old
        if place.endswith("*") and not is_new:
            expected = f"ExpressionAttributeValues contains invalid value: {old} for key :v"
        if is_new and operation in LABELLED:
            expected = LABEL + expected
        with pytest.raises(ValidationException) as refused:
            engines[year].call(operation, make(value))
        assert refused.value.message == expected
