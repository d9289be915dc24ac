from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.parts import kept_seeds
from torture.relocation_kills import PART as KILLS
from torture.relocations import PART

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2, *kept_seeds("relocations")])
def test_interrupted_relocations_lose_and_revive_nothing(tmp_path: Path, seed: int) -> None:
    counts = play(PART, seed, tmp_path, seconds=60).counts
    assert counts["stops"]
    assert counts["acknowledged writes"]


def test_killed_relocations_lose_and_revive_nothing(tmp_path: Path) -> None:
    counts = play(KILLS, 1, tmp_path, seconds=60).counts
    assert counts["kills"]
    assert counts["acknowledged writes"]
