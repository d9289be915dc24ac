from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.fuzz import PART
from torture.parts import kept_seeds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2, *kept_seeds("fuzz")])
def test_fuzzed_requests_get_an_answer_or_a_fault(tmp_path: Path, seed: int) -> None:
    counts = play(PART, seed, tmp_path).counts
    assert counts["accepted"]
    assert counts["refused"]
