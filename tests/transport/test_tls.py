from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import EndpointUnavailable
from tablewright.server import serving
from tests.transport.clients import Client, Looping, Waiting
from tests.transport.proxy import Proxy, proxying

GET: dict[str, Any] = {"TableName": "things", "Key": {"k": {"S": "a"}}}

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl makes the certificates"
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that nobody has signed but itself, with its key."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=path.parent, check=True, capture_output=True)
    path.write_text((path.parent / "key.pem").read_text() + (path.parent / "cert.pem").read_text())
    return path


@pytest.fixture
def secure(engine: Engine, certificate: Path) -> Iterator[Proxy]:
    """An https endpoint."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with serving(engine) as url, proxying(url, tls) as proxy:
        yield proxy


@pytest.fixture(params=[Waiting, Looping], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> type[Client]:
    kind: type[Client] = request.param
    return kind


def _tried(kind: Any, url: str) -> None:
    sender = kind(url)
    try:
        sender.send("GetItem", GET)
    finally:
        sender.close()


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(
    secure: Proxy, kind: type[Client]
) -> None:
    with pytest.raises(EndpointUnavailable, match="its certificate is not trusted: self-signed"):
        _tried(kind, secure.url)
    assert secure.opened == 1
    assert secure.seen == []


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "AWS_CA_BUNDLE"])
def test_an_authority_of_ones_own_is_named_by_the_environment(
    variable: str,
    secure: Proxy,
    kind: Any,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, str(certificate))
    sender = kind(secure.url)
    for _ in range(3):
        assert b'"1"' in sender.send("GetItem", GET).body
    sender.close()
    assert secure.opened == 1
    assert secure.wait_until_open(0)


def test_a_certificate_for_another_host_is_refused(
    secure: Proxy, kind: type[Client], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(EndpointUnavailable, match="its certificate is not trusted"):
        _tried(kind, secure.url.replace("localhost", "127.0.0.1"))


def test_large_answers_come_whole_over_tls(
    secure: Proxy,
    kind: Any,
    certificate: Path,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    item = {"k": {"S": "a"}, "data": {"S": "x" * 390_000}}
    engine.call("PutItem", {"TableName": "things", "Item": item})
    sender = kind(secure.url)
    for _ in range(2):
        assert len(sender.send("GetItem", GET).body) > 390_000
    sender.close()


def test_plain_http_to_a_tls_endpoint_is_told(secure: Proxy, kind: Any) -> None:
    sender = kind(secure.url.replace("https", "http"), attempts=1)
    with pytest.raises(EndpointUnavailable, match="GetItem failed once"):
        sender.send("GetItem", GET)
    sender.close()


def test_tls_to_a_plain_endpoint_is_told(proxy: Proxy, engine: Engine, kind: Any) -> None:
    with serving(engine) as url:
        sender = kind(url.replace("http", "https"), attempts=1)
        with pytest.raises(EndpointUnavailable, match="GetItem failed once"):
            sender.send("GetItem", GET)
        sender.close()
