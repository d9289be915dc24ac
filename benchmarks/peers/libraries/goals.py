"""Goals: the CPU time of ours beside that of each other library."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Figure, judged
from benchmarks.peers.libraries.catalog import OPERATIONS, OURS_ASYNC
from benchmarks.peers.libraries.run import Libraries
from benchmarks.peers.servers import OURS

#: The operations that have a goal: the CPU time of ours is at most that of each other library, or
#: this part of it.
AT_MOST: dict[str, dict[str, float]] = {
    "get": {"pydynox": 0.5, "pydynox, async": 0.5},
    "timeline": {},
}


def figures(found: Libraries) -> Iterator[Figure]:
    """Yield the goals; those of asynchronous libraries are compared with ours in an event loop."""
    cells = {(cell.library, cell.operation): cell for cell in found.cells}
    for operation, parts in AT_MOST.items():
        for library in found.libraries:
            if library.name.startswith(OURS):
                continue
            own = cells[OURS_ASYNC if library.is_async else OURS, operation].cpu
            other = cells[library.name, operation].cpu
            yield judged(
                f"{OPERATIONS[operation]}, client's CPU",
                "µs",
                own.median,
                limit=other.median,
                limit_is=library.name,
                at_most=parts.get(library.name, 1),
                sure=own.is_sure and other.is_sure,
            )
