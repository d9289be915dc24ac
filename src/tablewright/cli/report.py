"""Reports for people: lines that fit the width of the terminal, or of `COLUMNS`.

Colours only on a terminal without `NO_COLOR`; rich decides both, and the width of a pipe is 80.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tablewright.presentation.terminal import fill as fill
from tablewright.presentation.terminal import print_fields as print_fields

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.verify import Design, Result

#: The columns of the list of checks, after the result of each.
HEADER = ("check", "request", "items", "units")
#: The narrowest column of names, on a narrow terminal.
MIN_NAME = 12
#: The widest column of requests: `TransactWriteItems`.
MAX_REQUEST = 18
STYLES = {"ok": "green", "FAIL": "bold red"}


def print_results(
    console: Console, design: Design, results: Sequence[Result], *, details: bool
) -> None:
    """Print one line for each check; with `details`, also its pattern, request and cost."""
    title = design.doc.partition("\n")[0] or design.name
    console.print(fill(console, title), style="bold", markup=False, highlight=False)
    marks = ["", *("ok" if result.ok else "FAIL" for result in results)]
    lines = table_lines(console.width - len("FAIL  "), [HEADER, *map(_cells, results)])
    for mark, line, result in zip(marks, lines, [None, *results], strict=True):
        _print_marked(console, mark, line)
        if details and result is not None:
            _print_details(console, result)
    print_failures(console, results)


def print_failures(console: Console, results: Sequence[Result]) -> None:
    """Print what is wrong with each check that failed."""
    for result in results:
        if not result.ok:
            console.print()
            name = f"{result.design}: {result.check}"
            console.print(name, style=STYLES["FAIL"], markup=False, highlight=False)
            for line in result.problem.splitlines():
                mark = line.strip()[:1]
                style = {"-": "red", "+": "green"}.get(mark)
                is_text = not line.startswith(" ")  # and not a value, or a line of code
                shown = fill(console, f"  {line}", "  ") if is_text else f"  {line}"
                console.print(shown, style=style, soft_wrap=True, markup=False)


def print_grid(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, width: int = 0, err: bool = False
) -> None:
    """Print a table with lines, at least with this width."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(*header)
    for row in rows:
        grid.add_row(*row)
    console = Console(stderr=err)
    console.width = max(console.width, width)
    console.print(grid)


def _cells(result: Result) -> tuple[str, str, str, str]:
    items = str(result.returned)
    if result.read > result.returned and not result.write_units:
        items = f"{result.returned} of {result.read}"
    name = " ".join(result.check.split())
    return name, result.operation, items, f"{result.units:g}"


def table_lines(width: int, rows: Sequence[Sequence[str]], numbers: int = 2) -> list[str]:
    """Return the lines of a table: names, what they ask for, and columns of numbers.

    The column of the names gets what the others leave of the width.
    """
    from rich.cells import cell_len

    name, *middle = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    others = [*(min(each, MAX_REQUEST) for each in middle[:-numbers]), *middle[-numbers:]]
    taken = sum(len("  ") + each for each in others)
    widths = [min(name, max(MIN_NAME, width - taken)), *others]
    lines = []
    for row in rows:
        texts = map(_fit, row[:-numbers], widths[:-numbers])
        cells = zip(row[-numbers:], widths[-numbers:], strict=True)
        lines.append("  ".join([*texts, *(cell.rjust(each) for cell, each in cells)]))
    return lines


def _print_marked(console: Console, mark: str, line: str) -> None:
    from rich.text import Text

    text = Text.assemble((f"{mark:4}", STYLES.get(mark, "")), f"  {line}")
    console.print(text, soft_wrap=True)


def _print_details(console: Console, result: Result) -> None:
    where = f"{result.operation} on {result.index}" if result.index else result.operation
    units = ((result.read_units, "read"), (result.write_units, "write"))
    cost = ", ".join(f"{amount:g} {kind} units" for amount, kind in units if amount) or "0 units"
    requests = f"{result.requests} request{'' if result.requests == 1 else 's'}"
    fields = [
        ("request", f"{where}: {result.condition}".rstrip(": ")),
        ("cost", f"{requests}, {cost}"),
    ]
    if result.pattern:
        fields.insert(0, ("pattern", result.pattern))
    if result.scan:
        fields.append(("scan", f"declared: {result.scan}"))
    print_fields(console, fields, " " * 6)


def _fit(text: str, width: int) -> str:
    """Return a text with exactly this width, cut or padded."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, width - 1)}…"
