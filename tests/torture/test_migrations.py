from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.migration_kills import PART as KILLS
from torture.migrations import PART
from torture.parts import kept_seeds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2, *kept_seeds("migrations")])
def test_interrupted_migrations_lose_and_hide_nothing(tmp_path: Path, seed: int) -> None:
    counts = play(PART, seed, tmp_path, seconds=60).counts
    assert counts["stops"]
    assert counts["acknowledged writes"]


def test_killed_migrations_lose_and_hide_nothing(tmp_path: Path) -> None:
    counts = play(KILLS, 1, tmp_path, seconds=60).counts
    assert counts["kills"]
    assert counts["acknowledged writes"]
