from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.kill import PART

pytestmark = pytest.mark.slow


def test_a_kill_in_any_kind_of_work_loses_nothing_acknowledged(tmp_path: Path) -> None:
    assert play(PART, 1, tmp_path).counts["kills"]
