"""What conditions mean."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tablewright.expression import Scope


def binary(content: bytes) -> str:
    return base64.b64encode(content).decode()


ITEM: dict[str, Any] = {
    "n": {"N": "5"},
    "s": {"S": "str"},
    "u": {"S": "éa😀"},
    "e": {"S": ""},
    "b": {"B": binary(b"wxyz")},
    "t": {"BOOL": True},
    "nul": {"NULL": True},
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"S": "Z"}}}}},
    "l": {"L": [{"S": "a"}, {"N": "1"}, {"M": {"q": {"S": "Q"}}}]},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": [binary(b"a")]},
}
VALUES: dict[str, Any] = {
    ":0": {"N": "0"},
    ":1": {"N": "1.0"},
    ":2": {"N": "2"},
    ":4": {"N": "4"},
    ":5": {"N": "5"},
    ":10": {"N": "10"},
    ":s": {"S": "str"},
    ":st": {"S": "st"},
    ":a": {"S": "a"},
    ":wx": {"B": binary(b"wx")},
    ":xy": {"B": binary(b"xy")},
    ":x": {"B": binary(b"x")},
    ":ba": {"SS": ["b", "a"]},
    ":S": {"S": "S"},
    ":NULL": {"S": "NULL"},
    ":m": {"M": {"q": {"S": "Q"}}},
    ":t": {"BOOL": True},
}

TRUE = [
    "n = :5",
    "n <> :10",
    "n < :10",  # by value, not by text
    "n >= :5",
    "l[1] = :1",
    "s > :st",
    "b < :x",
    "b > :wx",
    "ss = :ba",
    "l[2] = :m",
    "t = :t",
    "n BETWEEN :1 AND :5",
    "n IN (:1, :5)",
    "m.x = l[1]",
    # An attribute that is not there is not equal to anything, and different from everything.
    "nope <> :5",
    "nope <> nope2",
    "NOT nope = :5",
    "NOT nope < :5",
    "m.nope.deep <> :5",
    "NOT m[0] = :1",
    "NOT l.x = :1",
    "NOT l[9] = :1",
    # Nor is a value of another type.
    "s <> :5",
    "NOT s < :5",
    "NOT s BETWEEN :1 AND :5",
    "attribute_exists(m.y.z)",
    "attribute_exists(nul)",
    "attribute_not_exists(m.y.q)",
    "attribute_not_exists(n.x)",
    "attribute_type(s, :S)",
    "attribute_type(nul, :NULL)",
    "NOT attribute_type(nope, :S)",
    "begins_with(s, :st)",
    "begins_with(b, :wx)",
    "NOT begins_with(s, :wx)",
    "NOT begins_with(n, :st)",
    "NOT begins_with(nope, :st)",
    "contains(s, :st)",
    "contains(b, :xy)",
    "contains(ss, :a)",
    "contains(ns, :1)",
    "contains(l, :a)",
    "contains(l, :m)",
    "NOT contains(ss, :1)",
    "NOT contains(s, :5)",
    "NOT contains(n, :5)",
    "NOT contains(m, :a)",
    "NOT contains(nope, :a)",
    "size(u) = :4",  # UTF-16 units
    "size(e) = :0",
    "size(b) = :4",
    "size(ss) = :2",
    "size(m) = :2",
    "size(l) > :2",
    "NOT size(n) >= :0",
    "NOT size(nope) >= :0",
    "size(ss) = size(ns)",
    # NOT before AND before OR.
    "n = :5 OR n = :1 AND n = :2",
    "NOT (n = :5 AND n = :1)",
    "NOT n = :1 AND n = :5",
]


@pytest.mark.parametrize("text", TRUE)
def test_conditions_that_hold(text: str) -> None:
    condition = Scope(None, VALUES).condition(text)
    assert condition is not None
    assert condition.holds(ITEM) is True


@pytest.mark.parametrize("text", TRUE)
def test_their_negations_do_not(text: str) -> None:
    condition = Scope(None, VALUES).condition(f"NOT ({text})")
    assert condition is not None
    assert condition.holds(ITEM) is False


def test_no_item_is_an_empty_item() -> None:
    condition = Scope().condition("attribute_not_exists(pk)")
    assert condition is not None
    assert condition.holds({}) is True
    assert condition.holds({"pk": {"S": "x"}}) is False
