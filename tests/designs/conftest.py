"""An engine, and plain boto3 on the endpoint that serves it.

A test runs plans in this process and reads the stored items with boto3 over HTTP, as a client that
does not know this library. One endpoint serves all tests of a run; each test starts without tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tablewright import Engine
from tablewright.server import serving
from tests.server.http import sdk_client


class Endpoint(NamedTuple):
    engine: Engine
    url: str
    client: Any


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    with Engine(":memory:") as engine, serving(engine) as url:
        yield Endpoint(engine, url, sdk_client(url))


@pytest.fixture
def engine(endpoint: Endpoint) -> Iterator[Engine]:
    """Yield the served engine without tables; check it after the test."""
    engine = endpoint.engine
    yield engine
    problems = engine.check().problems
    for name in engine.call("ListTables", {})["TableNames"]:
        engine.call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
        engine.call("DeleteTable", {"TableName": name})
    assert problems == []


@pytest.fixture
def url(engine: Engine, endpoint: Endpoint) -> str:
    """Return the URL of the endpoint that serves the engine."""
    return endpoint.url


@pytest.fixture
def client(engine: Engine, endpoint: Endpoint) -> Any:
    """Return boto3's client for the endpoint that serves the engine."""
    return endpoint.client
