"""The chart: an SVG with the rates of all servers, for the README and docs/performance.md.

`python -m benchmarks.peers.chart [JSON [SVG]]` draws the chart of a result. It has a background of
its own and two sets of colours, for light and dark pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from benchmarks.peers.endpoints import BARE_NAME, Endpoints
from benchmarks.peers.goals import DURABILITIES
from benchmarks.peers.result import RESULTS, Result, read
from benchmarks.peers.rounds import Cell
from benchmarks.peers.servers import OURS, ROOT

TITLE = "Requests per second of implementations of DynamoDB"
CHART = ROOT / "docs/images/peers.svg"

#: The operations in the chart: a column each, with a scale of its own.
COLUMNS = {
    "get": "GetItem",
    "query of 20": "Query, 20 items",
    "put 1 KB": "PutItem, 1 KB",
    "update": "UpdateItem",
    "transaction of 5": "Transaction, 5 puts",
}
CONNECTIONS = 8

WIDTH, MARGIN = 960, 28
NAMES = 168
COLUMN = (WIDTH - 2 * MARGIN - NAMES) // len(COLUMNS)
BARS = COLUMN - 64
ROW, BAR = 22, 14
HEAD, FOOT, SPACE = 92, 40, 14

STYLE = """
text { fill: #1f2328 }
text { font: 12.5px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.page { fill: #ffffff; stroke: #d1d9e0 }
.title { font-size: 20px; font-weight: 600 }
.end { text-anchor: end }
.column { font-weight: 600 }
.group { font-weight: 600 }
.note { font-size: 11.5px; fill: #59636e }
.line { stroke: #d1d9e0 }
.bar { fill: #c3cad3 }
.ours { fill: #2563eb }
.name { fill: #59636e }
.own { font-weight: 600 }
.ratio { font-weight: 600; fill: #2563eb }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .page { fill: #0d1117; stroke: #3d444d }
  .note, .name { fill: #9198a1 }
  .line { stroke: #3d444d }
  .bar { fill: #4a525c }
  .ours { fill: #4493f8 }
  .ratio { fill: #4493f8 }
}
"""


def chart(result: Result) -> str:
    """Return the chart of a result as SVG."""
    measured = result.endpoints or Endpoints(0, [], [], [])
    cells = [
        cell
        for cell in measured.cells
        if (cell.client, cell.connections) == ("raw", CONNECTIONS) and cell.server != BARE_NAME
    ]
    languages = {server.name: server.language for server in measured.servers}
    body: list[str] = []
    y = HEAD
    for durability, title in DURABILITIES.items():
        members = [cell for cell in cells if cell.durability == durability]
        if not members:
            continue
        body += _group(title.capitalize(), members, y)
        for name in dict.fromkeys(cell.server for cell in members):
            y += ROW
            body += _name(name, languages.get(name, ""), y)
            row = {cell.operation: cell for cell in members if cell.server == name}
            for at, operation in enumerate(COLUMNS):
                if operation in row:
                    rates = (cell.rate for cell in cells if _is_shown(cell, operation))
                    most = max(rates, default=1.0)
                    body += _bar(row[operation], _left(at), y, most)
        y += ROW + SPACE
    height = y + FOOT - SPACE
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title">',
            f'<title id="title">{TITLE}</title>',
            f"<style>{STYLE}</style>",
            f'<rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8"/>',
            *_head(),
            *body,
            _text(MARGIN, height - 18, _foot(result), "note"),
            _text(
                WIDTH - MARGIN, height - 18, "synced: on the disk before the response", "note end"
            ),
            "</svg>",
            "",
        )
    )


def _is_shown(cell: Cell, operation: str) -> bool:
    return cell.operation == operation and not cell.problem


def _left(column: int) -> int:
    return MARGIN + NAMES + column * COLUMN


def _head() -> Iterator[str]:
    yield _text(MARGIN, 38, "Requests per second", "title")
    note = f"{CONNECTIONS} connections; longer is better; 2.0x: twice the best of the others"
    yield _text(WIDTH - MARGIN, 38, note, "note end")
    for at, title in enumerate(COLUMNS.values()):
        yield _text(_left(at), 70, title, "column")


def _group(title: str, members: Sequence[Cell], y: int) -> Iterator[str]:
    """Yield a line, the title of a group, and the ratios of ours to the best of the others."""
    yield f'<path class="line" d="M{MARGIN} {y - 8}.5H{WIDTH - MARGIN}"/>'
    yield _text(MARGIN, y + 11, title, "group")
    for at, operation in enumerate(COLUMNS):
        cells = [cell for cell in members if _is_shown(cell, operation)]
        ours = max((cell.rate for cell in cells if cell.server == OURS), default=0.0)
        best = max((cell.rate for cell in cells if cell.server != OURS), default=0.0)
        if ours and best:
            yield _text(_left(at), y + 11, f"{ours / best:.1f}x", "ratio")


def _name(name: str, language: str, y: int) -> Iterator[str]:
    yield _text(MARGIN, y + 11, name, "own" if name == OURS else "name")
    yield _text(MARGIN + NAMES - 14, y + 11, language, "note end")


def _bar(cell: Cell, left: int, y: int, most: float) -> Iterator[str]:
    if cell.problem:
        yield _text(left, y + 11, cell.failure, "note")
        return
    is_ours = cell.server == OURS
    length = max(1.0, BARS * cell.rate / most)
    yield (
        f'<rect class="{"ours" if is_ours else "bar"}" x="{left}" y="{y}" '
        f'width="{length:.1f}" height="{BAR}" rx="2"/>'
    )
    yield _text(left + round(length) + 5, y + 11, f"{cell.rate:,.0f}", "own" if is_ours else "")


def _foot(result: Result) -> str:
    machine = result.machine
    return (
        f"make bench-peers, {result.measured[:10]}: tablewright {machine['tablewright']}, "
        f"Python {machine['python']}, {machine['cores']} cores of {machine['processor']}"
    )


def _text(x: int, y: int, text: str, kind: str) -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x}" y="{y}">{escape(text)}</text>'


def main() -> None:
    source, target = [
        *map(Path, sys.argv[1:]),
        *(RESULTS / "peers.json", CHART)[len(sys.argv) - 1 :],
    ]
    target.write_text(chart(read(source)))


if __name__ == "__main__":
    main()
