"""A club is carried through nine versions that change keys, unique values and types, and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tablewright.values import Item
from tests.migration_series import club
from tests.migration_series.walking import Walk

#: What the library sets, by the time and the number of writes.
STAMPS = {"version", "changed"}


def members(items: Iterable[Item]) -> list[Item]:
    """Return members and sentinels without stamps, in the order of their keys."""
    kept = [
        {name: value for name, value in item.items() if name not in STAMPS}
        for item in items
        if item["type"] != {"S": "LevelEvent"}
    ]
    return sorted(kept, key=lambda item: str(item["PK"]))


def fresh(name: str, folder: Path) -> list[Item]:
    """Return what a new table has after a program of this version has written all rows."""
    return members(Walk(club.version(name, folder)).items())


@pytest.mark.slow
def test_all_versions_are_walked_forward_and_back(tmp_path: Path) -> None:
    """After each step, the table has what a new one has that never had another version."""
    walk = Walk(club.version("first", tmp_path))
    for name in club.NAMES[1:]:
        walk.go_to(club.version(name, tmp_path))
        assert members(walk.items()) == fresh(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("former", "name"),
    [(old, new) for n, old in enumerate(club.NAMES) for new in club.NAMES[n + 2 :]],
)
def test_versions_are_skipped(former: str, name: str, tmp_path: Path) -> None:
    """All changes of several versions are made at once, forward and back."""
    walk = Walk(club.version(former, tmp_path))
    walk.go_to(club.version(name, tmp_path))
    assert members(walk.items()) == fresh(name, tmp_path)


@pytest.mark.parametrize("name", club.NAMES[1:])
def test_one_step_is_walked_forward_and_back(name: str, tmp_path: Path) -> None:
    former = club.NAMES[club.NAMES.index(name) - 1]
    walk = Walk(club.version(former, tmp_path))
    walk.go_to(club.version(name, tmp_path))
    assert members(walk.items()) == fresh(name, tmp_path)
