"""Short rounds of the parts of `make torture`, with fixed seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from torture.run import Part, Result, run


def play(part: Part, seed: int, folder: Path, *, seconds: float = 1.0) -> Result:
    """Play one short round, in which the promise must be kept."""
    result = run(part, seed=seed, folder=folder, seconds=seconds, rounds=1, short=True)
    if result.failures:
        broken = "\n".join(failure.what for failure in result.failures)
        pytest.fail(f"{part.promise}: broken with seed {seed}:\n{broken}", pytrace=False)
    return result
