from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.expressions import PART

pytestmark = pytest.mark.slow


def test_other_clients_are_served_during_hostile_expressions(tmp_path: Path) -> None:
    assert play(PART, 1, tmp_path, seconds=20).counts["requests"]
