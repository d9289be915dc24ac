"""Items for people: tables and lists of fields that fit the width of the terminal.

Knows columns and cells, not where they come from. What a terminal would obey is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.values import Item, Value

#: The widest column of a table.
MAX_COLUMN = 40
GAP = 2


def print_table(
    console: Console,
    items: Sequence[Item],
    first: Sequence[str] = (),
    hint: str = "select them, or use --json",
) -> None:
    """Print items as a table with the width of the console; some columns come first."""
    found = dict.fromkeys(name for item in items for name in item)
    names = [*(name for name in first if name in found), *(n for n in found if n not in first)]
    columns = {name: [format_cell(item.get(name)) for item in items] for name in names}
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


def format_cell(value: Value | None) -> str:
    """Return a value for a cell: a text as it is, a binary in base64; empty if it is missing."""
    from tablewright.partiql.printing import format_value

    if value is None:
        return ""
    ((tag, content),) = value.items()
    return escape_controls(content if tag in ("S", "B") else format_value(value))


def escape_controls(text: str) -> str:
    """Return a text without characters that a terminal would not print, but obey.

    >>> escape_controls("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
