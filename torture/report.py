"""The table of a run, and the JSON file with its results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.report import machine
from torture.run import Result

OUTCOMES = {"kept": "[green]kept[/]", "broken": "[red]broken[/]"}


def show(console: Console, results: Sequence[Result]) -> None:
    """Print a row for each part, then every broken promise with the command that repeats it."""
    table = Table(title="Torture", title_justify="left", expand=False, show_lines=True)
    for column in ("part", "promise", "method", "done"):
        table.add_column(column)
    for column in ("seed", "s"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    for result in results:
        table.add_row(
            result.part,
            result.promise,
            result.method,
            described(result.counts),
            str(result.seed),
            f"{result.seconds:.0f}",
            OUTCOMES[result.outcome],
        )
    console.print(table)
    for result in results:
        for failure in result.failures:
            command = f"python -m torture {result.part} --seed {failure.seed} --rounds 1"
            console.print(
                f"[red]broken[/] {escape(failure.what)}\n"
                f"  [dim]{failure.rounds} of {result.rounds} rounds; {command}[/]",
                highlight=False,
            )


def described(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


def write(path: Path, results: Sequence[Result]) -> None:
    """Write the results and the facts of the machine."""
    whole = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(sum(result.seconds for result in results), 1),
        "machine": machine(),
        "parts": results,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
