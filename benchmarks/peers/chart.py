"""The chart: an SVG with the rates of all servers, for the README and docs/performance.md.

`python -m benchmarks.peers.chart [JSON [SVG]]` draws the chart of a result. It has a background of
its own and two sets of colours, for light and dark pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from benchmarks.peers.endpoints import BARE_NAME, Cell
from benchmarks.peers.result import RESULTS, Result, read
from benchmarks.peers.servers import OURS, ROOT, Durability

CHART = ROOT / "docs/images/peers.svg"

#: The operations in the chart, with the number of connections.
PANELS = {
    "get": "GetItem",
    "query of 20": "Query, 20 items",
    "put 1 KB": "PutItem, 1 KB",
    "update": "UpdateItem with a condition",
    "transaction of 5": "TransactWriteItems, 5 puts",
}
CONNECTIONS = 8
#: The two columns: their titles, and the groups of servers in each.
COLUMNS: tuple[tuple[str, tuple[tuple[Durability, str], ...]], ...] = (
    ("In memory", (("memory", ""),)),
    (
        "In a file",
        (("durable", "synced before the response"), ("file", "not synced"), ("unknown", "")),
    ),
)

WIDTH, MARGIN, GAP = 960, 28, 36
COLUMN = (WIDTH - 2 * MARGIN - GAP) // 2
NAMES, VALUES = 112, 96
BARS = COLUMN - NAMES - VALUES
ROW, BAR = 19, 13
HEAD, FOOT = 92, 48
TITLE, GROUP, SPACE = 24, 18, 20

STYLE = """
text { fill: #1f2328 }
text { font: 12.5px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.page { fill: #ffffff; stroke: #d1d9e0 }
.title { font-size: 20px; font-weight: 600 }
.end { text-anchor: end }
.column { font-size: 15px; font-weight: 600 }
.panel { font-size: 13px; font-weight: 600 }
.note { font-size: 11.5px; fill: #59636e }
.line { stroke: #d1d9e0 }
.bar { fill: #c3cad3 }
.ours { fill: #2563eb }
.name { fill: #59636e }
.own { font-weight: 600 }
.ratio { font-size: 11.5px; font-weight: 600; fill: #2563eb }
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
    cells = [
        cell
        for cell in (result.endpoints.cells if result.endpoints else ())
        if (cell.client, cell.connections) == ("raw", CONNECTIONS) and cell.server != BARE_NAME
    ]
    height = HEAD
    body: list[str] = []
    for operation, title in PANELS.items():
        found = [cell for cell in cells if cell.operation == operation]
        bottom = height
        for at, (_, groups) in enumerate(COLUMNS):
            left = MARGIN + at * (COLUMN + GAP)
            lines = list(_panel(found, groups, left, height, title))
            body += [line for line, _ in lines]
            bottom = max(bottom, *(y for _, y in lines))
        height = bottom + SPACE
    height += FOOT - SPACE
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title">',
            '<title id="title">Requests per second of implementations of DynamoDB</title>',
            f"<style>{STYLE}</style>",
            f'<rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8"/>',
            *_head(),
            *body,
            _text(MARGIN, height - 20, _foot(result), "note"),
            "</svg>",
            "",
        )
    )


def _head() -> Iterator[str]:
    yield _text(MARGIN, 38, "Requests per second", "title")
    note = f"{CONNECTIONS} connections; longer is better; 2.0x: twice the best of the others"
    yield _text(WIDTH - MARGIN, 38, note, "note end")
    for at, (title, _) in enumerate(COLUMNS):
        left = MARGIN + at * (COLUMN + GAP)
        yield _text(left, 68, title, "column")
        yield f'<path class="line" d="M{left} 77.5h{COLUMN}"/>'


def _foot(result: Result) -> str:
    machine = result.machine
    return (
        f"make bench-peers, {result.measured[:10]}: tablewright {machine['tablewright']}, "
        f"Python {machine['python']}, {machine['cores']} cores of {machine['processor']}"
    )


def _panel(
    cells: Sequence[Cell],
    groups: Sequence[tuple[Durability, str]],
    left: int,
    top: int,
    title: str,
) -> Iterator[tuple[str, int]]:
    """Yield the elements of one operation in one column, each with the height below it."""
    shown = [cell for cell in cells if cell.durability in dict(groups)]
    most = max((cell.rate for cell in shown if not cell.problem), default=1.0)
    y = top + TITLE
    yield _text(left, top + 14, title, "panel"), y
    for durability, note in groups:
        members = [cell for cell in shown if cell.durability == durability]
        if not members:
            continue
        if note:
            yield _text(left + NAMES, y + 10, note, "note"), y + GROUP
            y += GROUP
        best = max((cell.rate for cell in members if _is_peer(cell)), default=0.0)
        for cell in members:
            yield from ((line, y + ROW) for line in _bar(cell, left, y, most, best))
            y += ROW


def _is_peer(cell: Cell) -> bool:
    return cell.server != OURS and not cell.problem


def _bar(cell: Cell, left: int, y: int, most: float, best: float) -> Iterator[str]:
    is_ours = cell.server == OURS
    yield _text(left, y + 11, cell.server, "own" if is_ours else "name")
    if cell.problem:
        yield _text(left + NAMES, y + 11, "fails", "note")
        return
    length = max(1.0, BARS * cell.rate / most)
    yield (
        f'<rect class="{"ours" if is_ours else "bar"}" x="{left + NAMES}" y="{y}" '
        f'width="{length:.1f}" height="{BAR}" rx="2"/>'
    )
    x = left + NAMES + round(length) + 6
    yield _text(x, y + 11, f"{cell.rate:,.0f}", "own" if is_ours else "")
    if is_ours and best:
        yield _text(left + COLUMN, y + 11, f"{cell.rate / best:.1f}x", "ratio end")


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
