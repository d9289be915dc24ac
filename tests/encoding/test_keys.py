"""Key bytes sort as DynamoDB sorts keys, and keys of several components never mix."""

from __future__ import annotations

import base64
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.encoding.keys import (
    CHECKSUM_SPACE,
    EmptyComponent,
    encode_component,
    encode_prefix,
    end_of_prefix,
    partition,
    segment_range,
)
from tests.encoding.strategies import base64_of, decimals, key_bytes, key_texts, raw_bytes

#: Contents by type, from the first to the last, with their bytes.
COMPONENTS: dict[str, list[tuple[str, str]]] = {
    "S": [
        ("\x00", "00 01 00 00"),
        ("\x00\x00", "00 01 00 01 00 00"),
        ("\x00\x01", "00 01 01 00 00"),
        ("\x00a", "00 01 61 00 00"),
        ("\x01", "01 00 00"),
        ("A", "41 00 00"),
        ("a", "61 00 00"),
        ("a\x00", "61 00 01 00 00"),
        ("a\x00b", "61 00 01 62 00 00"),
        ("a\x01", "61 01 00 00"),
        ("a#", "61 23 00 00"),
        ("aa", "61 61 00 00"),
        ("b", "62 00 00"),
        ("\x7f", "7f 00 00"),
        ("é", "c3 a9 00 00"),
        ("\uffff", "ef bf bf 00 00"),
        ("😀", "f0 9f 98 80 00 00"),  # after \uffff: UTF-16 would put it before
    ],
    "B": [
        ("AA==", "00 01 00 00"),
        ("AAA=", "00 01 00 01 00 00"),
        ("AAE=", "00 01 01 00 00"),
        ("AP8=", "00 01 ff 00 00"),
        ("AQ==", "01 00 00"),
        ("YQ==", "61 00 00"),
        ("YQA=", "61 00 01 00 00"),
        ("YWE=", "61 61 00 00"),
        ("/w==", "ff 00 00"),
        ("/wA=", "ff 00 01 00 00"),
        ("//8=", "ff ff 00 00"),
    ],
    "N": [
        ("-10", "7f 7c de ff"),
        ("-2", "7f 7d ce ff"),
        ("0", "80"),
        ("2", "81 82 31 00"),
        ("10", "81 83 21 00"),
    ],
}
CASES = [(tag, *case) for tag, cases in COMPONENTS.items() for case in cases]


@pytest.mark.parametrize(("tag", "content", "encoded"), CASES)
def test_a_component_has_these_bytes(tag: str, content: str, encoded: str) -> None:
    assert encode_component(tag, content).hex(" ") == encoded


@pytest.mark.parametrize("tag", ["S", "B"])
def test_nothing_is_no_component(tag: str) -> None:
    with pytest.raises(EmptyComponent):
        encode_component(tag, "")
    with pytest.raises(EmptyComponent):
        encode_prefix(tag, "")


@pytest.mark.parametrize("tag", COMPONENTS)
def test_the_bytes_of_the_table_are_in_its_order(tag: str) -> None:
    encoded = [encode_component(tag, content) for content, _ in COMPONENTS[tag]]
    assert all(less < more for less, more in pairwise(encoded))


@given(key_texts, key_texts)
def test_strings_sort_by_their_utf_8_bytes(left: str, right: str) -> None:
    assert (encode_component("S", left) < encode_component("S", right)) == (
        left.encode() < right.encode()
    )


@given(key_bytes, key_bytes)
def test_binaries_sort_by_their_bytes(left: bytes, right: bytes) -> None:
    lower, upper = encode_component("B", base64_of(left)), encode_component("B", base64_of(right))
    assert (lower < upper) == (left < right)


@given(decimals(), decimals())
def test_numbers_sort_by_value(left: Decimal, right: Decimal) -> None:
    assert (encode_component("N", f"{left:f}") < encode_component("N", f"{right:f}")) == (
        left < right
    )


def contents(tag: str) -> st.SearchStrategy[str]:
    if tag == "N":
        return decimals().map(lambda number: f"{number:f}")
    return key_texts if tag == "S" else key_bytes.map(base64_of)


def ordering(tag: str, content: str) -> Any:
    """What Python compares to order contents as DynamoDB does."""
    if tag == "N":
        return Decimal(content)
    return content.encode() if tag == "S" else base64.b64decode(content)


@given(st.data(), st.sampled_from("SNB"))
def test_no_component_begins_with_another(data: st.DataObject, tag: str) -> None:
    left, right = (data.draw(contents(tag)) for _ in range(2))
    if left != right:
        assert not encode_component(tag, left).startswith(encode_component(tag, right))


@given(st.data(), st.lists(st.sampled_from("SNB"), min_size=1, max_size=4))
def test_keys_of_several_components_sort_component_by_component(
    data: st.DataObject, tags: list[str]
) -> None:
    left, right = ([data.draw(contents(tag)) for tag in tags] for _ in range(2))
    same = data.draw(st.integers(0, len(tags)))
    right[:same] = left[:same]
    lower, upper = (b"".join(map(encode_component, tags, values)) for values in (left, right))
    lower_values, upper_values = (list(map(ordering, tags, values)) for values in (left, right))
    assert (lower < upper) == (lower_values < upper_values)
    assert (lower == upper) == (lower_values == upper_values)


@given(key_texts, key_texts)
def test_a_string_begins_with_another_exactly_when_its_bytes_begin_with_the_prefix(
    text: str, start: str
) -> None:
    for candidate in (text, start + text):
        begins = candidate.encode().startswith(start.encode())
        assert encode_component("S", candidate).startswith(encode_prefix("S", start)) == begins


@given(key_bytes, key_bytes)
def test_a_binary_begins_with_another_exactly_when_its_bytes_begin_with_the_prefix(
    raw: bytes, start: bytes
) -> None:
    for candidate in (raw, start + raw):
        found = encode_component("B", base64_of(candidate)).startswith(
            encode_prefix("B", base64_of(start))
        )
        assert found == candidate.startswith(start)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"", None),
        (b"\x00", b"\x01"),
        (b"a", b"b"),
        (b"a\xff", b"b"),
        (b"a\xff\xff", b"b"),
        (b"a\xfe", b"a\xff"),
        (b"\xff", None),
        (b"\xff\xff", None),
        (b"\xff\x00", b"\xff\x01"),
    ],
)
def test_after_gives_the_first_key_that_does_not_begin_so(
    start: bytes, expected: bytes | None
) -> None:
    assert end_of_prefix(start) == expected


@given(raw_bytes, raw_bytes)
def test_the_range_up_to_after_holds_exactly_the_keys_that_begin_so(
    start: bytes, key: bytes
) -> None:
    end = end_of_prefix(start)
    for candidate in (key, start + key):
        inside = candidate >= start and (end is None or candidate < end)
        assert inside == candidate.startswith(start)


def test_a_partition_begins_with_a_checksum_of_its_components() -> None:
    assert partition(b"123456789") == bytes.fromhex("cbf43926") + b"123456789"


@given(st.integers(1, 1_000_000), st.data())
def test_each_segment_begins_where_the_one_before_it_ends(total: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, total - 1))
    first, end = segment_range(number, total)
    if number == 0:
        assert first == bytes(4)
    if number == total - 1:
        assert end is None
    else:
        assert end == segment_range(number + 1, total)[0]
        assert first < end


@given(st.integers(1, 300), st.binary(min_size=4, max_size=8))
def test_a_key_is_in_exactly_one_segment(total: int, key: bytes) -> None:
    ranges = [segment_range(number, total) for number in range(total)]
    assert sum(first <= key and (end is None or key < end) for first, end in ranges) == 1


@given(st.integers(1, 1_000_000))
def test_segments_are_of_equal_width_but_for_one_key(total: int) -> None:
    def width(number: int) -> int:
        first, end = segment_range(number, total)
        return (CHECKSUM_SPACE if end is None else int.from_bytes(end)) - int.from_bytes(first)

    widths = {width(number) for number in {0, total // 3, total // 2, total - 1}}
    assert max(widths) - min(widths) <= 1
