"""The report: a JSON file, and a Markdown table with one column for each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.big.loads import Load
from benchmarks.big.operations import Growth
from benchmarks.report import machine, number

#: A table of any size may take this many times as long as the smallest one.
MAX_GROWTH = 2.0
#: 40,000 items per second on one core.
MAX_CPU = 25.0


class Size(Struct):
    """The results of one size."""

    items: int
    file_mb: float
    memory_mb: float
    growth: Growth
    loads: list[Load]


class Result(Struct):
    """The results of a run."""

    quick: bool
    seconds: float
    sizes: list[Size]
    measured: str = ""
    machine: dict[str, str | int | float] = {}


def write(folder: Path, result: Result) -> str:
    """Write `big.json` and `big.md` into a folder; return the Markdown."""
    result.measured = datetime.now(UTC).isoformat(timespec="seconds")
    result.machine = machine()
    text = markdown(result)
    folder.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.format(msgspec.json.encode(result), indent=2)
    (folder / "big.json").write_bytes(encoded + b"\n")
    (folder / "big.md").write_text(text)
    return text


def markdown(result: Result) -> str:
    sizes = result.sizes
    lines = [
        f"Measured {result.measured[:10]} in {result.seconds:.0f} s: "
        f"{result.machine['processor']}, {result.machine['cores']} cores, load "
        f"{result.machine['load']}, Python {result.machine['python']}, SQLite "
        f"{result.machine['sqlite']}. Items of 300 bytes, in a table without indexes unless one is "
        "named.",
        "",
        _row("", [f"{size.items:,} items" for size in sizes]),
        _row("---", ["---:"] * len(sizes)),
        _row("get, CPU µs", _grown(sizes, lambda growth: growth.get)),
        _row("query of 20, CPU µs", _grown(sizes, lambda growth: growth.query)),
        _row("put, `normal`, CPU µs", _grown(sizes, lambda growth: growth.put)),
        _row("put, durable, elapsed µs", _grown(sizes, lambda growth: growth.durable_put)),
        _row("file, MB", [number(size.file_mb) for size in sizes]),
        _row("bytes of the file for an item", [f"{1e6 * s.file_mb / s.items:,.0f}" for s in sizes]),
        _row("memory of a reading process, MB", [f"{size.memory_mb:.0f}" for size in sizes]),
    ]
    names = dict.fromkeys(load.what for size in sizes for load in size.loads)
    for name in names:
        found = [_find(size, name) for size in sizes]
        lines += [
            _row(f"{name}, items/s", ["" if f is None else f"{f.per_second:,.0f}" for f in found]),
            _row(f"{name}, CPU µs/item", ["" if f is None else _cpu(f) for f in found]),
        ]
    return "\n".join(lines) + "\n\n" + _verdict(result)


def _verdict(result: Result) -> str:
    first, last = result.sizes[0], result.sizes[-1]
    worst = max(
        getattr(size.growth, name) / getattr(first.growth, name)
        for size in result.sizes
        for name in ("get", "query", "put", "durable_put")
    )
    grown = "reached" if worst < MAX_GROWTH else "missed"
    loads = [load for load in last.loads if load.what in ("load", "copy")]
    loaded = "reached" if all(load.cpu <= MAX_CPU for load in loads) else "missed"
    return (
        f"Growth below {MAX_GROWTH:g}x: {grown}, {worst:.2f}x at most. `load` and `copy` into a "
        f"file with at most {MAX_CPU:g} µs of CPU time for an item (40,000 items/s on one core): "
        f"{loaded} at {last.items:,} items.\n"
    )


def _grown(sizes: Sequence[Size], read: Callable[[Growth], float]) -> list[str]:
    """Format a figure of each size, with its ratio to the smallest size."""
    values = [read(size.growth) for size in sizes]
    first, *others = values
    return [number(first), *(f"{number(value)} ({value / first:.2f}x)" for value in others)]


def _find(size: Size, name: str) -> Load | None:
    return next((load for load in size.loads if load.what == name), None)


def _cpu(load: Load) -> str:
    return number(load.cpu) + (f" ({load.peak_mb} MB)" if load.peak_mb else "")


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([name, *cells])} |"
