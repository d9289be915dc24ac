from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.cascades import PART, SHORT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(3))
def test_a_delete_leaves_no_child_behind(tmp_path: Path, seed: int) -> None:
    assert play(PART, seed, tmp_path, seconds=60).counts["programs"] == SHORT
