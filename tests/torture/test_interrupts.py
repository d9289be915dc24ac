from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.interrupts import OPERATIONS, PART

pytestmark = pytest.mark.slow

NAMES = sorted(OPERATIONS)


@pytest.mark.parametrize("name", NAMES)
def test_an_exception_at_any_opcode_leaves_the_engine_usable(tmp_path: Path, name: str) -> None:
    assert play(PART, 2 * NAMES.index(name), tmp_path).counts["interrupts"]


@pytest.mark.parametrize("seed", [1, 3])
def test_an_exception_by_a_timer_leaves_the_engine_usable(tmp_path: Path, seed: int) -> None:
    assert play(PART, seed, tmp_path).counts["interrupts"]
