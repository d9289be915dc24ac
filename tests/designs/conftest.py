"""An engine with the sample data of a design, and plain boto3 on the endpoint that serves it.

A test runs plans in this process and reads the stored items with boto3 over HTTP, as a client that
does not know this library. A file or a folder says in `prepare` which design it is about; without
one, each test starts without tables.

`tests.targets.plugin` sends what an engine is asked to another server. There boto3 reads from this
server, and each test has an engine of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from tablewright import Engine
from tablewright.server import serving
from tests.prepared import Prepare, checked, is_redirected
from tests.server.http import sdk_client


@pytest.fixture
def engine(prepare: Prepare) -> Iterator[Engine]:
    """An engine with the sample data. What a test writes is checked, and undone."""
    with checked(prepare) as engine:
        yield engine


@pytest.fixture(scope="session")
def client_of() -> Iterator[Callable[[Engine], Any]]:
    """Serve an engine until the end, and return boto3's client for it."""
    with ExitStack() as servers:
        yield cache(lambda engine: sdk_client(servers.enter_context(serving(engine))))


@pytest.fixture
def client(engine: Any, client_of: Callable[[Engine], Any]) -> Any:
    """Return boto3's client for the endpoint that serves the engine."""
    return engine.sdk_client() if is_redirected() else client_of(engine)
