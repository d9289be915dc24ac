from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.load import PART

pytestmark = pytest.mark.slow


def test_a_server_under_load_loses_nothing_and_stops_gracefully(tmp_path: Path) -> None:
    assert play(PART, 1, tmp_path, seconds=1).counts["acknowledged writes"]
