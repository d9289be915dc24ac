from __future__ import annotations

import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.transport.connection import HttpResponse, ResponseDamaged
from tests.transport.proxy import answer

bodies = st.binary(max_size=200).map(lambda inside: b"{" + inside + b"}")


def fed(*parts: bytes) -> HttpResponse:
    taken = HttpResponse()
    for part in parts:
        taken.feed(part)
    return taken


@given(body=bodies, cuts=st.lists(st.integers(0, 400), max_size=8))
def test_an_answer_is_the_same_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    data = answer(200, body, crc=zlib.crc32(body))
    places = sorted({cut % len(data) for cut in cuts} - {0})
    ends = [*places, len(data)]
    parts = [data[start:end] for start, end in zip([0, *places], ends, strict=True)]
    taken = fed(*parts)
    assert (taken.is_complete, taken.status, taken.body) == (True, 200, body)
    assert taken.keeps_alive


@given(body=bodies, end=st.integers(0, 400))
def test_an_answer_that_is_cut_short_is_damaged(body: bytes, end: int) -> None:
    data = answer(200, body)
    part = data[: end % len(data)]
    with pytest.raises(ResponseDamaged):
        fed(*([part] if part else []), b"")


@given(body=bodies, place=st.integers(0, 400), flip=st.integers(1, 255))
def test_a_changed_byte_in_the_body_is_damage(body: bytes, place: int, flip: int) -> None:
    changed = bytearray(body)
    changed[place % len(body)] ^= flip
    with pytest.raises(ResponseDamaged):
        fed(answer(200, bytes(changed), crc=zlib.crc32(body)))


@given(data=st.binary(min_size=1))
def test_any_bytes_are_taken_or_damage(data: bytes) -> None:
    with suppress(ResponseDamaged):
        assert not fed(data).is_complete or data.startswith(b"HTTP/")


@pytest.mark.parametrize(
    ("data", "keeps"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: close\r\n\r\n{}", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", False),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", True),
    ],
)
def test_whether_a_connection_is_kept_alive_is_told(data: bytes, keeps: bool) -> None:
    assert fed(data).keeps_alive is keeps


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    taken = fed(b"HTTP/1.1 200 OK\r\n\r\n{", b"}", b"")
    assert (taken.is_complete, taken.body, taken.keeps_alive) == (True, b"{}", False)


def test_a_page_is_not_an_answer() -> None:
    with pytest.raises(ResponseDamaged, match="not DynamoDB's: '<html>'"):
        fed(answer(200, b"<html>"))
