"""The report: JSON with everything that was measured, and Markdown tables.

One table has the servers in memory, one those with a file. A ratio is to the best of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.peers.endpoints import CONNECTIONS, Cell, Endpoints
from benchmarks.peers.libraries import tables
from benchmarks.peers.libraries.run import Libraries
from benchmarks.peers.suites import Suite
from benchmarks.peers.workload import OPERATIONS
from benchmarks.report import machine

OURS = "tablewright"
TITLES = {
    "memory": "In memory",
    "durable": "In a file (ours syncs before it responds)",
}


def write(
    path: Path,
    measured: Endpoints | None,
    compared: Libraries | None,
    tests: Sequence[Suite],
    *,
    quick: bool,
) -> None:
    """Write everything that was measured."""
    result = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": machine(),
        "endpoints": measured,
        "libraries": compared,
        "suites": list(tests),
    }
    text = msgspec.json.format(msgspec.json.encode(result, enc_hook=str), indent=2)
    path.write_bytes(text + b"\n")


def markdown(measured: Endpoints | None, compared: Libraries | None, tests: Sequence[Suite]) -> str:
    """Return the tables."""
    lines: list[str] = []
    if measured is not None:
        for promises, title in ((("memory",), "memory"), (("durable", "file"), "durable")):
            cells = [cell for cell in measured.cells if cell.promise in promises]
            if cells:
                lines += [f"### {TITLES[title]}", "", *_rates(cells), ""]
        lines += ["### Start and memory", "", *_footprints(measured), ""]
        if measured.missing:
            lines += ["Not measured:", "", *(f"- {each}" for each in measured.missing), ""]
    if compared is not None:
        lines += ["### Libraries", "", *tables.markdown(compared), ""]
    if tests:
        lines += ["### Test suites", "", *_suites(tests), ""]
    return "\n".join(lines)


def _rates(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a table of responses in a second, with the ratio of ours to the best other one."""
    names = list(dict.fromkeys(cell.server for cell in cells))
    others = [name for name in names if name != OURS]
    found = {(cell.server, cell.operation, cell.connections): cell for cell in cells}
    yield f"| operation | connections | {' | '.join([OURS, *others])} | ratio to the best |"
    yield "|---|---:|" + "---:|" * (len(names) + 1)
    for operation in OPERATIONS:
        for connections in CONNECTIONS:
            row = [found.get((name, operation, connections)) for name in (OURS, *others)]
            rates = [_rate(cell) for cell in row]
            best = max((cell.rate for cell in row[1:] if cell and not cell.problem), default=0.0)
            ours = row[0]
            ratio = f"{ours.rate / best:.1f}x" if ours is not None and best else ""
            sure = all(cell is None or cell.problem or cell.is_sure for cell in row)
            shown = " | ".join([*rates, ratio if sure or not ratio else f"{ratio}, unsure"])
            yield f"| {operation} | {connections} | {shown} |"


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return "refused" if cell.problem else f"{cell.rate:,.0f}"


def _footprints(measured: Endpoints) -> Iterator[str]:
    yield f"| server | | start | at rest | with {measured.items:,} items of 300 B | after load |"
    yield "|---|---|---:|---:|---:|---:|"
    for each in measured.footprints:
        yield (
            f"| {each.server} ({each.language}) | {each.promise} | {each.start_seconds:.2f} s "
            f"| {each.at_rest:.0f} MB | {each.with_items:.0f} MB | {each.after_load:.0f} MB |"
        )


def _suites(tests: Sequence[Suite]) -> Iterator[str]:
    yield "| fixture | tests | wall time | start of the server |"
    yield "|---|---:|---:|---:|"
    for each in tests:
        start = f"{each.start_seconds:.1f} s" if each.start_seconds else ""
        took = "failed" if each.problem else f"{each.seconds:.1f} s"
        yield f"| {each.name} | {each.tests} | {took} | {start} |"
