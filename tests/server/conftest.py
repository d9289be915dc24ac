from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.server.http import Client

TABLE = {
    "TableName": "things",
    "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine in memory with one empty table, `things`, whose key is `k`."""
    engine = Engine(":memory:")
    engine.call("CreateTable", TABLE)
    yield engine
    engine.close()


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    """The endpoint of `engine`."""
    with serving(engine) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client
