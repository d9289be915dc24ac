from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.io_errors import PART

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(6))
def test_a_failing_disk_gives_clear_errors_and_loses_nothing(tmp_path: Path, seed: int) -> None:
    play(PART, seed, tmp_path)
