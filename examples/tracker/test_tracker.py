"""The tracker as a client sees it, on the embedded engine and on an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from examples.tracker.app import create_app
from examples.tracker.design import Tracker
from tablewright import Engine, connect
from tablewright.plans import access_patterns
from tablewright.server import serving


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(":memory:")) as client:
        yield client


class Account:
    """A client that is signed in as the owner of an organisation."""

    def __init__(self, client: TestClient, org_id: str = "acme") -> None:
        self.client = client
        owner = {"name": "Ann", "email": f"ann@{org_id}.example"}
        sign_up = {"organisation": {"org_id": org_id, "name": org_id.title()}, "owner": owner}
        _, self.member = self.checked(client.post("/organisations", json=sign_up), 201)
        self.headers = {"X-Organisation": org_id, "X-Member": self.member["member_id"]}

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Response:
        sent = self.headers | (headers or {})
        response: Response = self.client.request(method, path, json=body, headers=sent)
        return response

    def get(self, path: str) -> Any:
        return self.checked(self.send("GET", path))

    def post(self, path: str, body: Any) -> Any:
        return self.checked(self.send("POST", path, body), 201)

    def open(self, title: str, **values: Any) -> Any:
        return self.post("/issues", {"project": "web", "title": title} | values)

    def titles(self, path: str) -> list[str]:
        return [issue["title"] for issue in self.get(path)["items"]]

    @staticmethod
    def checked(response: Response, status: int = 200) -> Any:
        assert response.status_code == status, response.text
        return response.json()


@pytest.fixture
def acme(client: TestClient) -> Account:
    account = Account(client)
    account.post("/projects", {"project": "web", "name": "Website"})
    return account


def problem(response: Response, status: int) -> Any:
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "ORG#" not in response.text
    return response.json()


def test_each_of_19_patterns_is_an_endpoint() -> None:
    assert len(access_patterns(Tracker)) == 19
    paths = create_app(":memory:").openapi()["paths"]
    assert sum(len(methods) for methods in paths.values()) == 19


def test_an_organisation_has_projects(acme: Account) -> None:
    assert acme.get("/organisation") == {"org_id": "acme", "name": "Acme"}
    (project,) = acme.get("/projects")["items"]
    counters = {"issues": 0, "issues_to_do": 0}
    assert project == {"org_id": "acme", "project": "web", "name": "Website"} | counters
    again = acme.send("POST", "/projects", {"project": "web", "name": "Other"})
    assert problem(again, 409)["detail"] == "The Project already exists."


def test_the_id_of_an_organisation_is_unique(client: TestClient, acme: Account) -> None:
    owner = {"name": "Eve", "email": "eve@example.com"}
    again = {"organisation": {"org_id": "acme", "name": "Other"}, "owner": owner}
    assert problem(client.post("/organisations", json=again), 409)["code"] == "already_exists"
    assert len(acme.get("/members")["items"]) == 1


def test_the_email_of_a_member_is_unique_in_an_organisation(
    client: TestClient, acme: Account
) -> None:
    bob = acme.post("/members", {"name": "Bob", "email": "Bob@example.com"})
    again = acme.send("POST", "/members", {"name": "Rob", "email": "bob@example.com"})
    assert problem(again, 409)["detail"] == "Another Member has the same email."
    assert acme.get("/members/by-email/BOB@example.com") == bob
    assert [member["name"] for member in acme.get("/members")["items"]] == ["Ann", "Bob"]
    Account(client, "globex").post("/members", {"name": "Bob", "email": "bob@example.com"})
    problem(acme.send("GET", "/members/by-email/eve@example.com"), 404)


def test_an_issue_needs_an_existing_project(acme: Account) -> None:
    issue = acme.open("Broken link")
    assert (issue["reporter"], issue["version"]) == (acme.member["member_id"], 1)
    assert acme.get(f"/issues/{issue['issue_id']}") == issue
    lost = acme.send("POST", "/issues", {"project": "app", "title": "Lost"})
    assert problem(lost, 404)["detail"] == "The Project does not exist."
    assert acme.titles("/issues?status=open") == ["Broken link"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"project": "web"}, "title"),
        ({"project": "web", "title": ""}, "title"),
        ({"project": "Web!", "title": "x"}, "project"),
        ({"project": "web", "title": "x", "version": 5}, "version"),
        ({"project": "web", "title": "x", "org_id": "globex"}, "org_id"),
        ({"project": "web", "title": "x", "priority": 9}, "priority"),
    ],
)
def test_a_wrong_issue_is_refused(acme: Account, body: dict[str, Any], field: str) -> None:
    refused = problem(acme.send("POST", "/issues", body), 422)
    assert [error["loc"] for error in refused["errors"]] == [["body", field]]


def test_issues_are_listed_by_status_assignee_and_priority(acme: Account) -> None:
    me = acme.member["member_id"]
    first = acme.open("First", assignee=me)
    acme.open("Second", priority=1)
    acme.open("Third", priority=1, assignee=me)
    assert acme.titles("/issues?status=open") == ["Third", "Second", "First"]
    assert acme.titles("/priorities/1/issues") == ["Third", "Second"]
    assert acme.titles(f"/members/{me}/issues") == ["Third", "First"]
    acme.send("PATCH", f"/issues/{first['issue_id']}", {"status": "done", "priority": 3})
    assert acme.titles("/issues?status=done") == ["First"]
    assert acme.titles("/priorities/3/issues") == ["First"]
    assert acme.titles(f"/members/{me}/issues") == ["Third"]


def test_a_project_counts_its_issues(acme: Account) -> None:
    for title in ("Broken link", "Wrong colour"):
        path = f"/issues/{acme.open(title)['issue_id']}"
    acme.checked(acme.send("PATCH", path, {"status": "done"}))
    (project,) = acme.get("/projects")["items"]
    assert (project["issues"], project["issues_to_do"]) == (2, 1)


def test_a_comment_changes_the_tag_of_its_issue_and_not_its_version(acme: Account) -> None:
    path = f"/issues/{acme.open('Broken link')['issue_id']}"
    before = acme.send("GET", path).headers["ETag"]
    acme.post(f"{path}/comments", {"text": "one"})
    after = acme.send("GET", path, headers={"If-None-Match": before})
    assert (after.status_code, after.json()["comments"]) == (200, 1)
    assert after.headers["ETag"] != before
    match = {"If-Match": before}
    assert acme.send("PATCH", path, {"title": "x"}, match).status_code == 200
    assert acme.send("PATCH", path, {"title": "y"}, match).status_code == 412


def test_a_stale_change_is_refused(acme: Account) -> None:
    path = f"/issues/{acme.open('Broken link')['issue_id']}"
    tag = acme.send("GET", path).headers["ETag"]
    assert acme.send("GET", path, headers={"If-None-Match": tag}).status_code == 304
    match = {"If-Match": tag}
    changed = acme.send("PATCH", path, {"title": "Fixed link"}, match)
    assert changed.json()["title"] == "Fixed link"
    assert changed.headers["ETag"].startswith('"2x')  # version 2, with a hash of the counters
    stale = problem(acme.send("PATCH", path, {"title": "Lost"}, match), 412)
    assert stale["code"] == "precondition_failed"
    assert acme.get(path)["title"] == "Fixed link"
    for refused in ({}, {"reporter": acme.member["member_id"]}, {"labels": ["x1"]}):
        problem(acme.send("PATCH", path, refused), 422)


def test_a_change_of_status_is_in_the_activity_log(acme: Account) -> None:
    path = f"/issues/{acme.open('Broken link')['issue_id']}"
    for body in ({"status": "in-progress"}, {"title": "Broken links"}, {"status": "done"}):
        acme.checked(acme.send("PATCH", path, body))
    log = acme.get("/activity")["items"]
    assert [(each["old"], each["new"]) for each in log] == [
        ("in-progress", "done"),
        ("open", "in-progress"),
    ]
    assert {each["by"] for each in log} == {acme.member["member_id"]}


def test_comments_are_in_order(acme: Account) -> None:
    path = f"/issues/{acme.open('Broken link')['issue_id']}/comments"
    for text in ("one", "two", "three"):
        assert acme.post(path, {"text": text})["author"] == acme.member["member_id"]
    page = acme.get(f"{path}?limit=2")
    rest = acme.get(f"{path}?limit=2&cursor={page['next_cursor']}")
    texts = [comment["text"] for comment in page["items"] + rest["items"]]
    assert texts == ["one", "two", "three"]
    nowhere = "/issues/01ARZ3NDEKTSV4RRFFQ69G5FAV/comments"
    assert problem(acme.send("POST", nowhere, {"text": "?"}), 404)["code"] == "not_found"


def test_labels_can_be_added_and_removed(acme: Account) -> None:
    issue = acme.open("Broken link")["issue_id"]
    label = f"/issues/{issue}/labels/bug"
    for _ in 1, 2:  # twice is the same as once
        assert acme.send("PUT", label).status_code == 200
    assert acme.get(f"/issues/{issue}")["labels"] == ["bug"]
    (labelled,) = acme.get("/labels/bug/issues")["items"]
    assert labelled["issue_id"] == issue
    assert acme.send("DELETE", label).status_code == 200
    assert acme.get(f"/issues/{issue}")["labels"] == []
    assert acme.get("/labels/bug/issues")["items"] == []
    problem(acme.send("PUT", f"/issues/{issue}/labels/Not a label"), 422)


def test_an_organisation_sees_nothing_of_another(client: TestClient, acme: Account) -> None:
    issue = acme.open("Secret plan")["issue_id"]
    acme.send("PUT", f"/issues/{issue}/labels/bug")
    acme.post(f"/issues/{issue}/comments", {"text": "hush"})
    acme.open("Another one")
    globex = Account(client, "globex")
    for method, path, body in (
        ("GET", f"/issues/{issue}", None),
        ("PATCH", f"/issues/{issue}", {"title": "Ours"}),
        ("POST", f"/issues/{issue}/comments", {"text": "?"}),
        ("PUT", f"/issues/{issue}/labels/ours", None),
        ("GET", "/members/by-email/ann@acme.example", None),
    ):
        problem(globex.send(method, path, body), 404)
    for path in (
        "/issues?status=open",
        "/priorities/2/issues",
        f"/members/{acme.member['member_id']}/issues",
        f"/issues/{issue}/comments",
        "/labels/bug/issues",
        "/activity",
    ):
        assert globex.get(path)["items"] == []
    cursor = acme.get("/issues?status=open&limit=1")["next_cursor"]
    stolen = globex.send("GET", f"/issues?status=open&limit=1&cursor={cursor}")
    assert problem(stolen, 422)["code"] == "invalid_cursor"


def test_a_request_without_a_caller_is_refused(client: TestClient) -> None:
    assert problem(client.get("/issues?status=open"), 422)["code"] == "invalid_request"


def test_it_runs_on_an_endpoint() -> None:
    with Engine() as engine, serving(engine) as url:
        connect(engine, Tracker)  # creates the table, which an endpoint must have
        with TestClient(create_app(url)) as client:
            acme = Account(client)
            acme.post("/projects", {"project": "web", "name": "Website"})
            path = f"/issues/{acme.open('Broken link')['issue_id']}"
            acme.checked(acme.send("PATCH", path, {"status": "done"}, {"If-Match": '"1"'}))
            problem(acme.send("PATCH", path, {"status": "open"}, {"If-Match": '"1"'}), 412)
            assert len(acme.get("/activity")["items"]) == 1
