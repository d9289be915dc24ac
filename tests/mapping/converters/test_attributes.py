"""An attribute of an item is stored, left out, or read where it is absent."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.mapping.converters import converter

Value = dict[str, Any]
NULL: Value = {"NULL": True}


#: A type, a value, what is stored for it as an attribute (None: nothing).
ATTRIBUTES: list[tuple[Any, Any, Value | None]] = [
    (str, "", {"S": ""}),
    (str | None, None, None),
    (str | None, "x", {"S": "x"}),
    (set[str], set(), None),
    (frozenset[int], frozenset(), None),
    (set[str], {"a"}, {"SS": ["a"]}),
    (set[str] | None, None, None),
    (Any, None, NULL),
    (list[str], [], {"L": []}),
]


@pytest.mark.parametrize(("annotation", "value", "stored"), ATTRIBUTES)
def test_an_attribute_is_stored_or_left_out_and_read_again(
    annotation: Any, value: Any, stored: Value | None
) -> None:
    made = converter(annotation, "Order.a")
    assert made.stored(value) == stored
    again = made.read({} if stored is None else {"a": stored}, "a")
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(str, None), (set[str], None), (set[str], []), (set[str] | None, set())],
)
def test_only_what_reads_back_is_left_out(annotation: Any, value: Any) -> None:
    with pytest.raises(InvalidValue):
        converter(annotation, "Order.a").stored(value)


def test_an_absent_attribute_that_must_be_there_is_unreadable() -> None:
    with pytest.raises(UnreadableItem, match=r"^Order\.a: the stored item has no 'b'$"):
        converter(str, "Order.a").read({"a": {"S": "x"}}, "b")


def test_an_optional_attribute_stored_as_null_is_none() -> None:
    assert converter(set[str] | None, "Order.a").read({"a": NULL}, "a") is None


def test_the_absent_set_is_a_new_one_each_time() -> None:
    tags = converter(set[str], "Order.tags")
    assert tags.read({}, "tags") is not tags.read({}, "tags")
