"""ETag, If-None-Match and If-Match."""

from __future__ import annotations

import pytest

from tablewright.errors import DeclarationError
from tests.fastapi.desk import TestClient


@pytest.fixture(autouse=True)
def issue(client: TestClient) -> None:
    """Create issue 1, in version 2."""
    client.post("/issues", json={"number": 1, "title": "leak"}).raise_for_status()
    client.patch("/issues/1", json={"title": "big leak"}).raise_for_status()


def test_a_response_has_the_version_as_its_tag(client: TestClient) -> None:
    response = client.get("/issues/1")
    assert response.headers["ETag"] == '"2"'
    assert response.json()["version"] == 2


@pytest.mark.parametrize("header", ['"2"', 'W/"2"', '"1", "2"', "*"])
def test_a_client_that_has_the_version_gets_304(client: TestClient, header: str) -> None:
    response = client.get("/issues/1", headers={"If-None-Match": header})
    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["ETag"] == '"2"'


@pytest.mark.parametrize("header", ['"1"', '"22"', "2", "", "nonsense"])
def test_a_client_that_has_another_version_gets_this_one(client: TestClient, header: str) -> None:
    response = client.get("/issues/1", headers={"If-None-Match": header})
    assert (response.status_code, response.headers["ETag"]) == (200, '"2"')


@pytest.mark.parametrize("header", ['"2"', "*", None])
def test_a_write_of_this_version_is_applied(client: TestClient, header: str | None) -> None:
    headers = {} if header is None else {"If-Match": header}
    response = client.patch("/issues/1", json={"title": "done"}, headers=headers)
    assert (response.status_code, response.headers["ETag"]) == (200, '"3"')
    assert response.json()["title"] == "done"


@pytest.mark.parametrize(
    ("header", "status"),
    [('"1"', 412), ('"3"', 412), ('W/"2"', 412), ('"x"', 412), ("", 412), ('"1", "2"', 400)],
)
def test_a_write_of_another_version_changes_nothing(
    client: TestClient, header: str, status: int
) -> None:
    headers = {"If-Match": header}
    for response in (
        client.patch("/issues/1", json={"title": "done"}, headers=headers),
        client.delete("/issues/1", headers=headers),
    ):
        assert response.status_code == status
        assert response.json()["status"] == status
    assert client.get("/issues/1").json()["title"] == "big leak"


def test_a_delete_checks_the_version(client: TestClient) -> None:
    assert client.delete("/issues/1", headers={"If-Match": '"2"'}).status_code == 204
    assert client.get("/issues/1").status_code == 404


def test_an_entity_without_a_version_has_no_tag(client: TestClient) -> None:
    member = {"org_id": "acme", "member_id": "M1", "email": "ann@example.com"}
    client.post("/members", json=member)
    with pytest.raises(DeclarationError, match="Member has no version"):
        client.get("/tagged-members/M1")
