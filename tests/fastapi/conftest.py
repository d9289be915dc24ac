from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fastapi.desk import TestClient, application


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A client of the application, signed in to the organisation acme."""
    with TestClient(application(":memory:"), headers={"X-Org": "acme"}) as client:
        yield client
