"""An engine, and plain boto3 on the endpoint that serves it.

A test runs plans in this process and reads the stored items with boto3 over HTTP, as a client that
does not know this library. One endpoint serves all tests of a run; each test starts without tables.

`tests.targets.plugin` sends what an engine is asked to another server. There boto3 reads from this
server, and each test has an engine of its own.
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
    client: Any


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    with Engine(":memory:") as engine, serving(engine) as url:
        yield Endpoint(engine, sdk_client(url))


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Yield an engine without tables, which is served; check it after the test."""
    if hasattr(Engine, "sdk_client"):  # redirected to another server
        with Engine(":memory:") as engine:
            yield engine
        return
    engine = request.getfixturevalue("endpoint").engine
    yield engine
    problems = engine.check().problems
    for name in engine.call("ListTables", {})["TableNames"]:
        engine.call("DeleteTable", {"TableName": name})
    assert problems == []


@pytest.fixture
def client(engine: Any, request: pytest.FixtureRequest) -> Any:
    """Return boto3's client for the endpoint that serves the engine."""
    if hasattr(engine, "sdk_client"):
        return engine.sdk_client()
    return request.getfixturevalue("endpoint").client
