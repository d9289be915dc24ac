from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item, values

KEY = item(pk="a", sk="1")
INVALID = "One or more parameter values were invalid: "
DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def nested(levels: int, kind: str) -> Json:
    """A value with this many lists or maps around it."""
    value: Json = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"m": value}}
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"S": "text"},
        {"S": ""},
        {"S": "é 漢 🎉 \x00 \n"},
        {"N": "0"},
        {"N": "-12.5"},
        {"B": "aGk="},
        {"B": ""},
        {"B": "AP//"},
        {"BOOL": True},
        {"BOOL": False},
        {"NULL": True},
        {"SS": ["a", "b"]},
        {"SS": [""]},
        {"NS": ["-1", "0", "10"]},
        {"BS": ["AA==", "aGk="]},
        {"L": []},
        {"L": [{"N": "1"}, {"S": "two"}, {"L": []}, {"M": {}}, {"NULL": True}]},
        {"M": {}},
        {"M": {"a": {"N": "1"}, "b": {"M": {"c": {"SS": ["x"]}}}}},
        nested(31, "L"),
        nested(31, "M"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_values_come_back_as_they_were_put(db: Database, table: str, value: Json) -> None:
    db.call("PutItem", {"TableName": table, "Item": KEY | {"v": value}})
    found = db.call("GetItem", {"TableName": table, "Key": KEY})
    assert found["Item"]["v"] == value


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1.0", "1"),
        ("00042", "42"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("+7", "7"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("1.5E2", "150"),
        ("1E-3", "0.001"),
        ("0e125", "0"),
        ("0e-130", "0"),
        ("1e125", "1" + "0" * 125),
        ("9.9999999999999999999999999999999999999e125", "9" * 38 + "0" * 88),
        ("-9.9999999999999999999999999999999999999e125", "-" + "9" * 38 + "0" * 88),
        ("1e-130", "0." + "0" * 129 + "1"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678"),
        (
            "1234567890123456789012345678901234567800000",
            "1234567890123456789012345678901234567800000",
        ),
    ],
)
def test_numbers_have_one_spelling(db: Database, table: str, given: str, kept: str) -> None:
    db.call("PutItem", {"TableName": table, "Item": KEY | {"v": {"N": given}}})
    assert db.call("GetItem", {"TableName": table, "Key": KEY})["Item"]["v"] == {"N": kept}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"SS": ["b", "a", "é", "B"]}, {"SS": ["B", "a", "b", "é"]}),
        ({"NS": ["10", "9", "-1", "1e2"]}, {"NS": ["-1", "9", "10", "100"]}),
        ({"BS": ["/w==", "AA==", "fw=="]}, {"BS": ["AA==", "fw==", "/w=="]}),
    ],
)
def test_sets_have_one_order(db: Database, table: str, given: Json, kept: Json) -> None:
    db.call("PutItem", {"TableName": table, "Item": KEY | {"v": given}})
    assert db.call("GetItem", {"TableName": table, "Key": KEY})["Item"]["v"] == kept


@pytest.mark.parametrize(
    "attributes", [item(**{"": 1}), item(m={"": 1}), item(l=[{"": 1}])], ids=["item", "map", "list"]
)
def test_a_name_is_not_empty(db: Database, table: str, attributes: Json) -> None:
    db.refuses_early(
        "PutItem", {"TableName": table, "Item": KEY | attributes}, "Empty attribute name"
    )


NO_NUMBER = "The parameter cannot be converted to a numeric value"
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
DIGITS = "Attempting to store more than 38 significant digits in a Number"
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)

#: Values, what DynamoDB says of them, and what it said before 2026 where that is different.
BAD_VALUES: list[Any] = [
    pytest.param({}, EMPTY, None, id="nothing"),
    pytest.param({"S": "a", "N": "1"}, SEVERAL, None, id="two types"),
    pytest.param({"N": ""}, f"{NO_NUMBER}: ", NO_NUMBER, id="empty number"),
    pytest.param({"N": "abc"}, f"{NO_NUMBER}: abc", None, id="no number"),
    pytest.param({"N": " 1"}, f"{NO_NUMBER}:  1", None, id="blank before a number"),
    pytest.param({"N": "1e"}, f"{NO_NUMBER}: 1e", None, id="half an exponent"),
    pytest.param({"N": "0x1"}, f"{NO_NUMBER}: 0x1", None, id="hexadecimal"),
    pytest.param({"N": "NaN"}, f"{NO_NUMBER}: NaN", None, id="NaN"),
    pytest.param({"N": "Infinity"}, f"{NO_NUMBER}: Infinity", None, id="infinity"),
    pytest.param({"N": "1_0"}, f"{NO_NUMBER}: 1_0", None, id="underscore"),
    pytest.param({"N": "."}, f"{NO_NUMBER}: .", None, id="only a point"),
    pytest.param({"N": "1e2147483647"}, OVERFLOW, UNDERFLOW, id="the largest exponent of 32 bits"),
    pytest.param(
        {"N": "1e2147483648"}, OVERFLOW, f"{NO_NUMBER}: 1e2147483648", id="an exponent of 33 bits"
    ),
    pytest.param({"N": "0e126"}, OVERFLOW, None, id="zero, too large"),
    pytest.param({"N": "0e-131"}, UNDERFLOW, None, id="zero, too small"),
    pytest.param({"N": "1e126"}, OVERFLOW, None, id="too large"),
    pytest.param({"N": "-1e126"}, OVERFLOW, None, id="too large below zero"),
    pytest.param(
        {"N": "1e99999999999999999999"},
        f"{NO_NUMBER}: 1e99999999999999999999",
        None,
        id="far too large",
    ),
    pytest.param({"N": "1e-131"}, UNDERFLOW, None, id="too small"),
    pytest.param(
        {"N": "1e-99999999999999999999"},
        f"{NO_NUMBER}: 1e-99999999999999999999",
        None,
        id="far too small",
    ),
    pytest.param({"N": "1" * 39}, DIGITS, None, id="39 digits"),
    pytest.param({"N": "0." + "1" * 39}, DIGITS, None, id="39 digits after the point"),
    pytest.param({"SS": []}, INVALID + "An string set  may not be empty", None, id="empty SS"),
    pytest.param({"NS": []}, INVALID + "An number set  may not be empty", None, id="empty NS"),
    pytest.param({"BS": []}, INVALID + "Binary sets should not be empty", None, id="empty BS"),
    pytest.param(
        {"SS": ["a", "b", "a"]},
        INVALID + 'Input collection ["a", "b", "a"] contains duplicates.',
        INVALID + "Input collection [a, b, a] contains duplicates.",
        id="duplicates in SS",
    ),
    pytest.param(
        {"NS": ["1", "1.0"]},
        INVALID + "Input collection contains duplicates.",
        "Input collection contains duplicates",
        id="duplicates in NS",
    ),
    pytest.param(
        {"BS": ["Yg==", "Yg=="]},
        INVALID + 'Input collection ["Yg==","Yg=="]of type BS contains duplicates.',
        INVALID + "Input collection [Yg==, Yg==]of type BS contains duplicates.",
        id="duplicates in BS",
    ),
    pytest.param({"NS": ["1", "x"]}, f"{NO_NUMBER}: x", None, id="no number in NS"),
    pytest.param({"L": [{"S": "x"}, {}]}, EMPTY, None, id="nothing in a list"),
    pytest.param({"M": {"a": {"N": "x"}}}, f"{NO_NUMBER}: x", None, id="no number in a map"),
    pytest.param(nested(32, "L"), DEEP, None, id="33 levels of lists"),
    pytest.param(nested(32, "M"), DEEP, None, id="33 levels of maps"),
]


@pytest.mark.parametrize(("value", "message", "old"), BAD_VALUES)
def test_values_that_are_none(
    db: Database, table: str, value: Json, message: str, old: str | None
) -> None:
    request = {"TableName": table, "Item": KEY | {"v": value}}
    db.refuses_early("PutItem", request, message, old=old)
    assert db.items(table) == []


def test_null_is_always_true(db: Database, table: str) -> None:
    message = INVALID + "Null attribute value types must have the value of true"
    db.refuses_early("PutItem", {"TableName": table, "Item": KEY | {"v": {"NULL": False}}}, message)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"Item": {"pk": {"N": "x"}}}),
        ("GetItem", {"Key": {"pk": {"N": "x"}}}),
        ("DeleteItem", {"Key": {"pk": {"N": "x"}}}),
        ("UpdateItem", {"Key": {"pk": {"N": "x"}}}),
    ],
)
def test_values_are_checked_before_the_table_is_looked_for(
    db: Database, operation: str, request_: Json
) -> None:
    db.refuses_early(operation, {"TableName": "missing"} | request_, f"{NO_NUMBER}: x")


@pytest.mark.parametrize(("value", "message", "old"), BAD_VALUES)
def test_values_of_an_expression_that_are_none(
    db: Database, table: str, value: Json, message: str, old: str | None
) -> None:
    old = f"ExpressionAttributeValues contains invalid value: {old or message} for key :v"
    request = {
        "TableName": table,
        "Key": KEY,
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    db.refuses_early("UpdateItem", request, message, old=old)
    assert db.items(table) == []


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "four"}, 4),
        ({"S": "é"}, 2),
        ({"S": ""}, 0),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "123"}, 3),
        ({"N": "-123"}, 4),
        ({"N": "1e100"}, 2),
        ({"N": "12.5"}, 3),
        ({"B": "aGk="}, 2),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["1", "2"]}, 4),
        ({"L": []}, 3),
        ({"L": [{"S": "a"}, {"S": "b"}]}, 7),
        ({"M": {}}, 3),
        ({"M": {"key": {"S": "a"}}}, 8),
    ],
    ids=str,
)
def test_sizes(db: Database, table: str, value: Json, size: int) -> None:
    db.call("PutItem", {"TableName": table, "Item": KEY | {"v": value}})
    described = db.call("DescribeTable", {"TableName": table})["Table"]
    assert described["TableSizeBytes"] == len("pkask1v") + size


def test_numbers_add_up_exactly(db: Database, table: str) -> None:
    db.put(table, KEY | {"n": {"N": "0.1"}})
    request = {
        "TableName": table,
        "Key": KEY,
        "UpdateExpression": "SET n = n + :v",
        "ExpressionAttributeValues": {":v": {"N": "0.2"}},
        "ReturnValues": "UPDATED_NEW",
    }
    assert db.call("UpdateItem", request)["Attributes"] == {"n": {"N": "0.3"}}


def test_an_unknown_type_is_no_value(db: Database, table: str) -> None:
    request = {"TableName": table, "Item": KEY | {"v": {"X": "1"}}}
    db.refuses_early("PutItem", request, EMPTY, raw=True)


def test_an_unknown_type_besides_a_known_one_is_ignored(db: Database, table: str) -> None:
    db.post("PutItem", {"TableName": table, "Item": KEY | {"v": {"S": "a", "X": "1"}}})
    assert db.get(table, KEY) == KEY | item(v="a")


def test_null_is_no_value(db: Database, table: str) -> None:
    request = {"TableName": table, "Item": KEY | {"v": {"S": None}}}
    db.refuses_early("PutItem", request, EMPTY, raw=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"N": "1"}, {"N": "1.00"}),
        ({"NS": ["1", "2"]}, {"NS": ["2.0", "1"]}),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}),
        ({"M": {"a": {"N": "1"}, "b": {"S": "x"}}}, {"M": {"b": {"S": "x"}, "a": {"N": "1.0"}}}),
    ],
    ids=["N", "NS", "SS", "M"],
)
def test_equal_values_are_equal_whatever_their_spelling(
    db: Database, table: str, one: Json, other: Json
) -> None:
    db.put(table, KEY | {"v": one})
    request = {
        "TableName": table,
        "FilterExpression": "v = :v",
        "ExpressionAttributeValues": {":v": other},
        "Select": "COUNT",
    }
    assert db.call("Scan", request)["Count"] == 1


def test_types_are_never_equal(db: Database, table: str) -> None:
    db.put(table, KEY | item(v="1"))
    request = {
        "TableName": table,
        "FilterExpression": "v = :v",
        "ExpressionAttributeValues": values(v=1),
        "Select": "COUNT",
    }
    assert db.call("Scan", request)["Count"] == 0


def test_values_put_together_are_not_too_deep(db: Database, table: str) -> None:
    db.put(table, KEY | {"deep": nested(31, "M"), "m": {"M": {}}})
    request = {"TableName": table, "Key": KEY, "UpdateExpression": "SET m.x = deep"}
    with pytest.raises(Refused, match="Nesting Levels have exceeded supported limits"):
        db.call("UpdateItem", request)
    request["UpdateExpression"] = "SET m.x = deep.m"
    db.call("UpdateItem", request)


@pytest.mark.parametrize("levels", [100, 300])
def test_hostile_nesting_is_refused(db: Database, table: str, levels: int) -> None:
    request = {"TableName": table, "Item": KEY | {"v": nested(levels, "L")}}
    db.refuses("PutItem", request, DEEP, raw=True)


@pytest.mark.parametrize("content", [1, True, [], {}], ids=repr)
def test_binary_must_be_a_text(db: Database, table: str, content: object) -> None:
    with pytest.raises(Refused) as refused:
        db.post("PutItem", {"TableName": table, "Item": KEY | {"v": {"B": content}}})
    assert refused.value.code == "SerializationException"
