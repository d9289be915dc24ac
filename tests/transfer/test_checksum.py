"""The checksum knows items apart, and nothing else: no order, no spelling."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.encoding.items import normalise_item
from tablewright.transfer import Checksum
from tablewright.values import Item
from tests.encoding.strategies import items
from tests.examples import examples


@examples(40)
@given(st.lists(items, max_size=3), st.randoms())
def test_the_order_of_items_and_names_does_not_matter(found: list[Item], chance: Any) -> None:
    assert isinstance(chance, random.Random)
    mixed = [dict(chance.sample(list(item.items()), len(item))) for item in found]
    chance.shuffle(mixed)
    assert Checksum.of(mixed) == Checksum.of(found)


@examples(40)
@given(items)
def test_an_item_and_its_normal_form_are_one(item: Item) -> None:
    assert Checksum.of([item]) == Checksum.of([normalise_item(item)])


@examples(40)
@given(items, items)
def test_different_items_have_different_sums(one: Item, other: Item) -> None:
    assert (Checksum.of([one]) == Checksum.of([other])) == (
        normalise_item(one) == normalise_item(other)
    )


@examples(40)
@given(st.lists(items, max_size=2), st.lists(items, max_size=2))
def test_sums_add_up(some: list[Item], others: list[Item]) -> None:
    assert Checksum.of(some) + Checksum.of(others) == Checksum.of(some + others)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"S": "1"}, {"N": "1"}),
        ({"S": ""}, {"NULL": True}),
        ({"S": "YQ=="}, {"B": "YQ=="}),
        (
            {"N": "12345678901234567890123456789012345678"},
            {"N": "1.2345678901234567890123456789e37"},
        ),
        ({"SS": ["a"]}, {"L": [{"S": "a"}]}),
        ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}),
        ({"M": {}}, {"L": []}),
        ({"BOOL": True}, {"BOOL": False}),
    ],
)
def test_values_that_look_alike_are_told_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert Checksum.of([{"k": one}]) != Checksum.of([{"k": other}])
    assert Checksum.of([{"k": one}] * 2) != Checksum.of([{"k": one}])
