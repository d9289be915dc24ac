"""The parts of a run, and the seeds that failed in earlier runs."""

from __future__ import annotations

from pathlib import Path

from torture import (
    big,
    cascades,
    counter_kills,
    counters,
    expressions,
    fuzz,
    histories,
    http,
    interrupts,
    io_errors,
    kill,
    load,
    migration_kills,
    migrations,
    misplaced,
    power,
    relocation_kills,
    relocations,
    repairs,
    tenants,
)
from torture.run import Part

PARTS: dict[str, Part] = {
    module.PART.name: module.PART
    for module in (
        kill,
        repairs,
        power,
        misplaced,
        io_errors,
        interrupts,
        histories,
        http,
        fuzz,
        expressions,
        tenants,
        counters,
        counter_kills,
        cascades,
        migrations,
        migration_kills,
        relocations,
        relocation_kills,
        load,
    )
}
#: Run on demand only.
BIG = big.PART
SEEDS = Path(__file__).parent / "seeds"
#: The number of seeds that are kept for a part.
MAX_KEPT = 8


def kept_seeds(name: str) -> tuple[int, ...]:
    """Return the seeds of a part that failed in earlier runs; they are replayed first."""
    file = SEEDS / f"{name}.txt"
    return tuple(int(line) for line in file.read_text().split()) if file.exists() else ()


def keep_seed(name: str, seed: int) -> None:
    """Keep the seed of a round that failed."""
    SEEDS.mkdir(exist_ok=True)
    seeds = kept_seeds(name)
    if seed not in seeds and len(seeds) < MAX_KEPT:
        with (SEEDS / f"{name}.txt").open("a") as file:
            file.write(f"{seed}\n")
