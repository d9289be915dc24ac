"""Keys of callers: claims, scopes and tenants without a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright.errors import InvalidValue
from tablewright.fastapi import ApiKeys, create_app
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf

KEYS = ApiKeys(
    {
        "a key of library 1": {"library": "L1", "scope": "read write"},
        "a key that only reads": {"library": "L1", "scope": ["read"]},
        "a key without a library": {"scope": "read"},
    }
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    patterns: Any = [shelf.add_book, shelf.book]
    app = create_app(
        ":memory:",
        Shelf,
        patterns=patterns,
        tokens=KEYS,
        tenant={"library": KEYS.claim("library")},
        scope=lambda pattern: "write" if pattern.shape.is_write else "read",
    )
    with TestClient(app) as client:
        yield client


def key(text: str) -> dict[str, str]:
    return {"X-API-Key": text}


def test_a_key_has_the_claims_of_its_caller(client: TestClient) -> None:
    book = {"isbn": "1", "title": "Emma"}
    made = client.post("/books", json=book, headers=key("a key of library 1"))
    assert made.json()["library"] == "L1"
    read = client.get(made.headers["Location"], headers=key("a key that only reads"))
    assert read.json()["title"] == "Emma"


@pytest.mark.parametrize("headers", [{}, key(""), key("a key of library 2")])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_request_without_a_valid_key_is_refused(
    client: TestClient, method: str, headers: dict[str, str]
) -> None:
    path = "/books" if method == "POST" else "/books/1"
    answer = client.request(method, path, headers=headers)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "ApiKey")


def test_a_key_needs_the_scope_and_the_tenant(client: TestClient) -> None:
    book = {"isbn": "2", "title": "Emma"}
    refused = client.post("/books", json=book, headers=key("a key that only reads"))
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert client.get("/books/1", headers=key("a key without a library")).status_code == 403


def test_the_document_says_that_a_key_is_needed(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    (scheme,) = document["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["name"]) == ("apiKey", "X-API-Key")
    assert document["paths"]["/books"]["post"]["security"]


def test_a_key_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least 16 characters"):
        ApiKeys({"secret": {}})
