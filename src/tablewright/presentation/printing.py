"""Printing on the terminal: lines, names with values, and tables.

    print_table, print_values   items, and entities: columns that do not fit are named below
    print_columns               the same for columns of texts
    print_noted_table           names and numbers, with notes below: the names are shortened
    print_grid                  a short table with lines, in which cells are wrapped

Lines fit the width of the terminal, or of `COLUMNS`; rich decides on it, and on colours: none in a
pipe or with `NO_COLOR`.

Invariant: characters of stored values that a terminal would obey are escaped. rich and typer are
imported when something is printed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.presentation.results import json_text
from tablewright.presentation.values import content

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.values import Item

HIDDEN = "choose columns with --attributes, or use --json"
#: The widest column of a table, and the space between columns.
MAX_COLUMN = 40
GAP = 2
#: The narrowest text, on a narrow terminal.
MIN_TEXT = 12
#: The narrowest column of names, on a narrow terminal.
MIN_NAME = 12
#: The widest column of requests: `TransactWriteItems`.
MAX_REQUEST = 18
_is_number = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch  # exact decimals are texts in JSON


def make_console() -> Console:
    """Return the console of standard output; rich decides on colours and the width."""
    from rich.console import Console

    return Console()


def print_json(values: Sequence[Any]) -> None:
    """Print one value on each line."""
    import typer

    for value in values:
        typer.echo(msgspec.json.encode(value).decode())


# --- lines and fields ---


def print_line(console: Console, text: str, style: str | None = None, end: str = "\n") -> None:
    """Print a text as it is, also if it is wider than the console."""
    console.print(text, style=style, end=end, soft_wrap=True, markup=False, highlight=False)


def print_text(console: Console, text: str, indent: str = "", style: str | None = None) -> None:
    """Print a text with line breaks at the width of the console; further lines are indented."""
    print_line(console, fill(console, text, indent), style)


def print_title(console: Console, text: str) -> None:
    console.print(text, style="bold", markup=False, highlight=False)


def print_fields(
    console: Console, fields: Mapping[str, str] | Sequence[tuple[str, str]], indent: str = ""
) -> None:
    """Print names and values below each other, each value on as many lines as it needs."""
    pairs = list(fields.items() if isinstance(fields, Mapping) else fields)
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        label = name
        for line in value.splitlines():
            text = fill(console, f"{indent}{label:{width}}  {line}", f"{indent}{' ' * width}  ")
            console.print(text, soft_wrap=True, markup=False, highlight=False)
            label = ""


def escaped(values: Mapping[str, Any]) -> dict[str, str]:
    """Return JSON values as fields, each on one line."""
    return {
        escape_controls(name): escape_controls(json_text(value)) for name, value in values.items()
    }


def fill(console: Console, text: str, indent: str = "") -> str:
    """Return a text with line breaks at the width of the console; further lines are indented."""
    width = max(MIN_TEXT + len(indent), console.width)
    return textwrap.fill(
        text,
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,  # so that a path or a key can be copied
    )


def print_values(console: Console, rows: Sequence[dict[str, Any]], hint: str = HIDDEN) -> None:
    """Print entities as a table; a column that is empty in all rows is left out."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    columns = {name: [json_text(row.get(name)) for row in rows] for name in names}
    numbers = {
        name for name in names if all(not cell or _is_number(cell) for cell in columns[name])
    }
    print_columns(console, columns, numbers, hint)


def print_table(
    console: Console,
    items: Sequence[Item],
    first: Sequence[str] = (),
    hint: str = "select them, or use --json",
) -> None:
    """Print items as a table with the width of the console; some columns come first."""
    found = dict.fromkeys(name for item in items for name in item)
    names = [*(name for name in first if name in found), *(n for n in found if n not in first)]
    columns = {
        name: [content(item[name]) if name in item else "" for item in items] for name in names
    }
    numbers = {name for name in names if all("N" in item[name] for item in items if name in item)}
    print_columns(console, columns, numbers, hint)


def print_columns(
    console: Console,
    columns: Mapping[str, Sequence[str]],
    numbers: Collection[str] = (),
    hint: str = "use --json",
) -> None:
    """Print a table with the width of the console; columns of numbers are aligned on the right.

    Columns that do not fit are named below the table, with the hint how to see them.
    """
    from rich.table import Table
    from rich.text import Text

    columns = {name: list(map(escape_controls, column)) for name, column in columns.items()}
    shown = choose_columns(console.width, columns)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name, width in shown.items():
        table.add_column(
            Text(escape_controls(name)),
            width=width,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if name in numbers else "left",
        )
    for row in zip(*(columns[name] for name in shown), strict=True):
        table.add_row(*map(Text, row))
    if table.row_count:
        console.print(table)
    hidden = [name for name in columns if name not in shown]
    if hidden:
        text = f"not shown: {', '.join(map(escape_controls, hidden))} ({hint})"
        console.print(text, markup=False, highlight=False, style="dim")


def choose_columns(width: int, columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the columns that fit into a width, in order, each with its own width."""
    from rich.cells import cell_len

    shown: dict[str, int] = {}
    left = width
    for name, column in columns.items():
        wanted = min(max(map(cell_len, [escape_controls(name), *column])), MAX_COLUMN)
        if shown and wanted > left:
            continue
        shown[name] = min(wanted, max(left, 1))
        left -= shown[name] + GAP
    return shown


def escape_controls(text: str) -> str:
    """Return a text without characters that a terminal would not print, but obey.

    >>> escape_controls("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


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


def _fit(text: str, width: int) -> str:
    """Return a text with exactly this width, cut or padded."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, width - 1)}…"


def print_noted_table(
    rows: Sequence[Sequence[str]],
    numbers: int,
    notes: Iterable[str],
    parts: Iterable[Sequence[tuple[str, str]]] = (),
) -> None:
    """Print a table with a header, each row with its parts below it, and the notes on it."""
    console = make_console()
    if len(rows) > 1:
        lines = table_lines(console.width, rows, numbers)
        for line, fields in zip_longest(lines, [(), *parts], fillvalue=()):
            print_line(console, str(line).rstrip())
            print_fields(console, fields, "  ")
        console.print()
    for note in notes:
        print_text(console, note)
