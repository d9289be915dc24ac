from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture import counter_kills
from torture.counters import PART

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(2))
def test_counters_are_what_they_count(tmp_path: Path, seed: int) -> None:
    assert play(PART, seed, tmp_path).counts["programs"]


def test_counters_are_what_they_count_after_processes_were_killed(tmp_path: Path) -> None:
    assert play(counter_kills.PART, 1, tmp_path).counts["kills"]
