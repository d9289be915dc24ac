from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.tenants import PART, WORLDS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "seed", range(len(WORLDS)), ids=[world.table.__table__.name for world in WORLDS]
)
def test_tenants_with_hostile_ids_reach_their_own_items_only(tmp_path: Path, seed: int) -> None:
    assert play(PART, seed, tmp_path).counts["foreign"]
