"""The report: the Markdown tables of a result.

`python -m benchmarks.peers.report` writes the tables and the chart of benchmarks/results/peers.json
again: peers.md, and the part of docs/performance.md between two markers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from benchmarks.measure import Figure
from benchmarks.peers import goals
from benchmarks.peers.chart import CHART, TITLE, chart
from benchmarks.peers.endpoints import BARE, BARE_NAME, THREADS, Endpoints
from benchmarks.peers.libraries import tables
from benchmarks.peers.result import RESULTS, Result, read
from benchmarks.peers.rounds import CONNECTIONS, Cell
from benchmarks.peers.servers import OURS, ROOT, Durability
from benchmarks.peers.suites import Suite
from benchmarks.peers.workload import OPERATIONS
from benchmarks.report import number

PAGE = ROOT / "docs/performance.md"
IMAGE = f"![{TITLE}](images/{CHART.name})"
START, END = "<!-- peers.md: start -->", "<!-- peers.md: end -->"


def markdown(result: Result) -> str:
    """Return the tables."""
    lines = [_machine(result), ""]
    compared = goals.compare(result.endpoints.cells if result.endpoints else ())
    if result.endpoints is not None:
        lines += _endpoints(result.endpoints, compared)
    if result.figures:
        lines += ["### Goals", "", _summary([*compared.values(), *result.figures]), ""]
        lines += [*_figures(result.figures), ""]
    if result.libraries is not None:
        lines += ["### Libraries", "", *tables.markdown(result.libraries), ""]
    if result.suites:
        lines += ["### Test suites", "", *_suites(result.suites), ""]
    return "\n".join(lines)


def publish(result: Result) -> None:
    """Write the tables and the chart of a whole run into the documents."""
    text = markdown(result)
    (RESULTS / "peers.md").write_text(text)
    PAGE.write_text(replace_tables(PAGE.read_text(), text))
    CHART.write_text(chart(result))


def replace_tables(page: str, tables: str) -> str:
    """Return a page with the chart and other tables between its markers."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{PAGE.name} needs the lines {START} and {END}")
    return f"{before}{START}\n\n{IMAGE}\n\n{tables}\n{END}{after}"


def _machine(result: Result) -> str:
    machine = result.machine
    return (
        f"Measured on {result.measured[:10]} in {result.seconds / 60:.0f} minutes with "
        f"{machine['cores']} cores of {machine['processor']}, {machine['system']}, "
        f"Python {machine['python']}; "
        f"load average at the start: {machine['load']}."
    )


def _endpoints(
    measured: Endpoints, compared: dict[tuple[Durability, str, int], Figure]
) -> Iterator[str]:
    for durability, title in goals.DURABILITIES.items():
        cells = [cell for cell in _raw(measured.cells) if cell.durability == durability]
        if durability == "unknown" and cells:
            cells += [
                cell
                for cell in _raw(measured.cells)
                if cell.server == OURS and cell.durability == "durable"
            ]
        if cells:
            yield from (f"### {title.capitalize()}", "", "Responses in a second.", "")
            figures = {key[1:]: figure for key, figure in compared.items() if key[0] == durability}
            yield from (*_rates(cells, figures), "")
    yield from (f"### CPU time of the server for one request, {BARE} connections", "")
    yield from (*_cpu(measured), "")
    yield from ("### With boto3", "", *_sdk(measured), "")
    yield from ("### Syncs, start and memory", "", *_servers(measured), "")
    if measured.missing:
        yield from (
            "Not measured:",
            "",
            *(f"- {' '.join(each.split())}" for each in measured.missing),
            "",
        )


def _raw(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.client == "raw" and cell.server != BARE_NAME]


def _rates(cells: Sequence[Cell], compared: dict[tuple[str, int], Figure]) -> Iterator[str]:
    """Yield a table of rates, with the ratio of ours to the best other one and its verdict."""
    others = [name for name in dict.fromkeys(cell.server for cell in cells) if name != OURS]
    found = {(cell.server, cell.operation, cell.connections): cell for cell in cells}
    yield from _head(
        ("operation",), ("connections", OURS, *others, "ratio to the best", "goal"), ("verdict",)
    )
    for operation in OPERATIONS:
        for connections in CONNECTIONS:
            rates = [_rate(found.get((name, operation, connections))) for name in (OURS, *others)]
            figure = compared.get((operation, connections))
            judged = _verdict(figure) if figure is not None else ("", "", "")
            yield _row(operation, connections, *rates, *judged)


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return cell.failure or f"{cell.rate:,.0f}"


def _verdict(figure: Figure) -> tuple[str, str, str]:
    return f"{figure.ratio:.2f}x", figure.goal, figure.verdict


def _cpu(measured: Endpoints) -> Iterator[str]:
    """Yield a table of microseconds."""
    yield from _head(("server", ""), OPERATIONS)
    cells = [cell for cell in measured.cells if cell.client == "raw" and cell.connections == BARE]
    for (server, durability), row in _by_server(cells).items():
        micros = (f"{cell.cpu_micros:,.0f} µs" if cell and not cell.problem else "" for cell in row)
        yield _row(server, goals.DURABILITIES[durability], *micros)


def _sdk(measured: Endpoints) -> Iterator[str]:
    """Yield a table of rates with boto3, and how much of the time boto3 takes itself."""
    cells = [cell for cell in measured.cells if cell.client == "boto3"]
    used = [cell.cpu_micros for cell in cells if cell.operation == "get" and cell.connections == 1]
    if used:
        yield (
            f"Responses in a second. The client limits the fast servers: boto3 itself needs "
            f"{median(used):,.0f} µs of CPU time for a get, and its threads share one process."
        )
        yield ""
    yield from _head(("server", "", "threads"), OPERATIONS)
    for threads in THREADS:
        rows = _by_server([cell for cell in cells if cell.connections == threads])
        for (server, durability), row in rows.items():
            yield _row(server, goals.DURABILITIES[durability], threads, *map(_rate, row))


def _by_server(cells: Sequence[Cell]) -> dict[tuple[str, Durability], list[Cell | None]]:
    """Return for each server a cell of each operation."""
    found: dict[tuple[str, Durability], dict[str, Cell]] = {}
    for cell in cells:
        found.setdefault((cell.server, cell.durability), {})[cell.operation] = cell
    return {
        server: [row.get(operation) for operation in OPERATIONS] for server, row in found.items()
    }


def _servers(measured: Endpoints) -> Iterator[str]:
    yield from _head(
        ("server", "language", ""),
        (
            "syncs for each put",
            "cold start",
            "at rest",
            "items of 300 B",
            "with them",
            "after load",
        ),
    )
    for each in measured.servers:
        syncs = "" if each.syncs_per_put is None else f"{each.syncs_per_put:.1f}"
        memory = (f"{size:.0f} MB" for size in (each.at_rest, each.with_items, each.after_load))
        rest, with_items, after = memory
        yield _row(
            *(
                f"{each.name} {each.version}",
                each.language,
                goals.DURABILITIES[each.durability],
                syncs,
            ),
            *(f"{each.start_seconds:.2f} s", rest, f"{each.items:,}", with_items, after),
        )


def _summary(figures: Sequence[Figure]) -> str:
    verdicts = Counter(figure.verdict for figure in figures if figure.goal)
    counts = ", ".join(f"{verdicts[each]} {each}" for each in ("ok", "missed", "unsure"))
    return f"Of all goals, with those of the rates: {counts}. The others:"


def _figures(figures: Sequence[Figure]) -> Iterator[str]:
    yield from _head(
        ("figure",), ("measured", "limit", "ratio"), ("compared with", "goal", "verdict", "note")
    )
    for each in figures:
        yield _row(
            each.name,
            f"{number(each.value)} {each.unit}",
            "" if each.limit is None else f"{number(each.limit)} {each.unit}",
            "" if each.ratio is None else f"{each.ratio:.2f}x",
            *(each.limit_is, each.goal, each.verdict, each.note),
        )


def _suites(tests: Sequence[Suite]) -> Iterator[str]:
    yield from _head(("fixture",), ("tests", "wall time", "start of the server"))
    for each in tests:
        start = f"{each.start_seconds:.1f} s" if each.start_seconds else ""
        took = "failed" if each.problem else f"{each.seconds:.1f} s"
        yield _row(each.name, each.tests, took, start)


def _head(left: Iterable[str], right: Iterable[str], last: Iterable[str] = ()) -> Iterator[str]:
    """Yield the head of a table with columns aligned left, right, and left again."""
    left, right, last = list(left), list(right), list(last)
    yield _row(*left, *right, *last)
    yield "|" + "---|" * len(left) + "---:|" * len(right) + "---|" * len(last)


def _row(*values: str | int) -> str:
    return f"| {' | '.join(map(str, values))} |"


if __name__ == "__main__":
    publish(read(RESULTS / "peers.json"))
