"""The primary key of members changes, forward and back, with their indexes and unique values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evolve.designs import load_text
from tests.migration_series import club
from tests.migration_series.walking import SeriesVersion, Walk


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('key("MEMBER" / member_id', 'key("M" / member_id', ("M#M1", "MEMBER")),
        (
            '/ member_id, "MEMBER")',
            '/ member_id, "MEMBER", delimiter="|")',
            ("MEMBER|M1", "MEMBER"),
        ),
        (
            'key("MEMBER" / member_id',
            'key("MEMBER" / lower(member_id)',
            ("MEMBER#m1", "MEMBER"),
        ),
        (
            'key("MEMBER" / member_id, "MEMBER")',
            'key("MEMBERS", "MEMBER" / member_id)',
            ("MEMBERS", "MEMBER#M1"),
        ),
    ],
)
def test_the_key_changes_and_changes_back(
    before: str, after: str, key: tuple[str, str], tmp_path: Path
) -> None:
    first = club.version("first", tmp_path)
    text = club.source("first")
    assert before in text
    (table,) = load_text(text.replace(before, after), tmp_path, "changed_club").tables
    walk = Walk(first)
    stored = walk.stored()
    walk.go_to(SeriesVersion("changed", table))
    assert key in {(item["PK"]["S"], item["SK"]["S"]) for item in walk.items()}
    walk.go_to(SeriesVersion("first again", first.table))
    assert walk.stored() == stored
