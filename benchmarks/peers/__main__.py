"""`python -m benchmarks.peers`: compare with other servers and libraries, write the results."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from benchmarks.peers.endpoints import Endpoints, endpoints
from benchmarks.peers.libraries.run import Libraries, libraries
from benchmarks.peers.report import markdown, write
from benchmarks.peers.suites import Suite, suites

RESULTS = Path(__file__).parent.parent / "results"
PARTS = ("endpoints", "libraries", "suites")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmarks")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    given = parser.parse_args()
    console = Console(stderr=True)
    started = time.perf_counter()

    def report(text: str) -> None:
        console.print(f"[dim]{time.perf_counter() - started:6.0f} s[/]  {text}", highlight=False)

    parts = given.parts or PARTS
    measured: Endpoints | None = endpoints(given.quick, report) if "endpoints" in parts else None
    compared: Libraries | None = libraries(given.quick, report) if "libraries" in parts else None
    tests: list[Suite] = suites(given.quick, report) if "suites" in parts else []
    given.output.mkdir(parents=True, exist_ok=True)
    write(given.output / "peers.json", measured, compared, tests, quick=given.quick)
    text = markdown(measured, compared, tests)
    (given.output / "peers.md").write_text(text)
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
