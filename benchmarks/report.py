"""The report: a table, and a JSON file with the figures and facts about the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import apsw
import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.measure import Figure

VERDICTS = {"ok": "[green]ok[/]", "missed": "[red]missed[/]", "unsure": "[yellow]unsure[/]", "": ""}


def show(console: Console, figures: Sequence[Figure]) -> None:
    """Print the table."""
    table = Table("figure", title="Benchmarks", title_justify="left", expand=False)
    for column in ("measured", "limit", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("the limit is", "goal", ""):
        table.add_column(column)
    for figure in figures:
        table.add_row(
            figure.name,
            f"{number(figure.value)} {figure.unit}",
            "" if figure.limit is None else f"{number(figure.limit)} {figure.unit}",
            "" if figure.ratio is None else f"{figure.ratio:.2f}x",
            figure.limit_is,
            figure.goal,
            VERDICTS[figure.verdict],
        )
    console.print(table)
    for figure in figures:
        if figure.note:
            console.print(f"  [dim]{figure.name}: {figure.note}[/]", highlight=False)


def number(value: float) -> str:
    """Format a number with three or four digits: `0.012`, `7.65`, `69.3`, `41,250`."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def write(path: Path, figures: Sequence[Figure], *, quick: bool, seconds: float) -> None:
    """Write the figures and facts about the machine."""
    result = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "quick": quick,
        "machine": machine(),
        "figures": figures,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(result, enc_hook=str), indent=2)
    path.write_bytes(text + b"\n")


def machine() -> dict[str, str | int | float]:
    packages = ("tablewright", "apsw", "httptools", "msgspec")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **{package: version(package) for package in packages},
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
