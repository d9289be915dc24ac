"""Items have one normal form, sizes as DynamoDB counts them, and bytes that give them back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from tablewright.encoding.items import (
    dump,
    item_size,
    load,
    normalise,
    normalise_item,
    value_size,
)
from tablewright.errors import ValidationException
from tablewright.limits import MAX_NESTING
from tests.encoding.strategies import base64_of, items, values

Value = dict[str, Any]
INVALID = "One or more parameter values were invalid: "

#: A value, its normal form (None: it is normal), and the bytes DynamoDB counts for it.
VALUES: list[tuple[Value, Value | None, int]] = [
    ({"S": ""}, None, 0),
    ({"S": "abc"}, None, 3),
    ({"S": "é"}, None, 2),
    ({"S": "😀"}, None, 4),
    ({"S": "a\x00b"}, None, 3),
    ({"N": "0"}, None, 1),
    ({"N": "-0"}, {"N": "0"}, 1),
    ({"N": "1e3"}, {"N": "1000"}, 2),
    ({"N": "+07.50"}, {"N": "7.5"}, 3),
    ({"N": "-12.5"}, None, 4),
    ({"B": ""}, None, 0),
    ({"B": "aA=="}, None, 1),
    ({"B": "aGk="}, None, 2),
    ({"B": "aGkh"}, None, 3),
    ({"BOOL": True}, None, 1),
    ({"BOOL": False}, None, 1),
    ({"NULL": True}, None, 1),
    ({"SS": ["b", "a"]}, {"SS": ["a", "b"]}, 2),
    ({"SS": ["😀", "\uffff", "é", "z"]}, {"SS": ["z", "é", "\uffff", "😀"]}, 10),
    ({"SS": [""]}, None, 0),
    ({"NS": ["10", "9", "-1"]}, {"NS": ["-1", "9", "10"]}, 7),
    ({"NS": ["1e1", "1.50"]}, {"NS": ["1.5", "10"]}, 5),
    ({"BS": ["/w==", "AA==", "YQ=="]}, {"BS": ["AA==", "YQ==", "/w=="]}, 3),
    ({"L": []}, None, 3),
    ({"L": [{"S": "x"}]}, None, 5),
    ({"L": [{"N": "1.0"}, {"L": []}]}, {"L": [{"N": "1"}, {"L": []}]}, 3 + 1 + 2 + 1 + 3),
    ({"L": [{"S": "b"}, {"S": "a"}]}, None, 7),
    ({"M": {}}, None, 3),
    ({"M": {"k": {"S": "v"}}}, None, 6),
    ({"M": {"é": {"NULL": True}}}, None, 3 + 1 + 2 + 1),
    ({"M": {"k": {"SS": ["b", "a"]}}}, {"M": {"k": {"SS": ["a", "b"]}}}, 3 + 1 + 1 + 2),
]


@pytest.mark.parametrize(("value", "normal"), [(v, n) for v, n, _ in VALUES])
def test_a_value_has_this_normal_form(value: Value, normal: Value | None) -> None:
    assert normalise(value) == (value if normal is None else normal)


@pytest.mark.parametrize(("value", "size"), [(n or v, s) for v, n, s in VALUES])
def test_a_value_counts_for_this_many_bytes(value: Value, size: int) -> None:
    assert value_size(value) == size


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({}, 0),
        ({"id": {"S": "abc"}}, 5),
        ({"é": {"S": "é"}}, 4),
        ({"id": {"S": "abc"}, "tags": {"L": [{"S": "x"}]}}, 14),
        ({"a": {"N": "100"}, "b": {"BOOL": True}, "c": {"NULL": True}}, 3 + 2 + 1 + 1),
        ({"m": {"M": {"x": {"N": "1"}, "y": {"M": {}}}}}, 1 + 3 + (1 + 1 + 2) + (1 + 1 + 3)),
        (
            {"s": {"SS": ["ab", "c"]}, "n": {"NS": ["1", "22"]}, "b": {"BS": ["aGk="]}},
            3 + 3 + 4 + 2,
        ),
    ],
)
def test_an_item_counts_for_its_names_and_its_values(item: dict[str, Value], size: int) -> None:
    assert item_size(item) == size


@given(items)
def test_the_size_of_an_item_is_that_of_its_names_and_values(item: dict[str, Value]) -> None:
    normal = normalise_item(item)
    expected = sum(len(name.encode()) + value_size(value) for name, value in normal.items())
    assert item_size(normal) == expected


@given(values)
def test_normalising_twice_changes_nothing_more(value: Value) -> None:
    once = normalise(value)
    assert normalise(once) == once


@given(values)
def test_normalising_leaves_the_given_value_alone(value: Value) -> None:
    before = json.dumps(value)
    normalise(value)
    assert json.dumps(value) == before


@given(values)
def test_normalising_keeps_the_meaning(value: Value) -> None:
    assert meaning(normalise(value)) == meaning(value)


@given(items)
def test_what_is_stored_is_loaded_again(item: dict[str, Value]) -> None:
    normal = normalise_item(item)
    assert load(dump(normal)) == normal


@given(items)
def test_what_is_stored_is_plain_json(item: dict[str, Value]) -> None:
    normal = normalise_item(item)
    assert json.loads(dump(normal)) == normal


REFUSED: list[tuple[Value, str]] = [
    (
        {},
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
    ),
    (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, "
        "must contain exactly one of the supported datatypes",
    ),
    ({"NULL": False}, f"{INVALID}Null attribute value types must have the value of true"),
    ({"SS": []}, f"{INVALID}An string set  may not be empty"),
    ({"NS": []}, f"{INVALID}An number set  may not be empty"),
    ({"BS": []}, f"{INVALID}Binary sets should not be empty"),
    ({"SS": ["b", "a", "b"]}, f"{INVALID}Input collection [b, a, b] contains duplicates."),
    ({"NS": ["1", "2", "1"]}, "Input collection contains duplicates"),
    ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
    (
        {"BS": ["aGk=", "aGk="]},
        f"{INVALID}Input collection [aGk=, aGk=]of type BS contains duplicates.",
    ),
    ({"M": {"": {"S": "a"}}}, "Empty attribute name"),
    ({"N": "x"}, "The parameter cannot be converted to a numeric value: x"),
    ({"NS": ["1", "x"]}, "The parameter cannot be converted to a numeric value: x"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
@pytest.mark.parametrize("inside", [False, True], ids=["plain", "inside a map in a list"])
def test_what_is_no_value_is_refused_in_these_words(
    value: Value, message: str, inside: bool
) -> None:
    with pytest.raises(ValidationException) as refused:
        normalise({"L": [{"M": {"k": value}}]} if inside else value)
    assert refused.value.old_message == message


def test_an_attribute_without_a_name_is_refused() -> None:
    with pytest.raises(ValidationException, match=r"^Empty attribute name$"):
        normalise_item({"a": {"S": "x"}, "": {"S": "y"}})


def nested(levels: int, tag: str) -> Value:
    """A scalar below that many lists or maps."""
    value: Value = {"S": "deep"}
    for _ in range(levels):
        value = {"L": [value]} if tag == "L" else {"M": {"k": value}}
    return value


@pytest.mark.parametrize("tag", ["L", "M"])
def test_32_levels_are_held(tag: str) -> None:
    value = nested(MAX_NESTING - 1, tag)
    assert normalise(value) == value
    assert load(dump({"a": value})) == {"a": value}


@pytest.mark.parametrize("tag", ["L", "M"])
@pytest.mark.parametrize("levels", [32, 33, 60])
def test_more_than_32_levels_are_refused(tag: str, levels: int) -> None:
    with pytest.raises(ValidationException) as refused:
        normalise_item({"a": nested(levels, tag)})
    assert refused.value.message == (
        "Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit"
    )


@pytest.mark.parametrize("length", range(7))
def test_a_binary_counts_for_its_bytes_not_for_its_text(length: int) -> None:
    assert value_size({"B": base64_of(b"x" * length)}) == length


def meaning(value: Value) -> Any:
    """A value as plain Python, in which equal values are equal."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return tag, Decimal(content)
        case "NS":
            return tag, frozenset(map(Decimal, content))
        case "SS" | "BS":
            return tag, frozenset(content)
        case "L":
            return tag, [meaning(member) for member in content]
        case "M":
            return tag, {name: meaning(member) for name, member in content.items()}
        case _:
            return tag, content
