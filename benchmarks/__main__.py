"""`python -m benchmarks`: run the benchmarks, print a table, write the results.

A missed goal is a result, not an error: the exit code is 0.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import (
    expressions,
    growth,
    http,
    migration,
    model,
    reads,
    recipes,
    report,
    start,
    streams,
    writes,
)
from benchmarks.measure import Context, Figure

RESULTS = Path(__file__).parent / "results"

WIDTH = 124  # without a terminal

#: Those that read little first; the one that leaves the disk busy last.
BENCHMARKS: dict[str, Callable[[Context], list[Figure]]] = {
    "get-item": reads.get_item,
    "query": reads.query,
    "put-item": writes.put_item,
    "put-stream": streams.put_item,
    "http-get": http.get_item,
    "http-put": http.put_item,
    "start": start.start,
    "expressions": expressions.expressions,
    "model": model.model,
    "recipes": recipes.at_size,
    "migration": migration.migration,
    "growth": growth.growth,
}


class Run(Context):
    """A run: its folder, its sizes and its progress bar."""

    def __init__(self, folder: Path, progress: Progress, *, quick: bool) -> None:
        self.folder = folder
        self._progress = progress
        self._quick = quick

    def size(self, full: int, quick: int) -> int:
        return quick if self._quick else full

    def track(self, what: str, steps: range) -> Iterable[int]:
        # The bar is drawn between steps, not by a thread, which would disturb the measurement.
        task = self._progress.add_task(what, total=len(steps))
        for step in steps:
            self._progress.refresh()
            yield step
            self._progress.advance(task)
        self._progress.remove_task(task)
        self._progress.refresh()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Every figure beside its limit."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmarks")
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    chosen = [name for name in BENCHMARKS if name in given.names or not given.names]

    console = Console()
    console.width = max(console.width, WIDTH)
    started = time.perf_counter()
    figures: list[Figure] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        tempfile.TemporaryDirectory(prefix="tablewright-bench-") as folder,
        Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False) as progress,
    ):
        run = Run(Path(folder), progress, quick=given.quick)
        for at, name in enumerate(chosen, 1):
            console.print(f"[dim]{at}/{len(chosen)}[/] {name}", highlight=False)
            figures += BENCHMARKS[name](run)
    report.show(console, figures)

    # bench.json is written only by a complete run.
    whole = not given.quick and not given.names
    output = given.output or RESULTS / ("bench.json" if whole else "partial.json")
    seconds = time.perf_counter() - started
    report.write(output, figures, quick=given.quick, seconds=seconds)
    console.print(f"{seconds:.0f} s; written to {output.name}", highlight=False)


if __name__ == "__main__":
    main()
