"""The parameters limit and cursor."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import Depends, FastAPI

from tablewright.fastapi import PageParams, page_params
from tests.fastapi.desk import TestClient


def test_a_client_follows_the_cursors_to_the_end(client: TestClient) -> None:
    for number in range(1, 6):
        client.post("/issues", json={"number": number, "title": "leak"})
    seen: list[int] = []
    params: dict[str, str | int] = {"limit": 2}
    while True:
        page = client.get("/issues", params=params).json()
        seen += [issue["number"] for issue in page["items"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("limit", ["0", "101", "x", "-1"])
def test_a_limit_out_of_range_is_422(client: TestClient, limit: str) -> None:
    response = client.get("/issues", params={"limit": limit})
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["query", "limit"]


def test_an_application_can_choose_other_sizes() -> None:
    app = FastAPI()

    @app.get("/")
    async def show(page: Annotated[PageParams, Depends(page_params(default=5, maximum=6))]) -> int:
        return page.limit

    client = TestClient(app)
    assert client.get("/").json() == 5
    assert client.get("/", params={"limit": 6}).json() == 6
    assert client.get("/", params={"limit": 7}).status_code == 422
