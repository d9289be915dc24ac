"""Operating a server: access log, metrics, readiness, TLS, and the stop of a process."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tablewright.engine import Engine
from tablewright.server import Limits, Settings, listener, serving
from tests.server.conftest import TABLE
from tests.server.http import Client, message, sdk_client
from tests.server.test_requests import get, put
from tests.server.test_stopping import served
from tests.server.test_storage import locked_by_another_process, unlock


def logged(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_access_log_has_a_line_for_each_request(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    with serving(engine, settings=Settings(access_log=file)) as url, Client(url) as client:
        answers = [
            client.call("PutItem", put("a")),
            client.call("GetItem", get("a")),
            client.call("GetItem", {"TableName": "absent", "Key": {"k": {"S": "a"}}}),
            client.call("Nothing"),
        ]
    lines = logged(file)
    assert [line["operation"] for line in lines] == ["PutItem", "GetItem", "GetItem", "-"]
    assert [line["tables"] for line in lines] == [["things"], ["things"], ["absent"], []]
    assert [line["status"] for line in lines] == [200, 200, 400, 400]
    assert [line["fault"] for line in lines] == [
        None,
        None,
        "ResourceNotFoundException",
        "UnknownOperationException",
    ]
    for line, answer in zip(lines, answers, strict=True):
        assert line["request_id"] == answer.headers["x-amzn-requestid"]
        assert line["bytes_out"] == len(answer.body)
        assert line["access_key_id"] is None
        assert isinstance(line["ms"], float)


def test_the_access_log_names_every_table_of_batches_and_transactions(
    engine: Engine, tmp_path: Path
) -> None:
    file = tmp_path / "access.log"
    key = {"k": {"S": "a"}}
    with serving(engine, settings=Settings(access_log=file)) as url, Client(url) as client:
        client.call("BatchGetItem", {"RequestItems": {"b": {"Keys": [key]}, "a": {"Keys": [key]}}})
        client.call(
            "TransactWriteItems",
            {"TransactItems": [{"Delete": {"TableName": "things", "Key": key}}, {"Put": 5}, 7]},
        )
    assert [line["tables"] for line in logged(file)] == [["a", "b"], ["things"]]


def test_the_access_log_has_no_values(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    with serving(engine, settings=Settings(access_log=file)) as url, Client(url) as client:
        client.call("PutItem", put("secret-key", text="secret-value"))
        client.call("GetItem", get("secret-key"))
        client.call("PutItem", raw=b'{"TableName": "things", "Item": "secret"')
        client.send(b"secret nonsense\r\n\r\n")
        assert client.answer().status == 400
    assert len(logged(file)) == 4
    assert "secret" not in file.read_text()


def test_the_access_log_is_appended_to(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    for _ in range(2):
        with serving(engine, settings=Settings(access_log=file)) as url, Client(url) as client:
            client.call()
    assert len(logged(file)) == 2


def test_the_access_log_may_go_to_standard_output() -> None:
    with served("--access-log", "-") as (process, url):
        with Client(url) as client:
            assert client.call().status == 200
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    assert json.loads(output)["operation"] == "ListTables"


def test_an_access_log_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    with served("--access-log", tmp_path / "absent" / "access.log") as (process, _):
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "--access-log" in errors
    assert "access.log" in errors
    assert errors.count("\n") == 1


def test_an_access_log_that_cannot_be_written_is_one_line_and_ends_nothing() -> None:
    with served("--access-log", "/dev/full") as (process, url):
        with Client(url) as client:
            assert client.call().status == 200
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.count("cannot write the access log /dev/full") == 1
    assert len(errors.splitlines()) == 2  # the other one says what is served


REFUSED = {"TableName": "things", "Key": {"k": {"N": "12345"}}}


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        ("warning", []),
        (
            "info",
            [
                "INFO tablewright.server.requests: CreateTable things: 200, ",
                "INFO tablewright.server.requests: GetItem things: 400 ValidationException, ",
                "INFO tablewright.server.requests: PutItem 'a\\nb': 400 ValidationException, ",
                "INFO tablewright.server.requests: ListTables: 200, ",
            ],
        ),
        (
            "debug",
            [
                "INFO tablewright.server.requests: CreateTable things: 200, ",
                "DEBUG tablewright.server: ValidationException: 'The provided key element does not",
                "INFO tablewright.server.requests: GetItem things: 400 ValidationException, ",
                "DEBUG tablewright.server: ValidationException: ",
                "INFO tablewright.server.requests: PutItem 'a\\nb': 400 ValidationException, ",
                "INFO tablewright.server.requests: ListTables: 200, ",
            ],
        ),
    ],
)
def test_the_server_logs_each_request_on_demand(level: str, lines: list[str]) -> None:
    """What clients do wrong is no warning."""
    with served("--log", level) as (process, url):
        with Client(url) as client:
            client.call("CreateTable", TABLE)
            assert client.call("GetItem", REFUSED).status == 400
            client.call("PutItem", {"TableName": "a\nb", "Item": {}})
            client.call()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    _, *logged = errors.splitlines()  # the first one says what is served
    assert [line[: len(start)] for line, start in zip(logged, lines, strict=True)] == lines
    if level == "info":
        assert "12345" not in errors


def read_file(url: str) -> str:
    with urlopen(url, timeout=20) as response:
        text: str = response.read().decode()
    return text


@contextmanager
def monitoring(file: Path) -> Iterator[tuple[str, str]]:
    """A server on a file, and the URL of its monitor."""
    with served("--metrics-port", "0", file) as (process, url):
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        yield url, lines[1].split()[1].removesuffix("/metrics")


@pytest.fixture
def monitored(tmp_path: Path) -> Iterator[tuple[str, str]]:
    with monitoring(tmp_path / "x.db") as urls:
        yield urls


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The monitor of a server that is not sent anything."""
    with monitoring(tmp_path_factory.mktemp("monitor") / "x.db") as (_, url):
        yield url


def test_metrics_count_requests_and_commits(monitored: tuple[str, str]) -> None:
    url, monitor = monitored
    with Client(url) as client:
        client.call("CreateTable", TABLE)
        for _ in range(3):
            client.call("PutItem", put("a"))
        client.call("GetItem", {"TableName": "absent", "Key": {"k": {"S": "a"}}})
        text = read_file(f"{monitor}/metrics")
    assert 'tablewright_requests_total{operation="PutItem",status="200"} 3\n' in text
    assert 'tablewright_requests_total{operation="GetItem",status="400"} 1\n' in text
    assert 'tablewright_request_seconds_bucket{operation="PutItem",le="+Inf"} 3\n' in text
    assert 'tablewright_request_seconds_count{operation="PutItem"} 3\n' in text
    assert "tablewright_connections 1\n" in text
    assert "tablewright_buffered_bytes 0\n" in text
    assert "tablewright_commits_total 4\n" in text
    assert "tablewright_committed_writes_total 4\n" in text
    for name in ("file_bytes", "log_bytes", "last_sweep_seconds"):
        assert f"# TYPE tablewright_{name} gauge\n" in text


def test_a_server_that_runs_is_live_and_ready(monitor: str) -> None:
    assert read_file(f"{monitor}/ready") == "ready\n"
    assert read_file(f"{monitor}/live") == "live\n"


def test_a_metrics_port_in_use_is_one_line(monitor: str) -> None:
    port = monitor.rpartition(":")[2]
    with served("--metrics-port", port) as (process, _):
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.startswith(f"tablewright: --metrics-port: 127.0.0.1:{port}: ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        ("GET /nothing HTTP/1.1", "", 404),
        ("POST /metrics HTTP/1.1", "", 405),
        ("GET /metrics HTTP/1.1", "Host: evil.example\r\n", 421),
        ("GET /metrics HTTP/1.1", "Origin: http://localhost\r\n", 403),
    ],
)
def test_the_monitor_refuses_everything_else(
    monitor: str, request_line: str, headers: str, status: int
) -> None:
    with Client(monitor) as client:
        client.send(f"{request_line}\r\n{headers}\r\n".encode())
        assert client.answer().status == status
        assert client.is_closed()


def test_a_server_whose_writes_fail_is_not_ready(
    monitored: tuple[str, str], tmp_path: Path
) -> None:
    url, monitor = monitored
    with Client(url) as client, Client(monitor) as probe:
        client.call("CreateTable", TABLE)
        (tmp_path / "x.db").unlink()
        assert client.call("PutItem", put("a")).status == 500
        probe.send(b"GET /ready HTTP/1.1\r\n\r\n")
        answer = probe.answer()
        assert answer.status == 503
        assert b"deleted" in answer.body


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `cert.pem` and `key.pem` for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
        "-keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


def test_boto3_talks_to_serve_over_tls(certificate: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    with served("--tls-cert", cert, "--tls-key", key) as (_, url):
        assert url.startswith("https://127.0.0.1:")
        client = sdk_client(url, verify=str(cert))
        client.create_table(**TABLE)
        client.put_item(TableName="things", Item={"k": {"S": "a"}})
        assert client.get_item(TableName="things", Key={"k": {"S": "a"}})["Item"] == {
            "k": {"S": "a"}
        }
        client.close()


def test_old_versions_of_tls_and_plain_http_are_refused(certificate: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    with served("--tls-cert", cert, "--tls-key", key) as (process, url):
        address = ("127.0.0.1", urlsplit(url).port)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname = False
        old.verify_mode = ssl.CERT_NONE
        old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            socket.create_connection(address, timeout=20) as plain,
            pytest.raises(ssl.SSLError),
        ):
            old.wrap_socket(plain)
        with Client(url) as client:
            client.send(message())
            assert client.socket.recv(1000).startswith(b"HTTP/1.1 400 ")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors


def test_refusals_reach_clients_over_tls(certificate: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    context = ssl.create_default_context(cafile=str(cert))
    with served("--tls-cert", cert, "--tls-key", key) as (_, url), Client(url) as client:
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        client.send(message("ListTables"))
        assert client.answer().status == 200
        client.send(b"nonsense\r\n\r\n")
        assert client.answer().status == 400
        assert client.is_closed()


def test_plain_http_is_refused_where_tls_is_spoken(certificate: Path) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with (
        Engine(":memory:") as engine,
        serving(engine, settings=Settings(tls=tls)) as url,
        Client(url) as client,
    ):
        client.send(message("ListTables"))
        assert client.socket.recv(1000).endswith(
            b"\r\n\r\nThe plain HTTP request was sent to HTTPS port"
        )
        assert client.is_closed()


def test_handshakes_that_are_not_finished_make_room(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "RETRY_SECONDS", 0.02)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    settings = Settings(tls=tls, limits=Limits(connections=2, scarce_seconds=0.2))
    with (
        Engine(":memory:") as engine,
        serving(engine, settings=settings) as url,
        ExitStack() as stack,
    ):
        silent = [stack.enter_context(Client(url)) for _ in range(2)]
        client = stack.enter_context(Client(url))
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        assert client.call().status == 200
        assert silent[0].is_closed()


def test_a_stop_finishes_writes_that_wait_for_the_lock(tmp_path: Path) -> None:
    file = tmp_path / "stopped.db"
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
    with served(file) as (process, url), Client(url) as client:
        with locked_by_another_process(file) as other:
            client.send(message("PutItem", put("a")))
            with Client(url) as second:
                assert second.call().status == 200  # the write was received
            process.send_signal(signal.SIGTERM)
            wait_until_refused(url)
            unlock(other)
            answer = client.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in errors) == (0, False)
    with Engine(file) as engine:
        assert engine.call("GetItem", get("a"))["Item"] == {"k": {"S": "a"}}


def test_a_second_signal_stops_at_once() -> None:
    with served() as (process, url), Client(url) as client:
        client.call()
        client.send(message("PutItem", put("a"))[:-1])  # a stop waits for the rest
        with Client(url) as second:
            assert second.call().status == 200
        process.send_signal(signal.SIGTERM)
        wait_until_refused(url)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM


def wait_until_refused(url: str) -> None:
    """Wait until a server accepts no connections any more."""
    while True:
        try:
            Client(url).socket.close()
        except ConnectionError:
            return
