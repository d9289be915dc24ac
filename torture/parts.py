"""The parts of a run, and the seeds that once failed."""

from __future__ import annotations

from pathlib import Path

from torture import io_errors, power
from torture.run import Part

PARTS: dict[str, Part] = {
    module.PART.name: module.PART for module in (power, io_errors)
}
BIG: Part
SEEDS = Path(__file__).parent / "seeds"


def kept_seeds(name: str) -> tuple[int, ...]:
    """The seeds of a part's rounds that failed in earlier runs; they are replayed first."""
    file = SEEDS / f"{name}.txt"
    return tuple(int(line) for line in file.read_text().split()) if file.exists() else ()


def keep_seed(name: str, seed: int) -> None:
    SEEDS.mkdir(exist_ok=True)
    if seed not in kept_seeds(name):
        with (SEEDS / f"{name}.txt").open("a") as file:
            file.write(f"{seed}\n")
