from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.misplaced import PART

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2])
def test_exchanged_pages_and_old_logs_change_no_answer(tmp_path: Path, seed: int) -> None:
    counts = play(PART, seed, tmp_path).counts
    assert counts["exchanged pages"]
    assert counts["old logs refused"]
