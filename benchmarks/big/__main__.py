"""`python -m benchmarks.big`: tables of 1,000 to 10,000,000 items; write the results.

A missed goal is a result, not an error: the exit code is 0.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.__main__ import Run
from benchmarks.big import items
from benchmarks.big.loads import Load, batches, command
from benchmarks.big.operations import memory_mb, operations
from benchmarks.big.report import Result, Size, write
from benchmarks.http import server

RESULTS = Path(__file__).parent.parent / "results"
SIZES = (1000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (100, 1000)
#: The rate of fewer items is that of the start of the command.
MIN_LOADED = 100_000
#: Loads into tables with an index, and of items in no order, take longer: up to these sizes.
SIDE_ITEMS = 1_000_000
HTTP_ITEMS = 100_000
BATCHED_ITEMS = 20_000


class Big:
    """A run: builds a file of each size with `load`, measures the loads, then the operations."""

    def __init__(self, run: Run, report: Callable[[str], None]) -> None:
        self._run = run
        self._report = report

    def measure(self, counts: Sequence[int]) -> list[Size]:
        paths = {count: self._run.folder / f"{count}.db" for count in counts}
        loads = {count: self._load(count, path) for count, path in paths.items()}
        sizes = {count: path.stat().st_size / 1e6 for count, path in paths.items()}
        growth = operations(self._run, paths)
        for count, path in paths.items():
            loads[count] += self._batches(count, path)
        calls = self._run.size(3000, 10)
        return [
            Size(count, sizes[count], memory_mb(path, count, calls), growth[count], loads[count])
            for count, path in paths.items()
        ]

    def _load(self, count: int, path: Path) -> list[Load]:
        """Build the file of one size; return the rates of all kinds of loads."""
        dump = self._dump(count, "ordered", items.in_key_order(count))
        found = [self._command("load", count, "load", dump, path)]
        if count < self._run.size(MIN_LOADED, 0):
            return []
        copy = path.with_suffix(".copy.db")
        found.append(self._command("copy", count, "copy", path, copy))
        if count <= HTTP_ITEMS:
            served = path.with_suffix(".served.db")
            with server("tablewright", "serve", str(served), "--port", "0") as endpoint:
                over_http = self._command("copy over HTTP", count, "copy", path, endpoint.url)
                over_http.cpu_seconds += endpoint.cpu_seconds()
                found.append(over_http)
        if count <= SIDE_ITEMS:
            mixed = list(range(count))
            random.Random(count).shuffle(mixed)
            dump = self._dump(count, "mixed", mixed)
            found.append(self._command("load, in no order", count, "load", dump, copy, fresh=True))
            dump = self._dump(count, "index", items.in_key_order(count), with_index=True)
            found.append(self._command("load, one index", count, "load", dump, copy, fresh=True))
        for file in self._run.folder.glob(f"{count}.*"):
            if file != path:
                file.unlink()  # the next size needs the disk space
        return found

    def _dump(
        self, count: int, order: str, numbers: Iterable[int], *, with_index: bool = False
    ) -> Path:
        file = self._run.folder / f"{count}.{order}.json.gz"
        items.write_dump(file, numbers, count, self._run.track, with_index=with_index)
        return file

    def _command(
        self,
        what: str,
        count: int,
        name: str,
        source: Path,
        target: Path | str,
        fresh: bool = False,
    ) -> Load:
        if fresh and isinstance(target, Path):
            for file in target.parent.glob(f"{target.name}*"):
                file.unlink()
        self._report(f"{what}: {count:,} items")
        found = command(what, count, name, source, target)
        self._report(f"{what}: {found.per_second:,.0f} items/s, {found.cpu:.1f} µs CPU/item")
        return found

    def _batches(self, count: int, path: Path) -> list[Load]:
        """Replace random items, so that the table keeps its size."""
        drawn = random.Random(count).sample(range(count), min(count, BATCHED_ITEMS))
        return [
            batches(path, drawn, "full", self._run.track),
            batches(path, drawn, "normal", self._run.track),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big", description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="N", help="stop at N items")
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmarks")
    parser.add_argument("--output", type=Path, help="the folder of the results")
    given = parser.parse_args()
    counts = QUICK_SIZES if given.quick else [count for count in SIZES if count <= given.most]
    if not counts:
        parser.error(f"--most must be at least {SIZES[0]}")

    console = Console(stderr=True)
    started = time.perf_counter()

    def report(text: str) -> None:
        console.print(f"[dim]{time.perf_counter() - started:6.0f} s[/]  {text}", highlight=False)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        tempfile.TemporaryDirectory(prefix="tablewright-big-") as folder,
        Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False) as progress,
    ):
        sizes = Big(Run(Path(folder), progress, quick=given.quick), report).measure(counts)
    result = Result(given.quick, time.perf_counter() - started, sizes)
    is_whole = not given.quick and counts[-1] == SIZES[-1]
    output = given.output or (RESULTS if is_whole else RESULTS / "big-partial")
    Console().print(write(output, result), markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
