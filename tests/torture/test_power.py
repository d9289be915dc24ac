from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.disk import Change
from torture.power import PART, Platter


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_power_loss_loses_no_acknowledged_write(tmp_path: Path, seed: int) -> None:
    assert play(PART, seed, tmp_path).counts["power losses"]


def left(changes: list[Change], folder: Path, seed: int) -> bytes | None:
    """What a power loss after these changes leaves of the file f."""
    platter = Platter()
    for change in changes:
        platter.apply(change)
    folder.mkdir()
    platter.crash(random.Random(seed), folder)
    file = folder / "f"
    return file.read_bytes() if file.exists() else None


WRITTEN = [Change("create", "f"), Change("write", "f", 0, b"a" * 1024)]
SYNCED = [*WRITTEN, Change("sync", "f", directory=True)]


def test_a_power_loss_leaves_what_was_synced(tmp_path: Path) -> None:
    for seed in range(20):
        assert left(SYNCED, tmp_path / str(seed), seed) == b"a" * 1024


def test_a_power_loss_tears_unsynced_writes_at_sectors(tmp_path: Path) -> None:
    changes = [*SYNCED, Change("write", "f", 0, b"b" * 1024)]
    found = {left(changes, tmp_path / str(seed), seed) for seed in range(60)}
    sectors = (b"a" * 512, b"b" * 512)
    assert found == {first + second for first in sectors for second in sectors}


def test_a_power_loss_may_take_a_file_whose_directory_was_not_synced(tmp_path: Path) -> None:
    found = [left(WRITTEN, tmp_path / str(seed), seed) for seed in range(30)]
    assert None in found
    assert b"a" * 1024 in found


def test_a_power_loss_may_bring_back_a_deleted_file(tmp_path: Path) -> None:
    changes = [*SYNCED, Change("delete", "f")]
    found = {left(changes, tmp_path / str(seed), seed) for seed in range(30)}
    assert found == {None, b"a" * 1024}
