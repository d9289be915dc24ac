"""Mutation testing: `python -m tests.mutants [PACKAGE …] [--seed N] [--size N] [--survivors]`.

Draws a sample of mutants from each package, runs the package's tests against each of them, prints
the survivors as diffs and a table. A survivor either is equivalent to the original, or shows a
behaviour without a test. Every outcome is written to `results/mutants.json` as soon as it is known;
`--survivors` reads the sample from there.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from tests.mutants.mutations import sample
from tests.mutants.trial import ALIVE, OUTCOMES, Trials

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/tablewright"
RESULTS = Path(__file__).parent / "results/mutants.json"


class Package(NamedTuple):
    """The sources to mutate, as patterns, and the tests that should fail; see `Trials`."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    untraced: tuple[str, ...] = ()

    def find_sources(self) -> Iterator[Path]:
        """Yield the sources; raise FileNotFoundError if a pattern or a path of tests has none."""
        for path in (*self.tests, *self.untraced):
            if not (ROOT / path).exists():
                raise FileNotFoundError(path)
        for pattern in self.sources:
            found = sorted(SOURCES.glob(pattern))
            if not found:
                raise FileNotFoundError(SOURCES / pattern)
            yield from found


#: The modules that keys are made of.
KEY_MODULES = (
    "formats/*",
    "key_condition",
    "key_writer",
    "keys",
    "language",
    "notation",
    "key_parts",
    "stored_key",
    "template",
)
PACKAGES = {
    "engine": Package(
        ("engine/**/*.py",),
        ("tests/engine",),
        (
            "tests/engine/test_interruptions.py",
            "tests/durability/test_maintenance.py",
            "tests/durability/test_schema_changes.py",
            "tests/durability/test_sharing.py",
        ),
    ),
    "storage": Package(
        ("storage/*.py",),
        ("tests/storage",),
        (
            "tests/storage/test_interruptions.py",
            "tests/durability/test_concurrency.py",
            "tests/durability/test_forks.py",
            "tests/durability/test_sharing.py",
        ),
    ),
    "mapping": Package(
        tuple(f"mapping/{name}.py" for name in KEY_MODULES), ("tests/mapping", "tests/model/keys")
    ),
    "plan": Package(
        ("plan/writes/*.py", "plan/backfill/*.py"),
        (
            "tests/plan/test_description.py",
            "tests/plan/writes",
            "tests/model/patterns",
            "tests/transport/test_lost_answers.py",
        ),
    ),
}

#: For each package: the seed, the size, and by diff what happened to each mutant.
Results = dict[str, dict[str, Any]]


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to clean up then as well
    console = Console()
    results: Results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    names: list[str] = options.packages or list(PACKAGES)
    for name in names:
        if not options.survivors:
            results[name] = {"seed": options.seed, "size": options.size, "mutants": {}}
        elif name not in results:
            raise SystemExit(f"{name}: no results yet; run without --survivors first")
        _try(name, results, console)
    _report({name: results[name]["mutants"] for name in names}, console)
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(PACKAGES))
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    parser.add_argument("--size", type=int, default=80, help="mutants per package (default: 80)")
    parser.add_argument(
        "--survivors", action="store_true", help="try only those that survived the last run"
    )
    options = parser.parse_args(arguments)
    unknown = set(options.packages).difference(PACKAGES)
    if unknown:
        parser.error(f"unknown package: {', '.join(unknown)}; known: {', '.join(PACKAGES)}")
    return options


def _try(name: str, results: Results, console: Console) -> None:
    """Try the mutants of a package that are not known to be dead; save each outcome."""
    package, result = PACKAGES[name], results[name]
    known = result["mutants"]
    alive = {diff for diff, entry in known.items() if entry["outcome"] in ALIVE}
    paths = list(package.find_sources())
    mutants = sample(ROOT, paths, result["size"], f"{result['seed']} {name}")
    if known:
        mutants = [mutant for mutant in mutants if mutant.diff in alive]
        if len(mutants) < len(alive):
            raise SystemExit(f"{name}: the code has changed; run without --survivors first")
    if not mutants:
        return
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(ROOT, Path(folder), package.tests, package.untraced)
        for number, mutant in enumerate(mutants, 1):
            began = time.perf_counter()
            outcome = trials.outcome(mutant)
            seconds = round(time.perf_counter() - began, 1)
            known[mutant.diff] = {"outcome": outcome, "seconds": seconds}
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1))
            where = f"{mutant.path}:{mutant.lines.start}"
            console.print(f"{name} {number}/{len(mutants)} {where} {outcome}, {seconds} s")


def _report(packages: dict[str, dict[str, Any]], console: Console) -> None:
    table = Table("package", "mutants", *OUTCOMES, "score")
    for name, mutants in packages.items():
        for diff, entry in mutants.items():
            if entry["outcome"] in ALIVE:
                console.rule(f"{name}: {entry['outcome']}")
                console.print(Syntax(diff, "diff", background_color="default"))
        counts = Counter(entry["outcome"] for entry in mutants.values())
        alive = sum(counts[outcome] for outcome in ALIVE)
        cells = (len(mutants), *(counts[outcome] for outcome in OUTCOMES))
        table.add_row(name, *map(str, cells), f"{1 - alive / max(1, len(mutants)):.0%}")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
