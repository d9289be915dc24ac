"""ETag, If-None-Match and If-Match."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import Response

from tablewright import create, put, transact
from tablewright.errors import DeclarationError
from tablewright.fastapi.etags import WritePrecondition
from tests.fastapi.desk import Issue, Member, TestClient


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
    [
        *((tag, 412) for tag in ('"1"', '"3"', 'W/"2"', '"x"', "", "2", '"2', '"+2"', '"2_0"')),
        (f'"{"9" * 5000}"', 412),
        ('"1", "2"', 400),
    ],
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


WAYS = ["update", "save", "put", "with-write", "with-check"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("header", ['"1"', '"3"'])
def test_every_write_of_another_version_gets_412(client: TestClient, how: str, header: str) -> None:
    response = client.put(f"/issues/1/{how}", headers={"If-Match": header})
    assert (response.status_code, response.json()["code"]) == (412, "precondition_failed")
    assert client.get("/issues/1").json()["title"] == "big leak"
    assert client.get("/members/m9@example.com").status_code == 404


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("header", ['"2"', "*", None])
def test_every_write_of_this_version_is_applied(
    client: TestClient, how: str, header: str | None
) -> None:
    headers = {} if header is None else {"If-Match": header}
    assert client.put(f"/issues/1/{how}", headers=headers).status_code == 200
    changed = "big leak" if how == "with-check" else "done"
    assert client.get("/issues/1").json()["title"] == changed
    written = client.get("/members/m9@example.com").status_code == 200
    assert written == how.startswith("with")


def test_a_save_of_an_unchanged_entity_checks_the_version(client: TestClient) -> None:
    for header, status in (('"1"', 412), ('"2"', 200)):
        response = client.put("/issues/1/save?title=big leak", headers={"If-Match": header})
        assert response.status_code == status
    assert client.get("/issues/1").headers["ETag"] == '"2"'  # nothing was written


def test_a_transaction_of_several_versioned_entities_needs_the_item_of_if_match() -> None:
    match = WritePrecondition(Response(), '"1"')
    first, second = (Issue(org_id="a", number=number, title="x") for number in (1, 2))
    with pytest.raises(DeclarationError, match=r"found 2\. Pass .* of=Order\.primary"):
        match.apply(transact(put(first), put(second)))
    with pytest.raises(DeclarationError, match="found 0"):
        match.apply(transact(create(first)))
    with pytest.raises(DeclarationError, match="create Issue: it writes only if no item exists"):
        match.apply(transact(create(first)), of=Issue.primary("a", 1))


@pytest.mark.parametrize("header", ['"1"', None])
@pytest.mark.parametrize(
    "item",
    [Issue.primary.within("a"), Issue(org_id="a", number=1, title="x"), Member.by_email("a", "b")],
)
def test_what_is_no_item_by_its_primary_key_is_refused(header: str | None, item: Any) -> None:
    match = WritePrecondition(Response(), header)
    issue = Issue(org_id="a", number=1, title="x")
    with pytest.raises(DeclarationError, match=r"expected an item by its primary key, such as"):
        match.apply(transact(put(issue)), of=item)


def test_a_single_write_depends_on_no_other_item() -> None:
    match: Any = WritePrecondition(Response(), '"1"')
    with pytest.raises(DeclarationError, match="only a transaction can depend on another item"):
        match.apply(put(Issue(org_id="a", number=1, title="x")), of=Issue.primary("a", 2))


def test_a_delete_checks_the_version(client: TestClient) -> None:
    assert client.delete("/issues/1", headers={"If-Match": '"2"'}).status_code == 204
    assert client.get("/issues/1").status_code == 404


def test_an_entity_without_a_version_has_no_tag(client: TestClient) -> None:
    member = {"org_id": "acme", "member_id": "M1", "email": "ann@example.com"}
    client.post("/members", json=member)
    with pytest.raises(DeclarationError, match="Member has no version"):
        client.get("/tagged-members/M1")
