from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from tests.fastapi.desk import TestClient, application


@pytest.fixture(scope="session")
def in_memory() -> FastAPI:
    """The application; each client that is entered gets a database of its own."""
    return application(":memory:")


@pytest.fixture
def client(in_memory: FastAPI) -> Iterator[TestClient]:
    """A client of the application, signed in to the organisation acme."""
    with TestClient(in_memory, headers={"X-Org": "acme"}) as client:
        yield client
