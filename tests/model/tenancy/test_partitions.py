"""Sets of partition keys: which values, and which ranges of values, they contain."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.mapping.key_condition import SortCondition
from tablewright.model.shards import Partitions
from tests.model.tenancy.market import s

OWN = Partitions.of([(s("A#x"), False), (s("B#x#"), True), (s("C#x#"), True), ({"N": "7"}, False)])


@pytest.mark.parametrize("value", [s("A#x"), s("B#x#"), s("B#x#y"), s("C#x#\uffff"), {"N": "7.0"}])
def test_a_key_is_in_the_set(value: Any) -> None:
    assert value in OWN


@pytest.mark.parametrize(
    "value",
    [
        *(s("A#x#"), s("A#"), s("B#x"), s("b#x#y"), s(" B#x#y"), s("D#x#y"), s(""), {"N": "70"}),
        *("B#x#y", {"S": ["B#x#y"]}, {"B": "B#x#"}, {"SS": ["B#x#"]}, {"S": "B#x#", "N": "7"}),
        *(None, {}, [], {"S": None}, {"S": b"B#x#"}),
    ],
)
def test_what_is_another_key_or_none_is_not_in_the_set(value: Any) -> None:
    assert value not in OWN


@pytest.mark.parametrize(
    ("comparison", "values", "is_covered"),
    [
        ("=", [s("A#x")], True),
        ("=", [s("B#x#y")], True),
        ("=", [s("B#x")], False),
        ("begins_with", [s("B#x#")], True),
        ("begins_with", [s("B#x#y")], True),
        ("begins_with", [s("B#x")], False),
        ("begins_with", [s("A#x")], False),  # A#xy begins with it, too
        ("begins_with", [s("")], False),
        ("begins_with", [{"N": "7"}], False),
        ("between", [s("B#x#"), s("B#x#z")], True),
        ("between", [s("B#x#a"), s("C#x#a")], False),  # between two prefixes is what is nobody's
        ("between", [s("B#x#"), s("B#y")], False),
        ("between", [s("A#x"), s("A#x")], False),
        (">=", [s("B#x#")], False),
        ("<", [s("B#x#")], False),
    ],
)
def test_a_range_is_covered_if_all_its_keys_are_in_the_set(
    comparison: Any, values: list[Any], is_covered: bool
) -> None:
    assert OWN.covers(SortCondition("PK", comparison, tuple(values))) == is_covered


def test_a_set_is_shown_with_stars() -> None:
    assert str(OWN) == "7, A#x, B#x#*, C#x#*"
