"""Compare with other servers and libraries, write the results.

A whole run writes benchmarks/results/peers.json, peers.md, the chart, and the tables in
docs/performance.md. A quick run, or one of some parts or servers, writes only the JSON, to
peers-partial.json. A missed goal is a result, not an error: the exit code is 0.
"""

from __future__ import annotations

import argparse
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.peers import goals
from benchmarks.peers.endpoints import QUICK, Sizes, endpoints
from benchmarks.peers.libraries import goals as library_goals
from benchmarks.peers.libraries.run import libraries
from benchmarks.peers.report import markdown, publish
from benchmarks.peers.result import RESULTS, Result, write
from benchmarks.peers.servers import IMPLEMENTATIONS
from benchmarks.peers.suites import suites
from benchmarks.peers.workers import compare, workers
from benchmarks.report import machine

PARTS = ("endpoints", "workers", "libraries", "suites")
#: The load average at the start above which the figures are worth little.
BUSY = 0.5


def main() -> None:
    names = {each.name.lower(): each.name for each in IMPLEMENTATIONS}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default: all"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        type=str.lower,
        choices=names,
        metavar="NAME",
        help=f"measure only this server: {', '.join(names.values())}; repeatable",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmarks")
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    given = parser.parse_args()
    unknown = set(given.parts).difference(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = given.parts or PARTS
    is_whole = not (given.quick or given.parts or given.only)
    console = Console(stderr=True)
    started = time.perf_counter()

    def report(text: str) -> None:
        console.print(f"[dim]{time.perf_counter() - started:6.0f} s[/]  {text}", highlight=False)

    result = Result(
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0.0,
        quick=given.quick,
        machine=machine(),
    )
    sizes = QUICK if given.quick else Sizes()
    load = os.getloadavg()[0]
    if load > BUSY:
        report(f"[yellow]the load average is {load:.1f}: other processes disturb the figures[/]")
    if "endpoints" in parts:
        only = [names[name] for name in given.only]
        result.endpoints = endpoints(sizes, only, report)
        result.figures += goals.figures(result.endpoints)
    if "workers" in parts:
        result.workers = workers(sizes, report)
        result.figures += compare(result.workers)
    if "libraries" in parts:
        result.libraries = libraries(given.quick, report)
        result.figures += library_goals.figures(result.libraries)
    if "suites" in parts:
        result.suites = suites(given.quick, report)
    result.seconds = round(time.perf_counter() - started, 1)

    output = given.output or RESULTS / ("peers.json" if is_whole else "peers-partial.json")
    write(output, result)
    if is_whole and given.output is None:
        publish(result)
    Console().print(markdown(result), markup=False, highlight=False, soft_wrap=True)
    report(f"written to {output.name}")


if __name__ == "__main__":
    main()
