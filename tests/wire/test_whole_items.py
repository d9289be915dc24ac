"""One pass over an item finds what three passes find."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright.encoding.items import item_size, normalise_item
from tablewright.errors import DynamoDBError
from tablewright.wire.values import read_values, read_whole_item
from tests.encoding.strategies import items, spellings, texts
from tests.examples import examples

NUMBERS = st.one_of(spellings(), st.sampled_from(["", "x", "1e999", "0.10", "-0", "9" * 39]))
#: Valid values, and some that are not.
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.builds(lambda text: {"N": text}, NUMBERS),
    st.sampled_from(
        [
            {"BOOL": True},
            {"BOOL": 1},
            {"NULL": True},
            {"NULL": False},
            {"S": 7},
            {"S": None},
            {"N": 7},
            {},
            {"S": "a", "N": "1"},
            {"S": "a", "unknown": 1},
            {"unknown": "a"},
            {"SS": ["b", "a"]},
            {"SS": []},
            {"M": {"": {"S": "a"}}},
            {"L": [{"N": "1.0"}]},
            {"B": "AB=="},
            {"B": "A"},
            "text",
            None,
        ]
    ),
)


def in_three_passes(raw: dict[str, Any]) -> object:
    try:
        item = normalise_item(read_values(raw))
    except DynamoDBError as fault:
        return type(fault), fault.message
    return item, item_size(item)


def in_one_pass(raw: dict[str, Any]) -> object:
    try:
        return read_whole_item(raw)
    except DynamoDBError as fault:
        return type(fault), fault.message


@given(st.dictionaries(texts, VALUES, max_size=4))
@examples(300)
def test_one_pass_equals_three(raw: dict[str, Any]) -> None:
    assert in_one_pass(raw) == in_three_passes(raw)


@given(items)
@examples(100)
def test_valid_items_keep_the_order_of_their_attributes(raw: dict[str, Any]) -> None:
    item, _ = read_whole_item(raw)
    assert list(item) == list(raw)
    assert in_one_pass(raw) == in_three_passes(raw)
