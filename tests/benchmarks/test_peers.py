"""The comparison with other implementations: its judgement, its documents, and a quick run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import pytest

from benchmarks.load import is_complete, load
from benchmarks.measure import Figure
from benchmarks.peers import goals, workers, workload
from benchmarks.peers.chart import COLUMNS, chart
from benchmarks.peers.endpoints import Endpoints
from benchmarks.peers.report import END, PAGE, START, markdown, replace_tables
from benchmarks.peers.result import RESULTS, Result, read, write
from benchmarks.peers.rounds import TOO_SLOW, Cell
from benchmarks.peers.servers import IMPLEMENTATIONS, OURS, Durability, Implementation, running
from benchmarks.peers.syncs import count_syncs, durability_of, syncs_per_put

ROOT = Path(__file__).parents[2]
SERVERS: list[tuple[str, Durability]] = [
    (OURS, "memory"),
    ("dynoxide", "memory"),
    (OURS, "durable"),
    ("dynoxide", "durable"),
    (OURS, "file"),
    ("dynalite", "file"),
]


def cell(server: str, durability: Durability, operation: str, rate: float, **more: object) -> Cell:
    known = {"connections": 8, "rounds": [rate], "cpu_micros": 10.0, **more}
    return Cell(
        server=server,
        durability=durability,
        operation=operation,
        rate=rate,
        **known,  # type: ignore[arg-type]
    )


@pytest.fixture
def result() -> Result:
    rates = {OURS: 3000.0, "dynoxide": 1500.0, "dynalite": 300.0}
    cells = [
        cell(name, durability, operation, rates[name])
        for name, durability in SERVERS
        for operation in workload.OPERATIONS
    ]
    machine: dict[str, str | int | float] = {
        "cores": 2,
        "processor": "A < B",
        "system": "Linux",
        "python": "3.11",
        "tablewright": "1.0",
        "load": 0.1,
    }
    return Result(
        measured="2026-11-16T12:00:00+00:00",
        seconds=60.0,
        quick=False,
        machine=machine,
        endpoints=Endpoints(1000, [], cells, []),
    )


def server(name: str, promise: str) -> Implementation:
    return next(each for each in IMPLEMENTATIONS if (each.name, each.promise) == (name, promise))


def test_count_syncs_counts_interrupted_calls_once() -> None:
    log = """\
101 fdatasync(7)                      = 0
102 fsync(9 <unfinished ...>
101 msync(0x7f00, 4096, MS_SYNC)      = 0
102 <... fsync resumed>)              = 0
102 +++ exited with 0 +++
"""
    assert count_syncs(log) == 3


@pytest.mark.parametrize(
    ("name", "promise", "syncs", "durability"),
    [
        ("dynoxide", "memory", None, "memory"),
        ("dynoxide", "file", 1.0, "durable"),
        ("dynoxide", "file", 0.02, "file"),
        ("dynoxide", "file", None, "unknown"),
        (OURS, "durable", None, "durable"),
        (OURS, "durable", 0.0, "file"),
    ],
)
def test_durability_is_what_was_measured(
    name: str, promise: str, syncs: float | None, durability: str
) -> None:
    assert durability_of(server(name, promise), syncs) == durability


def compared(*cells: Cell) -> Figure:
    (figure,) = goals.compare(cells).values()
    return figure


def test_a_rate_is_compared_with_the_best_peer_of_the_same_durability() -> None:
    figure = compared(
        cell(OURS, "durable", "get", 300.0),
        cell("slow", "durable", "get", 100.0),
        cell("fast", "durable", "get", 150.0),
        cell("in memory", "memory", "get", 1000.0),
        cell("broken", "durable", "get", 1000.0, problem="500"),
        cell("boto3", "durable", "get", 1000.0, client="boto3"),
    )
    assert (figure.limit_is, figure.ratio, figure.verdict) == ("fast", 2.0, "ok")


def test_a_peer_with_unknown_syncs_is_compared_with_our_durable_server() -> None:
    figure = compared(
        cell(OURS, "file", "get", 500.0),
        cell(OURS, "durable", "get", 300.0),
        cell("peer", "unknown", "get", 100.0),
    )
    assert figure.ratio == 3.0


@pytest.mark.parametrize(
    ("operation", "durability", "connections", "goal"),
    [
        ("put 1 KB", "durable", 1, "at least 1x"),
        ("update", "durable", 1, "at least 1x"),
        ("get", "durable", 1, "at least 1.5x"),
        ("put 1 KB", "durable", 8, "at least 1.5x"),
        ("put 1 KB", "memory", 1, "at least 1.5x"),
    ],
)
def test_one_durable_writer_must_be_as_fast_as_the_best_peer(
    operation: str, durability: Durability, connections: int, goal: str
) -> None:
    figure = compared(
        *(cell(name, durability, operation, 1.0, connections=connections) for name in (OURS, "x"))
    )
    assert figure.goal == goal


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ({}, {}, "missed"),
        ({"rounds": [50.0, 100.0]}, {}, "unsure"),
        ({}, {"rounds": [50.0, 100.0]}, "unsure"),
        ({}, {"others": 0.5}, "unsure"),
        ({"idle": 0.0}, {}, "unsure"),
    ],
)
def test_a_verdict_is_unsure_if_the_figures_are_doubtful(
    ours: dict[str, object], theirs: dict[str, object], verdict: str
) -> None:
    figure = compared(
        cell(OURS, "memory", "get", 100.0, **ours), cell("peer", "memory", "get", 90.0, **theirs)
    )
    assert figure.verdict == verdict


@pytest.mark.parametrize(("cores", "verdict"), [(3, "missed"), (2, "unsure")])
def test_two_workers_need_cores_of_their_own(cores: int, verdict: str) -> None:
    cells = [cell("1 worker", "durable", "get", 100.0), cell("2 workers", "durable", "get", 160.0)]
    (figure,) = workers.compare(cells, cores)
    assert (figure.ratio, figure.goal, figure.verdict) == (1.6, "at least 1.7x", verdict)


def test_the_chart_is_xml_with_all_servers_and_operations(result: Result) -> None:
    root = ElementTree.fromstring(chart(result))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {name for name, _ in SERVERS}.union(COLUMNS.values()) <= set(texts)
    assert texts.count("2.0x") == 2 * len(COLUMNS)
    assert any("A < B" in (text or "") for text in texts)


def test_a_result_is_read_as_it_was_written(result: Result, tmp_path: Path) -> None:
    write(tmp_path / "peers.json", result)
    assert read(tmp_path / "peers.json") == result


def test_the_tables_of_a_page_are_replaced(result: Result) -> None:
    page = replace_tables(f"before\n{START}\nOLD\n{END}\nafter\n", markdown(result))
    assert page.startswith("before\n")
    assert page.endswith(f"{END}\nafter\n")
    assert "| get | 8 | 3,000 | 1,500 | 2.00x | at least 1.5x | ok |" in page
    assert "OLD" not in page


def test_the_page_has_the_tables_and_the_chart_of_the_result() -> None:
    file = RESULTS / "peers.json"
    if not file.exists():
        pytest.skip("no whole run of `make bench-peers` yet")
    result = read(file)
    page = PAGE.read_text()
    assert page == replace_tables(page, markdown(result)), "run `make performance`"
    assert (ROOT / "docs/images/peers.svg").read_text() == chart(result), "run `make performance`"


@pytest.mark.parametrize(
    ("data", "complete"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", True),
    ],
)
def test_a_response_is_complete_when_its_body_is(data: bytes, complete: bool) -> None:
    assert is_complete(data) is complete


class Closing(BaseHTTPRequestHandler):
    """Closes the connection after each response."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  (its name there)


def test_the_load_connects_again_where_a_server_closes_connections() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Closing) as http:
        Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}).start()
        request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
        found = load(http.server_port, iter([request] * 10), 2, 10.0)
        http.shutdown()
    assert (found.responses + found.late, found.length, found.refused) == (10, 2, 0)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize(("promise", "expected"), [("durable", "durable"), ("file", "file")])
def test_the_syncs_of_our_server_are_those_of_its_option(promise: str, expected: str) -> None:
    implementation = server(OURS, promise)
    with running(implementation) as started:
        remote = started.remote()
        workload.create_table(remote)
        remote.close()
        syncs = syncs_per_put(started, 10)
    if syncs is None:
        pytest.skip("strace may not trace")
    assert durability_of(implementation, syncs) == expected


@pytest.mark.slow
def test_a_quick_run_measures_every_operation(tmp_path: Path) -> None:
    output = tmp_path / "peers.json"
    subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.peers", "endpoints", "workers", "--quick"),
            *("--only", OURS, "--output", str(output)),
        ],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    result = json.loads(output.read_text())
    cells = result["endpoints"]["cells"]
    problems = {each["problem"] for each in (*cells, *result["workers"])}
    assert {each for each in problems if not each.startswith(TOO_SLOW)} == {""}
    assert {each["operation"] for each in cells} == set(workload.OPERATIONS)
    assert {each["operation"] for each in result["workers"]} == set(workers.OPERATIONS)
    assert {each["client"] for each in cells} == {"raw", "boto3"}
