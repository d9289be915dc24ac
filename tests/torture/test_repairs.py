from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.repairs import PART

pytestmark = pytest.mark.slow


def test_a_killed_repair_leaves_a_complete_file_or_none(tmp_path: Path) -> None:
    assert play(PART, 1, tmp_path).counts["kills"]
