"""Conditional requests of an API: entity tags, and the headers that name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import Engine
from tablewright.fastapi import create_app
from tablewright.plans import access_patterns
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf

BOOK = "/libraries/L1/books/1"
LOAN = {"library": "L1", "isbn": "1", "day": "2026-01-15", "reader": "ann"}


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(":memory:", Shelf, patterns=access_patterns(Shelf))) as client:
        client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
        yield client


@pytest.fixture
def strict() -> Iterator[TestClient]:
    """A client of an API that requires If-Match."""
    app = create_app(
        Engine(":memory:"), Shelf, patterns=access_patterns(Shelf), require_if_match=True
    )
    with TestClient(app) as client:
        client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
        yield client


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_what_was_created_has_the_tag_of_its_version(client: TestClient) -> None:
    made = client.post("/libraries/L1/books", json={"isbn": "2", "title": "Other"})
    assert made.headers["ETag"] == client.get("/libraries/L1/books/2").headers["ETag"] == '"1"'


@pytest.mark.parametrize("path", [f"{BOOK}/book-with-loans", "/libraries/L1/states/in/count-books"])
def test_what_has_no_version_has_the_tag_of_its_content(client: TestClient, path: str) -> None:
    first = client.get(path)
    tag = first.headers["ETag"]
    assert client.get(path).headers["ETag"] == tag
    for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = client.get(path, headers={"If-None-Match": header})
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    assert client.head(path).headers["ETag"] == tag
    assert client.head(path, headers={"If-None-Match": tag}).status_code == 304
    client.post("/lend", json=LOAN)
    changed = client.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["ETag"] == tag) == (200, False)


def test_a_page_has_no_tag(client: TestClient) -> None:
    page = client.get(f"{BOOK}/loans", headers={"If-None-Match": "*"})
    assert (page.status_code, "ETag" in page.headers) == (200, False)


def test_a_put_can_be_limited_to_create(client: TestClient) -> None:
    only = {"If-None-Match": "*"}
    assert client.put("/loans", json=LOAN, headers=only).status_code == 200
    other = LOAN | {"reader": "bob"}
    assert code(client.put("/loans", json=other, headers=only)) == (412, "precondition_failed")
    (stored,) = client.get(f"{BOOK}/loans").json()["items"]
    assert stored["reader"] == "ann"
    assert client.put("/loans", json=other).json()["reader"] == "bob"
    refused = client.put("/loans", json=LOAN, headers={"If-None-Match": '"1"'})
    assert refused.status_code == 400


def test_a_write_may_need_the_version_that_it_changes(strict: TestClient) -> None:
    body = {"title": "E"}
    assert code(strict.patch(BOOK, json=body)) == (428, "precondition_required")
    assert code(strict.delete(BOOK)) == (428, "precondition_required")
    assert code(strict.post("/lend", json=LOAN)) == (428, "precondition_required")
    assert strict.get(BOOK).json()["title"] == "Emma"
    assert code(strict.patch(BOOK, json=body, headers={"If-Match": '"2"'})) == (
        412,
        "precondition_failed",
    )
    changed = strict.patch(BOOK, json=body, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    assert strict.delete(BOOK, headers={"If-Match": "*"}).status_code == 204


def test_what_has_no_version_needs_none(strict: TestClient) -> None:
    assert strict.put("/loans", json=LOAN).status_code == 200


def test_the_document_says_which_headers_are_required(
    client: TestClient, strict: TestClient
) -> None:
    def header(of: TestClient, path: str, method: str, name: str) -> Any:
        parameters = of.get("/openapi.json").json()["paths"][path][method].get("parameters", [])
        found = [each for each in parameters if each["name"].lower() == name]
        return found[0]["required"] if found else None

    book = "/libraries/{library}/books/{isbn}"
    assert header(client, book, "patch", "if-match") is False
    assert header(strict, book, "patch", "if-match") is True
    assert header(strict, "/loans", "put", "if-match") is None
    assert header(client, "/loans", "put", "if-none-match") is False
    assert header(client, "/libraries/{library}/books/{isbn}/loans", "get", "if-none-match") is None
