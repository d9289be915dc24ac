"""Who may ask a server without credentials: names in Host, origins of web pages, addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tablewright.engine import Engine
from tablewright.server import Hosts, Settings, serving
from tests.commands import run
from tests.server.http import Client

PAGE = "http://localhost:3000"


@pytest.fixture
def open_client(engine: Engine) -> Iterator[Client]:
    """A client of a server that answers to `db.test` and to the web pages of PAGE."""
    hosts = Hosts(["DB.test"], origins=[PAGE])
    with serving(engine, settings=Settings(hosts=hosts)) as url, Client(url) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8000",
        "127.9.9.9:1",
        "localhost",
        "LocalHost:65535",
        "localhost.:80",
        "a.localhost",
        "[::1]",
        "[::1]:8000",
        None,
    ],
)
def test_loopback_names_are_accepted(client: Client, host: str | None) -> None:
    assert client.call(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evillocalhost",
        "127.0.0.1@evil.example",
        "127.0.0.1:80@evil.example",
        "[::1].evil.example",
        "[::1]evil.example",
        "[::1]:80@evil.example",
        "[::1]:80:80",
        "[::1",
        "::1",
        "localhost:80.evil.example",
        "localhost:80/",
        "localhost:port",
        "localhost:+80",
        "localhost:800000",
        "localhost..",
        "evil.example/.localhost",
        "evil.example?.localhost",
        "evil.example#.localhost",
        "evil.example\\.localhost",
        "evil.example .localhost",
        "local\xadhost",
        "192.0.2.1",
        "[2001:db8::1]:8000",
        "0x7f.1",
        "",
    ],
)
def test_a_foreign_name_is_misdirected(client: Client, host: str) -> None:
    answer = client.call(host=host)
    assert (answer.status, answer.type) == (421, "MisdirectedRequest")
    assert "--allow-host" in answer.json["message"]
    assert client.call().status == 200


def test_a_foreign_name_is_refused_after_a_good_one_on_the_same_connection(client: Client) -> None:
    assert client.call().status == 200
    assert client.call(host="evil.example").status == 421


def test_the_health_check_needs_a_good_name_too(client: Client) -> None:
    answer = client.call(None, method="GET", raw=b"", host="evil.example")
    assert answer.status == 421


def test_an_allowed_name_is_accepted_with_any_port_and_case(open_client: Client) -> None:
    assert open_client.call(host="db.test").status == 200
    assert open_client.call(host="DB.TEST:99").status == 200
    assert open_client.call(host="other.test").status == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", PAGE, ""])
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_web_pages_are_refused_by_default(client: Client, origin: str, method: str) -> None:
    answer = client.call(method=method, origin=origin)
    assert (answer.status, answer.type) == (403, "CrossOriginRequest")
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_an_allowed_origin_may_read_the_response(open_client: Client) -> None:
    answer = open_client.call(origin=PAGE)
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "x-amzn-RequestId" in answer.headers["access-control-expose-headers"]
    assert answer.headers["vary"] == "Origin"


def test_an_allowed_origin_may_read_faults(open_client: Client) -> None:
    answer = open_client.call("Nothing", origin=PAGE)
    assert answer.status == 400
    assert answer.headers["access-control-allow-origin"] == PAGE


def test_headers_for_an_origin_do_not_stay_for_the_next_request(open_client: Client) -> None:
    open_client.call(origin=PAGE)
    assert "access-control-allow-origin" not in open_client.call().headers


@pytest.mark.parametrize("origin", ["http://localhost:3001", "https://localhost:3000", "null"])
def test_another_origin_is_refused(open_client: Client, origin: str) -> None:
    assert open_client.call(origin=origin).status == 403


def test_a_preflight_gets_what_it_asks_for(open_client: Client) -> None:
    answer = open_client.call(
        None,
        method="OPTIONS",
        raw=b"",
        origin=PAGE,
        authorization=None,
        access_control_request_method="POST",
        access_control_request_headers="x-amz-target,authorization",
        access_control_request_private_network="true",
    )
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["access-control-allow-methods"] == "POST"
    assert answer.headers["access-control-allow-headers"] == "x-amz-target,authorization"
    assert answer.headers["access-control-max-age"] == "172800"
    assert answer.headers["access-control-allow-private-network"] == "true"


def test_all_origins_may_be_allowed(engine: Engine) -> None:
    settings = Settings(hosts=Hosts(origins=["*"]))
    with serving(engine, settings=settings) as url, Client(url) as client:
        answer = client.call(origin="https://any.example")
        assert answer.headers["access-control-allow-origin"] == "*"


def run_serve(*options: str) -> CompletedProcess[str]:
    return run("serve", "--port", "0", *options)


@pytest.mark.parametrize("host", ["0.0.0.0", "db.test"])
def test_serve_refuses_other_addresses_and_names_the_options(host: str) -> None:
    result = run_serve("--host", host)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"--host {host}" in result.stderr
    for option in ("--credentials", "--tls-cert", "--tls-key", "--insecure"):
        assert option in result.stderr
    assert result.stderr.count("\n") == 1


def test_serve_needs_certificate_and_key_together() -> None:
    result = run_serve("--tls-cert", "cert.pem")
    assert result.returncode == 2
    assert "--tls-key is missing: HTTPS needs --tls-cert FILE and --tls-key FILE" in result.stderr


def test_a_missing_certificate_is_one_line() -> None:
    result = run_serve("--tls-cert", "absent.pem", "--tls-key", "absent.key")
    assert result.returncode == 2
    assert "absent.pem" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--cors", "localhost:3000"),
        ("--cors", "http://localhost:3000/"),
        ("--cors", "https://*.example.com"),
        ("--allow-host", "http://db.test"),
        ("--allow-host", "db.test:8000"),
    ],
)
def test_a_name_that_no_request_can_have_is_refused(option: str, value: str) -> None:
    result = run_serve(option, value)
    assert result.returncode == 2
    assert f"{option} {value}: expected " in result.stderr
    assert result.stderr.count("\n") == 1


def test_files_that_are_not_pem_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a note")
    result = run_serve("--tls-cert", str(file), "--tls-key", str(file))
    assert result.returncode == 2
    assert "expected PEM files" in result.stderr
    assert result.stderr.count("\n") == 1


def test_insecure_with_credentials_warns_of_the_missing_encryption(tmp_path: Path) -> None:
    """And a file without keys is worth a warning: the server would refuse every request."""
    users = tmp_path / "users.toml"
    users.touch(0o600)
    # The directory cannot be a database, so that the command ends.
    options = ("--host", "0.0.0.0", "--insecure", "--credentials", str(users))
    result = run_serve(*options, str(tmp_path))
    assert result.returncode == 2
    assert "users.toml has no keys, so every request is refused" in result.stderr
    assert "--insecure: requests and responses are not encrypted" in result.stderr
    assert "all data" not in result.stderr
