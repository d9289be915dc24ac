"""Temporary maps."""

from __future__ import annotations

import apsw
import pytest

from tablewright.errors import TablewrightError
from tablewright.storage.temporary import TemporaryMap


def test_the_first_value_of_a_key_is_kept() -> None:
    one, other = TemporaryMap(), TemporaryMap()
    assert one.setdefault(b"k", b"first") == b"first"
    assert one.setdefault(b"k", b"second") == b"first"
    assert one.setdefault(b"", b"") == b""
    assert other.setdefault(b"k", b"third") == b"third"


def test_what_exceeds_the_cache_is_found_again() -> None:
    found = TemporaryMap()
    before = apsw.memory_used()
    for number in range(400):
        assert found.setdefault(b"%d" % number, b"x" * 50_000) == b"x" * 50_000
    assert apsw.memory_used() - before < 12_000_000
    assert found.setdefault(b"7", b"") == b"x" * 50_000


def test_a_full_disk_is_named() -> None:
    found = TemporaryMap()
    found._connection.execute("PRAGMA max_page_count = 2").fetchall()
    with pytest.raises(TablewrightError, match="database or disk is full; free some space"):
        found.setdefault(b"k", b"x" * 10_000)
