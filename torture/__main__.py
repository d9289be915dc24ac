"""`python -m torture`: test every promise, print a table, write the results.

The exit code is 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from torture import report
from torture.parts import BIG, PARTS, SEEDS, keep_seed, kept_seeds
from torture.run import Result, run

RESULTS = Path(__file__).parent / "results"
SEED = 20261115
WIDTH = 124  # without a terminal
#: A part that takes more than twice its time plus this hangs: the run ends with a traceback.
HANG_SECONDS = 240.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=SEED, help="the seed of the first round")
    parser.add_argument("--seconds", type=float, help="the time of each part")
    parser.add_argument("--rounds", type=int, help="the maximum number of rounds of each part")
    parser.add_argument(
        "--big", action="store_true", help="run only the part with ten million items"
    )
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    given = parser.parse_args()
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    chosen = [part for name, part in PARTS.items() if name in given.parts or not given.parts]
    if given.big:
        chosen = [BIG]

    console = Console()
    console.width = max(console.width, WIDTH)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="tablewright-torture-") as folder:
        for at, part in enumerate(chosen, 1):
            limit = part.seconds if given.seconds is None else given.seconds
            faulthandler.dump_traceback_later(2 * limit + HANG_SECONDS, exit=True)
            console.print(f"[dim]{at}/{len(chosen)}[/] {part.name} ...", end=" ", highlight=False)
            # Seeds that failed in earlier runs come first, unless one round is repeated.
            first = kept_seeds(part.name) if given.rounds is None else ()
            result = run(
                part,
                seed=given.seed,
                folder=Path(folder),
                seconds=given.seconds,
                rounds=1 if given.big else given.rounds,
                first=first,
            )
            results.append(result)
            console.print(
                f"{report.OUTCOMES[result.outcome]}, {result.rounds} rounds, "
                f"{result.seconds:.0f} s",
                highlight=False,
            )
            for failure in result.failures:
                console.print(f"  seed {failure.seed}: {escape(failure.what)}", highlight=False)
                keep_seed(part.name, failure.seed)
        faulthandler.cancel_dump_traceback_later()
    report.show(console, results)
    # torture.json is written only by a complete run.
    whole = not given.parts and given.seconds is None and given.rounds is None
    name = ("big.json" if given.big else "torture.json") if whole else "partial.json"
    output = given.output or RESULTS / name
    report.write(output, results)
    console.print(f"written to {output.name}; failing seeds are kept in {SEEDS.name}/")
    sys.exit(any(result.outcome == "broken" for result in results))


if __name__ == "__main__":
    main()
