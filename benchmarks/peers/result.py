"""The result of a run: what peers.json contains."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.measure import Figure
from benchmarks.peers.endpoints import Endpoints
from benchmarks.peers.libraries.run import Libraries
from benchmarks.peers.rounds import Cell
from benchmarks.peers.suites import Suite

RESULTS = Path(__file__).parent.parent / "results"


class Result(Struct, kw_only=True):
    """Everything that was measured; a part that was not run is empty."""

    #: When the run started, in ISO 8601.
    measured: str
    seconds: float
    quick: bool
    #: The machine; `load` is its load average at the start.
    machine: dict[str, str | int | float]
    endpoints: Endpoints | None = None
    workers: list[Cell] = []
    libraries: Libraries | None = None
    suites: list[Suite] = []
    #: The figures with a goal that are not rates of endpoints.
    figures: list[Figure] = []


def write(path: Path, result: Result) -> None:
    """Write a result as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


def read(path: Path) -> Result:
    """Read a result."""
    return msgspec.json.decode(path.read_bytes(), type=Result)
