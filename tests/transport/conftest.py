from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.transport.clients import Client, Looping, Waiting
from tests.transport.proxy import Proxy, proxying

TABLE = {
    "TableName": "things",
    "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing of the machine's own settings for AWS."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_CA_BUNDLE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine in memory with one table, `things`, whose key is `k`, and one thing, `a`."""
    with Engine(":memory:") as engine:
        engine.call("CreateTable", TABLE)
        engine.call("PutItem", {"TableName": "things", "Item": {"k": {"S": "a"}, "n": {"N": "1"}}})
        yield engine


@pytest.fixture
def proxy(engine: Engine) -> Iterator[Proxy]:
    """A proxy before the engine's endpoint."""
    with serving(engine) as url, proxying(url) as proxy:
        yield proxy


MakeClient = Callable[..., Client]


@pytest.fixture(params=[Waiting, Looping], ids=["sync", "async"])
def client(request: pytest.FixtureRequest, proxy: Proxy) -> Iterator[MakeClient]:
    """Makes clients of the proxy; both ways."""
    made: list[Client] = []

    def make(url: str = proxy.url, **options: object) -> Client:
        made.append(request.param(url, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
    assert proxy.wait_until_open(0), "a connection is left open"
