"""The attributes that the sentinels of a unique value keep change, forward and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evolve.designs import load_text
from tests.migration_series import club
from tests.migration_series.walking import SeriesVersion, Walk

DECLARED = 'unique("EMAIL" / email)'


def kept_by(walk: Walk) -> list[list[str]]:
    """Return the attributes of each sentinel besides its key and its type."""
    sentinels = (item for item in walk.items() if item["type"] == {"S": "Member.by_email"})
    return [sorted({*item} - {"PK", "SK", "type"}) for item in sentinels]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("keep=(member_id, city, level)", ["city", "level", "member_id"]),
        ("keep=()", []),
    ],
)
def test_contents_change_and_change_back(keep: str, kept: list[str], tmp_path: Path) -> None:
    first = club.version("first", tmp_path)
    text = club.source("first")
    assert DECLARED in text
    changed = text.replace(DECLARED, f'unique("EMAIL" / email, {keep})')
    (table,) = load_text(changed, tmp_path, "changed_club").tables
    walk = Walk(first)
    before = walk.stored()
    walk.go_to(SeriesVersion("changed", table))
    assert kept_by(walk) == [kept] * len(club.ROWS)
    walk.go_to(SeriesVersion("first again", first.table))
    assert walk.stored() == before
