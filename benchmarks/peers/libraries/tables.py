"""The results as Markdown: CPU time and wall time of every operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from benchmarks.peers.libraries.catalog import OPERATIONS, OURS_ASYNC
from benchmarks.peers.libraries.run import Libraries, Measured
from benchmarks.peers.servers import OURS

ABOUT = """\
The commerce design, written with each library as a user of it would, on one endpoint: `tablewright
serve` with a file, without syncs. All libraries send the same operations and write the same items.
Lines of code are those of the models and the operations, without imports. The ratio of an
asynchronous library is to tablewright in an event loop; in process, the CPU time is also that of
the engine.
"""


def markdown(found: Libraries) -> Iterator[str]:
    """Yield the lines of all tables."""
    yield ABOUT
    yield from ("Client's CPU time of a call in µs, and its ratio to that of tablewright:", "")
    yield from _table(found, "cpu")
    yield from ("", "Wall time of a call in µs, and its ratio to that of tablewright:", "")
    yield from _table(found, "wall")
    if found.missing:
        yield from ("", "Not measured:", "", *(f"- {each}" for each in found.missing))


def _table(found: Libraries, kind: Literal["cpu", "wall"]) -> Iterator[str]:
    cells = {(cell.library, cell.operation): cell for cell in found.cells}
    yield f"| library | lines of code | {' | '.join(OPERATIONS.values())} |"
    yield "|---|---:|" + "---:|" * len(OPERATIONS)
    for library in found.libraries:
        ours = OURS_ASYNC if library.is_async else OURS
        row = [
            _cell(cells[library.name, operation], cells[ours, operation], kind)
            for operation in OPERATIONS
        ]
        yield f"| {library.name} {library.version} | {library.lines} | {' | '.join(row)} |"


def _cell(cell: Measured, ours: Measured, kind: Literal["cpu", "wall"]) -> str:
    taken, own = getattr(cell, kind), getattr(ours, kind)
    ratio = "" if cell is ours else f" ({taken.median / own.median:.2f}x)"
    sure = "" if taken.is_sure and own.is_sure else ", unsure"
    return f"{taken.median:,.0f}{ratio}{sure}"
