"""What updates do, what they refuse, and what a projection returns."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tablewright.errors import ValidationException
from tablewright.expression import CompiledUpdate, Scope

ITEM: dict[str, Any] = {
    "n": {"N": "5"},
    "s": {"S": "str"},
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"S": "Z"}}}}},
    "l": {"L": [{"S": "0"}, {"S": "1"}, {"M": {"q": {"S": "Q"}}}, {"S": "3"}]},
    "ss": {"SS": ["a", "b", "c"]},
    "ns": {"NS": ["1", "9"]},
    "big": {"N": "9" * 38},
}
VALUES: dict[str, Any] = {
    ":n": {"N": "1"},
    ":half": {"N": "0.5"},
    ":s": {"S": "x"},
    ":l": {"L": [{"N": "7"}]},
    ":ss": {"SS": ["b", "d"]},
    ":abc": {"SS": ["c", "b", "a"]},
    ":ns": {"NS": ["10", "9"]},
    ":big": {"N": "1e125"},
}
INVALID_PATH = "The document path provided in the update expression is invalid for update"
MISSING = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


def update(text: str) -> CompiledUpdate:
    found = Scope(None, VALUES).update(text)
    assert found is not None
    return found


def elements(*texts: str) -> dict[str, Any]:
    return {"L": [{"S": text} for text in texts]}


Q = {"M": {"q": {"S": "Q"}}}
X = {"S": "x"}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("SET a = :s", {"a": X}),
        ("SET n = n + :half", {"n": {"N": "5.5"}}),
        ("SET n = :n - n", {"n": {"N": "-4"}}),
        ("SET a = if_not_exists(a, :n) + :n", {"a": {"N": "2"}}),
        ("SET n = if_not_exists(n, :n)", {}),
        ("SET a = list_append(:l, :l)", {"a": {"L": [{"N": "7"}, {"N": "7"}]}}),
        ("SET m.x = :s", {"m": {"M": {"x": X, "y": {"M": {"z": {"S": "Z"}}}}}}),
        ("SET m.y.w = :s", {"m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"S": "Z"}, "w": X}}}}}),
        # Operands are read before anything is written.
        ("SET n = s, s = n", {"n": {"S": "str"}, "s": {"N": "5"}}),
        ("REMOVE n SET a = n", {"n": None, "a": {"N": "5"}}),
        ("ADD n :n SET a = n", {"n": {"N": "6"}, "a": {"N": "5"}}),
        # Positions are those before the update; past the end means appended, in order.
        ("SET l[1] = l[0], l[0] = l[1]", {"l": {"L": [*elements("1", "0")["L"], Q, {"S": "3"}]}}),
        ("SET l[9] = :s, l[7] = s", {"l": {"L": [*ITEM["l"]["L"], {"S": "str"}, X]}}),
        ("REMOVE l[2], l[0]", {"l": elements("1", "3")}),
        ("SET l[9] = :s REMOVE l[2]", {"l": elements("0", "1", "3", "x")}),
        ("SET l[2].q = :s REMOVE l[0]", {"l": {"L": [{"S": "1"}, {"M": {"q": X}}, {"S": "3"}]}}),
        ("ADD l[9] :n", {"l": {"L": [*ITEM["l"]["L"], {"N": "1"}]}}),
        ("REMOVE l[9]", {}),
        ("REMOVE m.nope", {}),
        ("REMOVE nope", {}),
        ("ADD a :n", {"a": {"N": "1"}}),
        ("ADD a :ss", {"a": {"SS": ["b", "d"]}}),
        ("ADD ss :ss", {"ss": {"SS": ["a", "b", "c", "d"]}}),
        ("ADD ns :ns", {"ns": {"NS": ["1", "9", "10"]}}),
        ("DELETE ss :ss", {"ss": {"SS": ["a", "c"]}}),
        ("DELETE ss :abc", {"ss": None}),
        ("DELETE nope :ss", {}),
        ("DELETE l[9] :ss", {}),
    ],
)
def test_updates(text: str, changed: dict[str, Any]) -> None:
    before = copy.deepcopy(ITEM)
    after = update(text).apply(ITEM)
    expected = {name: value for name, value in {**ITEM, **changed}.items() if value is not None}
    assert after == expected
    assert before == ITEM


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET a.b = :s", INVALID_PATH),
        ("SET s.x = :s", INVALID_PATH),
        ("SET m[0] = :s", INVALID_PATH),
        ("SET l.x = :s", INVALID_PATH),
        ("SET l[9].x = :s", INVALID_PATH),
        ("SET a.b = nope", INVALID_PATH),
        ("REMOVE nope.x", INVALID_PATH),
        ("REMOVE m.nope.x", INVALID_PATH),
        ("DELETE m.nope.x :ss", INVALID_PATH),
        ("ADD a[0] :n", INVALID_PATH),
        ("SET a = nope", MISSING),
        ("SET a = l[9]", MISSING),
        ("SET a = m.x.y", MISSING),
        ("SET a = nope + s", MISSING),
        ("SET a = if_not_exists(nope, nope2)", MISSING),
        ("SET a = if_not_exists(n, nope)", MISSING),
        ("SET a = s + nope", WRONG_TYPE),
        ("SET a = :n - s", WRONG_TYPE),
        ("SET a = list_append(:l, s)", WRONG_TYPE),
        ("SET a = if_not_exists(s, :n) + :n", WRONG_TYPE),
        ("ADD s :n", WRONG_TYPE),
        ("ADD ss :ns", WRONG_TYPE),
        ("ADD l :n", WRONG_TYPE),
        ("DELETE ss :ns", WRONG_TYPE),
        ("DELETE s :ss", WRONG_TYPE),
    ],
)
def test_updates_that_an_item_does_not_allow(text: str, message: str) -> None:
    before = copy.deepcopy(ITEM)
    with pytest.raises(ValidationException) as caught:
        update(text).apply(ITEM)
    assert caught.value.message == message
    assert before == ITEM


@pytest.mark.parametrize("text", ["SET a = big + :half", "ADD big :half", "SET a = :big + :n"])
def test_numbers_stay_in_range(text: str) -> None:
    with pytest.raises(ValidationException, match="Number overflow"):
        update(text).apply(ITEM)


def test_what_no_path_touches_is_shared() -> None:
    after = update("SET m.x = :s, l[0] = :s").apply(ITEM)
    assert after["m"]["M"]["y"] is ITEM["m"]["M"]["y"]
    assert after["l"]["L"][2] is ITEM["l"]["L"][2]
    assert after["ss"] is ITEM["ss"]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("SET n = :s", {"n": {"N": "5"}}, {"n": X}),
        ("SET a = :s", None, {"a": X}),
        ("REMOVE n", {"n": {"N": "5"}}, None),
        ("SET m.x = :s", {"m": {"M": {"x": {"N": "1"}}}}, {"m": {"M": {"x": X}}}),
        ("SET l[1] = :s", {"l": elements("1")}, {"l": elements("x")}),
        ("SET l[9] = :s", None, None),
    ],
)
def test_touched_parts(text: str, old: Any, new: Any) -> None:
    found = update(text)
    assert found.project_written(ITEM) == old
    assert found.project_written(found.apply(ITEM)) == new


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("n, nope", {"n": {"N": "5"}}),
        ("m.x", {"m": {"M": {"x": {"N": "1"}}}}),
        ("m.y.z, m.x", {"m": ITEM["m"]}),
        ("l[3], l[0]", {"l": elements("0", "3")}),
        ("l[2].q, l[1]", {"l": {"L": [{"S": "1"}, Q]}}),
        ("l[9], m.nope, n.x, s[0]", {}),
        ("l.x, m[0]", {}),
        ("l[2].nope", {}),
    ],
)
def test_projections(text: str, picked: dict[str, Any]) -> None:
    project = Scope().projection(text)
    assert project is not None
    assert project(ITEM) == picked
